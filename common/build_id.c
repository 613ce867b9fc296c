/* The digest that the linker leaves in the program, as a note that is mapped with it. */
#include "common/build_id.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "common/memory.h"

#define DIGEST_BYTES 32

static char digits[2 * DIGEST_BYTES + 1];

/* Names and descriptors of notes fill whole words. */
static size_t padded(size_t size)
{
    return (size + 3) & ~(size_t)3;
}

static void find_in_notes(const unsigned char *notes, size_t size)
{
    ElfW(Nhdr) note;
    for (size_t at = 0; at + sizeof note <= size;) {
        memcpy(&note, notes + at, sizeof note);
        const unsigned char *name = notes + at + sizeof note, *digest = name + padded(note.n_namesz);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
            memcmp(name, "GNU", sizeof "GNU") == 0)
            for (size_t i = 0; i < STA_MIN(note.n_descsz, DIGEST_BYTES); i++)
                snprintf(digits + 2 * i, 3, "%02x", digest[i]);
        at += sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
    }
}

/* The first object is the program itself. */
static int look_into(struct dl_phdr_info *object, size_t size, void *context)
{
    for (unsigned i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_NOTE)
            find_in_notes((const unsigned char *)object->dlpi_addr + object->dlpi_phdr[i].p_vaddr,
                          object->dlpi_phdr[i].p_memsz);
    return 1;
}

static void find(void)
{
    dl_iterate_phdr(look_into, NULL);
    STA_ASSERT(digits[0] != '\0'); /* meson.build asks the linker for it */
}

const char *sta_build_id(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    return digits;
}
