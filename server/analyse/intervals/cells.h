/* cells.h - what a span counts towards.
 *
 * A slot is one set in one unit, such as layer reader in rank group 7: one union to be measured.  A cell is the list of slots
 * that all events of one kind (say, of one class of events in one process) count towards; events carry the number of their
 * cell.  Both are made when an event of theirs is first seen, so that only what occurs costs memory.
 *
 * Any thread may find and add; what has been added never moves or changes, so that readers that got a cell's number from the thread
 * that added it (through any lock) need none. */
#ifndef STA_ANALYSE_INTERVALS_CELLS_H
#define STA_ANALYSE_INTERVALS_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STA_NO_CELL UINT32_MAX

struct sta_cell {
    const uint32_t *slots;
    uint32_t count;
};

/* A slot by what it stands for. */
static inline uint64_t sta_slot_key(uint32_t set, uint32_t unit)
{
    return (uint64_t)set << 32 | unit;
}

struct sta_cells;

struct sta_cells *sta_cells_create(void);
void sta_cells_destroy(struct sta_cells *cells);

/** The cell under a key of the caller's making (not UINT64_MAX), or STA_NO_CELL.  Takes a lock: keep what was found. */
uint32_t sta_cells_find(struct sta_cells *cells, uint64_t key);
/** Adds a cell, unless there is one under this key already.  @slot_keys: distinct.  Return: its number, counting up from 0. */
uint32_t sta_cells_add(struct sta_cells *cells, uint64_t key, const uint64_t *slot_keys, size_t count);
struct sta_cell sta_cells_at(const struct sta_cells *cells, uint32_t cell);

uint32_t sta_cells_count(struct sta_cells *cells);
uint32_t sta_cells_slot_count(struct sta_cells *cells);
/** The number of a slot, if any event counted towards it. */
bool sta_cells_find_slot(struct sta_cells *cells, uint64_t slot_key, uint32_t *slot);

#endif
