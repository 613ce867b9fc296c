/* spill_memory.h - memory that lies in a file without a name: the system writes it to the disk when it needs
 * the memory, and reads it back when it is touched.
 *
 * For distinct texts and what is kept by text, which are looked up in any order.  What is read in the order
 * in which it was written goes through operators/spill.h.  The file's space is there before a piece is handed
 * out, so a full disk is a status. */
#ifndef STA_COMMON_SPILL_MEMORY_H
#define STA_COMMON_SPILL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

struct sta_spill_memory;

/** @folder: copied; its file is made with the first piece.  @most: bytes that the file may take, past which
 * pieces are refused with STA_ELIMIT: what is looked up in any order is slow where it is much larger than the
 * memory. */
struct sta_spill_memory *sta_spill_memory_create(const char *folder, size_t most);
/** All pieces go with it. */
void sta_spill_memory_destroy(struct sta_spill_memory *memory); /* NULL allowed */
/** Not zeroed, aligned for any type.  NULL with STA_ELIMIT, STA_ENOSPC, STA_EIO or STA_ENOMEM in
 * @err.  Context: any
 * thread, like the others. */
void *sta_spill_memory_take(struct sta_spill_memory *memory, size_t size, struct sta_error *err);
/** The piece may be taken again.  Return: whether it is one of these. */
bool sta_spill_memory_give(struct sta_spill_memory *memory, void *piece);
/** Bytes of a piece; 0: it is none of these. */
size_t sta_spill_memory_size(struct sta_spill_memory *memory, const void *piece);
/** No piece of any file lies in the process until it is touched again: the system has it among its pages of
 * files, which it writes and takes as it needs. */
void sta_spill_memory_let_go(void);

#endif
