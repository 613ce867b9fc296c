/* lists.h - lists of tasks that a record names, as the codes of these (private to decode/dasf).
 *
 * A task's key is in its own record, in the lists of the tasks that wait for it, and in those of the tasks it
 * waits for.  As a text of its own each list would take more memory, and more time, than all else that is
 * kept of its record. */
#ifndef STA_DECODE_DASF_LISTS_H
#define STA_DECODE_DASF_LISTS_H

#include "decode/dasf/message.h"
#include "decode/rows.h"

struct sta_task_lists; /* one thread's */

struct sta_task_lists *sta_task_lists_create(struct sta_tables *tables);
void sta_task_lists_destroy(struct sta_task_lists *lists);

/** Takes an array of a key that holds lists; its texts stay where they are until the flush.  @value: one
 * whose code is set then.  Return: false when the key holds none or a member is no text: then it is a value
 * like others. */
bool sta_task_lists_take(struct sta_task_lists *lists, uint32_t key, const struct sta_message_value *array,
                         struct sta_json_value *value);
/** *code: of the list that a value of such a key reads like, so that the same text is not there twice.
 * Return: false when it reads like none. */
bool sta_task_lists_from_text(struct sta_task_lists *lists, uint32_t key, const struct sta_json_value *value,
                              uint32_t *code);
/** The record has become the batch's last row. */
void sta_task_lists_place(struct sta_task_lists *lists, const struct sta_record *record,
                          struct sta_rows *rows, struct sta_batch *batch);
/** Gives the rows so far the codes of their lists, once there are enough of them. */
void sta_task_lists_flush(struct sta_task_lists *lists, const struct sta_batch *batch, bool all);

#endif
