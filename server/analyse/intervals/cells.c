/* Cells and slots.  One lock guards the maps and the growth; the cells themselves lie in chunks that never move. */
#include "analyse/intervals/cells.h"

#include <stdlib.h>
#include <uv.h>

#include "common/map.h"
#include "common/memory.h"

#define CHUNK_CELLS (1u << 12)
#define CHUNKS (1u << 16)

struct sta_cells {
    uv_mutex_t lock;
    struct sta_map cells, slots; /* by key */
    struct sta_cell *chunks[CHUNKS];
    struct sta_arena lists;
    uint32_t cell_count, slot_count;
};

struct sta_cells *sta_cells_create(void)
{
    struct sta_cells *cells = sta_alloc(sizeof *cells);
    STA_ASSERT(uv_mutex_init(&cells->lock) == 0);
    sta_map_init(&cells->cells);
    sta_map_init(&cells->slots);
    return cells;
}

void sta_cells_destroy(struct sta_cells *cells)
{
    if (cells == NULL)
        return;
    for (size_t i = 0; i < CHUNKS && cells->chunks[i] != NULL; i++)
        free(cells->chunks[i]);
    sta_arena_fini(&cells->lists);
    sta_map_fini(&cells->slots);
    sta_map_fini(&cells->cells);
    uv_mutex_destroy(&cells->lock);
    free(cells);
}

uint32_t sta_cells_find(struct sta_cells *cells, uint64_t key)
{
    uint32_t cell = STA_NO_CELL;
    uv_mutex_lock(&cells->lock);
    bool found = sta_map_find(&cells->cells, key, &cell);
    uv_mutex_unlock(&cells->lock);
    return found ? cell : STA_NO_CELL;
}

static void add_locked(struct sta_cells *cells, const uint64_t *slot_keys, size_t count)
{
    uint32_t *slots = sta_arena_alloc(&cells->lists, (count + 1) * sizeof *slots, _Alignof(uint32_t));
    for (size_t i = 0; i < count; i++) {
        bool added;
        slots[i] = sta_map_intern(&cells->slots, slot_keys[i], cells->slot_count, &added);
        cells->slot_count += added;
    }
    uint32_t chunk = cells->cell_count / CHUNK_CELLS;
    STA_ASSERT(chunk < CHUNKS);
    if (cells->chunks[chunk] == NULL)
        cells->chunks[chunk] = sta_alloc_array(CHUNK_CELLS, sizeof *cells->chunks[chunk]);
    cells->chunks[chunk][cells->cell_count % CHUNK_CELLS] = (struct sta_cell){slots, (uint32_t)count};
    cells->cell_count++;
}

uint32_t sta_cells_add(struct sta_cells *cells, uint64_t key, const uint64_t *slot_keys, size_t count)
{
    bool added;
    uv_mutex_lock(&cells->lock);
    uint32_t cell = sta_map_intern(&cells->cells, key, cells->cell_count, &added);
    if (added)
        add_locked(cells, slot_keys, count);
    uv_mutex_unlock(&cells->lock);
    return cell;
}

struct sta_cell sta_cells_at(const struct sta_cells *cells, uint32_t cell)
{
    return cells->chunks[cell / CHUNK_CELLS][cell % CHUNK_CELLS];
}

uint32_t sta_cells_count(struct sta_cells *cells)
{
    uv_mutex_lock(&cells->lock);
    uint32_t count = cells->cell_count;
    uv_mutex_unlock(&cells->lock);
    return count;
}

uint32_t sta_cells_slot_count(struct sta_cells *cells)
{
    uv_mutex_lock(&cells->lock);
    uint32_t count = cells->slot_count;
    uv_mutex_unlock(&cells->lock);
    return count;
}

bool sta_cells_find_slot(struct sta_cells *cells, uint64_t slot_key, uint32_t *slot)
{
    uv_mutex_lock(&cells->lock);
    bool found = sta_map_find(&cells->slots, slot_key, slot);
    uv_mutex_unlock(&cells->lock);
    return found;
}
