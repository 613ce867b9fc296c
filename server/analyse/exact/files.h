/* files.h - how many distinct files the events of each place have (private to exact). */
#ifndef STA_ANALYSE_EXACT_FILES_H
#define STA_ANALYSE_EXACT_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "common/map.h"

#define STA_FILES_RECENT 4096

/* What one worker has seen. */
struct sta_files {
    struct sta_map pairs;              /* place << 32 | file */
    uint64_t recent[STA_FILES_RECENT]; /* pairs seen lately, by hash: most are seen again at once */
};

void sta_files_init(struct sta_files *files);
void sta_files_fini(struct sta_files *files);

static inline void sta_files_add(struct sta_files *files, uint32_t place, uint32_t file)
{
    uint64_t pair = (uint64_t)place << 32 | file;
    uint64_t *recent = &files->recent[(pair * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
    if (*recent == pair)
        return;
    *recent = pair;
    bool added;
    sta_map_intern(&files->pairs, pair, 0, &added);
}

/** Adds to counts[place] the distinct files of all workers; empties the others into the first. */
void sta_files_count(struct sta_files *workers, unsigned count, int64_t *counts);
double sta_files_bytes(const struct sta_files *files);

#endif
