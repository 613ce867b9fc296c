/* Time per line of turning a file's text into rows, of one thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/event.h"
#include "decode/bytes.h"
#include "decode/lines.h"

#define PASSES 4
#define CHUNK ((size_t)1 << 21)

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

/* The bytes of whole lines in the next chunk. */
static size_t chunk_size(const char *text, size_t size)
{
    size_t most = size < CHUNK ? size : CHUNK;
    while (most > 0 && text[most - 1] != '\n')
        most--;
    return most;
}

int main(int argc, char **argv)
{
    FILE *in = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (in == NULL || fseek(in, 0, SEEK_END) != 0)
        return 1;
    const size_t size = (size_t)ftell(in);
    char *text = calloc(1, size + STA_BYTES_PADDING);
    char *chunk_text = calloc(1, CHUNK + STA_BYTES_PADDING);
    rewind(in);
    if (text == NULL || fread(text, 1, size, in) != size)
        return 1;
    struct sta_line_scanner *scanner = sta_line_scanner_create(sta_tables_create(NULL), STA_DECODE_BOTH);
    struct sta_batch batch;
    sta_batch_init(&batch);
    double best = 1e18;
    uint64_t lines = 0;
    for (int i = 0; i < PASSES; i++) {
        struct sta_chunk_outcome outcome = {0};
        double taken = 0;
        size_t at = 0, bytes;
        for (; (bytes = chunk_size(text + at, size - at)) > 0; at += bytes) {
            struct sta_chunk_text chunk = {
                .bytes = chunk_text, .size = bytes, .first_line = 1, .wanted = bytes};
            memcpy(chunk_text, text + at, bytes);
            memset(chunk_text + bytes, 0, STA_BYTES_PADDING);
            const double start = now();
            sta_batch_clear(&batch);
            sta_lines_scan(scanner, &chunk, "a", &batch, NULL, &outcome);
            taken += now() - start;
        }
        lines = outcome.counts.lines;
        best = taken / (double)lines < best ? taken / (double)lines : best;
    }
    printf("%.1f ns per line of %lu\n", best, (unsigned long)lines);
    return 0;
}
