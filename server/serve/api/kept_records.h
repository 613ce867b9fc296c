/* kept_records.h - small records of texts and a time, kept in the store (private to serve).
 *
 * There are few of a kind and they are small, so all of them are one value of the store, read and replaced
 * whole.  A lock makes a change one step; the store makes it durable. */
#ifndef STA_SERVE_API_KEPT_RECORDS_H
#define STA_SERVE_API_KEPT_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "store/store.h"

#define STA_RECORD_TEXTS 3

struct sta_kept_records_kind {
    const char *name;   /* of the value in the store */
    const char *plural; /* "notes" */
    size_t text_count;  /* of a record, at most STA_RECORD_TEXTS */
};

struct sta_kept_record {
    char *texts[STA_RECORD_TEXTS]; /* owned; the first text_count */
    int64_t at_us;                 /* since 1970 */
};

struct sta_kept_records {
    const struct sta_kept_records_kind *kind;
    struct sta_kept_record *items;
    size_t count, capacity;
};

/** Return: 0, STA_ECORRUPT, or what reading returns; then there is nothing to end. */
STA_MUSTCHECK int sta_kept_records_load(struct sta_store *store, const struct sta_kept_records_kind *kind,
                                        struct sta_kept_records *records, struct sta_error *err);
void sta_kept_records_fini(struct sta_kept_records *records);

/** Makes place for a record, whose texts are NULL and whose time is now. */
struct sta_kept_record *sta_kept_records_insert(struct sta_kept_records *records, size_t at);
void sta_kept_records_remove(struct sta_kept_records *records, size_t at);

/** Loads all, lets @change change them, and keeps them if that is no failure.  Context: any thread; others
 * wait. */
typedef int sta_records_change(struct sta_kept_records *records, void *context, struct sta_error *err);
STA_MUSTCHECK int sta_kept_records_change(struct sta_store *store, const struct sta_kept_records_kind *kind,
                                          sta_records_change *change, void *context, struct sta_error *err);

#endif
