/* flat_buffer.c - see flat_buffer.h. */
#include "serve/formats/flat_buffer.h"

#include <string.h>

#include "common/error.h"

static size_t position(const struct sta_flat *flat)
{
    return flat->out->size - flat->start;
}

static void put_zeros(struct sta_flat *flat, size_t count)
{
    static const char zeros[16];
    for (; count > sizeof zeros; count -= sizeof zeros)
        sta_put(flat->out, zeros, sizeof zeros);
    sta_put(flat->out, zeros, count);
}

/* Fills up so that what comes @before bytes from now is at a multiple of @alignment. */
static void align(struct sta_flat *flat, size_t before, size_t alignment)
{
    put_zeros(flat, (alignment - (position(flat) + before) % alignment) % alignment);
}

void sta_flat_set(struct sta_flat *flat, size_t at, uint64_t value, size_t size)
{
    if (flat->out->failed)
        return;
    STA_ASSERT(at + size <= position(flat));
    for (size_t i = 0; i < size; i++)
        flat->out->data[flat->start + at + i] = (char)(value >> 8 * i & 0xff);
}

void sta_flat_point(struct sta_flat *flat, size_t at, size_t target)
{
    STA_ASSERT(target > at || flat->out->failed);
    sta_flat_set(flat, at, target - at, 4);
}

void sta_flat_begin(struct sta_flat *flat, struct sta_buffer *out)
{
    *flat = (struct sta_flat){out, out->size};
    put_zeros(flat, 4);
}

/* Places of the fields in a table whose first four bytes lead to its vtable; the largest fields first, so
 * that all are aligned. */
static size_t place_fields(const uint8_t *sizes, size_t count, size_t *places)
{
    static const uint8_t order[] = {4, 2, 1};
    size_t at = 4, wide = 0;
    for (size_t i = 0; i < count; i++)
        wide += sizes[i] == 8;
    if (wide > 0)
        at = 8;
    for (size_t i = 0; i < count; i++)
        if (sizes[i] == 8) {
            places[i] = at;
            at += 8;
        }
    for (size_t o = 0; o < sizeof order; o++)
        for (size_t i = 0; i < count; i++)
            if (sizes[i] == order[o]) {
                places[i] = at;
                at += order[o];
            }
    return at;
}

struct sta_flat_table sta_flat_put_table(struct sta_flat *flat, const uint8_t *sizes, size_t count)
{
    struct sta_flat_table table = {0};
    size_t places[STA_FLAT_FIELDS] = {0};
    STA_ASSERT(count <= STA_FLAT_FIELDS);
    const size_t size = place_fields(sizes, count, places), vtable_size = 4 + 2 * count;
    align(flat, vtable_size, 8);
    const size_t vtable = position(flat);
    table.at = vtable + vtable_size;
    put_zeros(flat, vtable_size + size);
    sta_flat_set(flat, vtable, vtable_size, 2);
    sta_flat_set(flat, vtable + 2, size, 2);
    sta_flat_set(flat, table.at, vtable_size, 4);
    for (size_t i = 0; i < count; i++) {
        sta_flat_set(flat, vtable + 4 + 2 * i, places[i], 2);
        table.fields[i] = table.at + places[i];
    }
    return table;
}

size_t sta_flat_put_vector(struct sta_flat *flat, size_t count, size_t size)
{
    align(flat, 4, size > 8 ? 8 : size < 4 ? 4 : size);
    const size_t at = position(flat);
    put_zeros(flat, 4 + count * size);
    sta_flat_set(flat, at, count, 4);
    return at;
}

size_t sta_flat_put_string(struct sta_flat *flat, const char *text)
{
    const size_t length = strlen(text), at = sta_flat_put_vector(flat, length + 1, 1);
    if (!flat->out->failed)
        memcpy(flat->out->data + flat->start + at + 4, text, length);
    sta_flat_set(flat, at, length, 4); /* the zero behind it does not count */
    return at;
}

size_t sta_flat_end(struct sta_flat *flat)
{
    align(flat, 0, 8);
    return position(flat);
}
