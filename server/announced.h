/* announced.h - changes of a trace's files, as the system announces them (private to library). */
#ifndef STA_SERVER_ANNOUNCED_H
#define STA_SERVER_ANNOUNCED_H

#include <stdbool.h>

#include "decode/decode.h"

/**
 * sta_announced_open - a descriptor that becomes readable when something changes in the folders that are
 * watched by it
 * Return: the descriptor, to be closed; -1 where changes are not announced: on file systems that other
 * machines write to, and when the system has none to give.
 */
int sta_announced_open(struct sta_roots *roots, const char *trace_path);
/** Watches the folders of a listing (its file, if that is all), those that are watched too.  Return: false
 * when a change of its files may come without being announced. */
bool sta_announced_watch(int fd, const struct sta_listing *listing, struct sta_roots *roots,
                         const char *trace_path);
/** Takes what was announced.  Return: whether there was any. */
bool sta_announced_take(int fd);

#endif
