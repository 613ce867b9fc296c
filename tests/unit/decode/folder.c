/* folder.c - see folder.h. */
#include "folder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "common/files.h"

char folder[64];

void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/strata-decode-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

void remove_folder(void)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_tree_remove(folder, &err), STA_OK);
}

struct sta_buffer make_lines(unsigned from, unsigned count)
{
    struct sta_buffer text;
    sta_buffer_init(&text);
    for (unsigned i = from; i < from + count; i++)
        sta_put_format(&text,
                       "{\"id\":%u,\"name\":\"f%u\",\"cat\":\"posix\",\"pid\":%u,\"tid\":1,\"ts\":%u,\"dur\":"
                       "3,\"ph\":\"X\","
                       "\"args\":{\"ret\":%u%s}}\n",
                       i, i % 7, i % 3, i * 10, i, i % 5 ? "" : ",\"more\":\"text\"");
    return text;
}

void write_file(const char *name, const void *bytes, size_t size, const char *mode)
{
    char *path = sta_path_join(folder, name);
    FILE *file = fopen(path, mode);
    cr_assert(file != NULL && fwrite(bytes, 1, size, file) == size);
    fclose(file);
    free(path);
}

void write_member(const char *name, const void *bytes, size_t size, const char *mode)
{
    char *path = sta_path_join(folder, name);
    gzFile file = gzopen(path, mode);
    cr_assert(file != NULL && gzwrite(file, bytes, (unsigned)size) == (int)size);
    gzclose(file);
    free(path);
}
