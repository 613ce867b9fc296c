/* output.c - one trace file: a buffer of whole lines, written plain or through zlib.
 *
 * With GZIP_MANY each buffer becomes a member of its own, as tracers and indexing tools write that append. */
#include "generator.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { BUFFER_SIZE = 4 << 20, PACKED_SIZE = 1 << 20 };

struct output {
    FILE *file;
    char path[4096];
    enum gzip_mode gzip;
    z_stream stream;
    unsigned char *packed;
    char *buffer;
    size_t used, capacity;
    uint64_t json_bytes, lines;
};

static void fail(const char *what, const char *path)
{
    fprintf(stderr, "strata-generate: cannot %s %s: %s\n", what, path, strerror(errno));
    exit(1);
}

struct output *output_open(const struct options *options, unsigned index, unsigned count)
{
    struct output *output = calloc(1, sizeof *output);
    if (!output)
        abort();
    output->gzip = options->gzip;
    snprintf(output->path, sizeof output->path, "%s/trace-%u-of-%u.pfw%s", options->folder, index, count,
             output->gzip ? ".gz" : "");
    output->file = fopen(output->path, "wb");
    if (!output->file)
        fail("create", output->path);
    setvbuf(output->file, NULL, _IONBF, 0);
    output->capacity = BUFFER_SIZE;
    output->buffer = malloc(output->capacity);
    output->packed = malloc(PACKED_SIZE);
    if (!output->buffer || !output->packed)
        abort();
    if (output->gzip &&
        deflateInit2(&output->stream, options->level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    return output;
}

static void write_all(struct output *output, const void *bytes, size_t size)
{
    if (fwrite(bytes, 1, size, output->file) != size)
        fail("write", output->path);
}

static void flush(struct output *output, int how)
{
    output->json_bytes += output->used;
    if (!output->gzip) {
        write_all(output, output->buffer, output->used);
    } else {
        output->stream.next_in = (unsigned char *)output->buffer;
        output->stream.avail_in = (unsigned)output->used;
        do {
            output->stream.next_out = output->packed;
            output->stream.avail_out = PACKED_SIZE;
            deflate(&output->stream, how);
            write_all(output, output->packed, PACKED_SIZE - output->stream.avail_out);
        } while (output->stream.avail_out == 0);
        if (how == Z_FINISH)
            deflateReset(&output->stream);
    }
    output->used = 0;
}

char *output_reserve(struct output *output, size_t size)
{
    if (output->used + size > output->capacity) {
        output->capacity = output->used + size;
        output->buffer = realloc(output->buffer, output->capacity);
        if (!output->buffer)
            abort();
    }
    return output->buffer + output->used;
}

void output_end_line(struct output *output, char *end)
{
    *end++ = '\n';
    output->used = (size_t)(end - output->buffer);
    output->lines++;
    if (output->used > BUFFER_SIZE - (64 << 10))
        flush(output, output->gzip == GZIP_MANY ? Z_FINISH : Z_NO_FLUSH);
}

uint64_t output_lines(const struct output *output)
{
    return output->lines;
}

void output_close(struct output *output, bool whole, struct totals *totals)
{
    flush(output, whole ? Z_FINISH : Z_FULL_FLUSH);
    if (fclose(output->file) != 0)
        fail("write", output->path);
    struct stat stat_of;
    if (stat(output->path, &stat_of) != 0)
        fail("look at", output->path);
    totals->bytes += (uint64_t)stat_of.st_size;
    totals->json_bytes += output->json_bytes;
    totals->lines += output->lines;
    totals->truncated += !whole;
    if (output->gzip)
        deflateEnd(&output->stream);
    free(output->buffer);
    free(output->packed);
    free(output);
}
