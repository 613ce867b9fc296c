/* result.h - all rows of a response, computed once: pages are cut from them, streams read them.
 *
 * Two kinds of rows have one interface: a table that is held in memory, and the result of a query,
 * which may have its rows still to be read from the store. */
#ifndef STA_SERVE_RESULT_H
#define STA_SERVE_RESULT_H

#include "analyse/analyse.h"
#include "common/buffer.h"
#include "common/error.h"
#include "common/table.h"

/* How rows are held. */
struct sta_result_class {
    void (*destroy)(void *self);
    uint64_t (*bytes)(const void *self); /* of memory */
    uint64_t (*disk)(const void *self);  /* bytes of spill files; NULL: none */
    int (*count)(void *self, const struct sta_budget *budget, uint64_t *count, struct sta_error *err);
    /** @after: what position gave, to go on behind it; NULL: from the start.  STA_EINPUT when it is none of
     * these rows'. */
    int (*open)(void *self, const struct sta_budget *budget, const void *after, size_t after_size,
                void **reader, struct sta_error *err);
    /** Passes over so many rows, or all that there are.  Before the first read. */
    void (*skip)(void *reader, uint64_t rows);
    /** The next rows, none at the end; the table has its columns even then.  For the caller to fini, also
     * after a failure, before the rows are released. */
    int (*read)(void *reader, size_t most, struct sta_table *table, struct sta_error *err);
    /** The next rows as vectors by column, none at the end; NULL: by `read` alone.  Who reads so asks for no
     * position. */
    int (*next)(void *reader, const struct sta_vector **vectors, uint32_t *rows, struct sta_error *err);
    /** Appends the place behind the last row read; false when no row follows. */
    bool (*position)(void *reader, struct sta_buffer *position);
    void (*close)(void *reader);
};

/* Counted references; immutable once it is shared; any thread. */
struct sta_result {
    _Atomic unsigned references;
    const struct sta_result_class *class;
    void *self;
    struct sta_buffer head;      /* JSON: members that stand before the table, as text without braces */
    struct sta_account *account; /* what the rows hold is counted in it until the last reference goes */
    size_t counted;              /* bytes */
    const char *member; /* JSON: name of the member that holds the table; NULL: its members stand beside
                           the head.  Static */
    bool one_page;      /* rows are in order of weight: `limit` shows the first, and no page follows */
    const char *tail;   /* JSON: what closes what the head has left open, behind the table; NULL: nothing.
                           Static */
};

struct sta_result *sta_result_create(const struct sta_result_class *class, void *self);
/** Counts what the rows hold in @account from now on, unless they are counted already.  Context: before the
 * result is shared. */
void sta_result_count_in(struct sta_result *result, struct sta_account *account);
struct sta_result *sta_result_retain(struct sta_result *result);
void sta_result_release(struct sta_result *result);         /* NULL allowed */
uint64_t sta_result_bytes(const struct sta_result *result); /* of memory */
/** What a kept result counts for: its memory, and a part of what it has on disk. */
uint64_t sta_result_weight(const struct sta_result *result);

/**
 * sta_result_of_table - rows that are held in a table
 * @table: taken over
 * @owner: what its texts point into, given to @release with the last reference; both may be NULL
 */
struct sta_result *sta_result_of_table(struct sta_table *table, void *owner, void (*release)(void *owner));
/** The whole table of such a result, in its own order. */
const struct sta_table *sta_result_table(const struct sta_result *result);
/** The rows of a query; takes over the reference. */
struct sta_result *sta_result_of_query(struct sta_query_result *result);

/**
 * sta_result_arrange - the same rows in another order, and some of the columns
 * @base: of a table; kept by what is made of it
 * @order: names of columns, -name for descending; stable, missing values last.  @columns: none: all of them
 * Mistakes: STA_EINPUT with a text that lists the columns, and the parameter of the list.  STA_ECANCELLED,
 * STA_ELIMIT, STA_EBUSY of the budget.
 */
struct sta_name_list {
    const char *const *names;
    size_t count;
    const char *parameter; /* JSON pointer for mistakes */
};
STA_MUSTCHECK int sta_result_arrange(struct sta_result *base, const struct sta_name_list *order,
                                     const struct sta_name_list *columns, const struct sta_budget *budget,
                                     struct sta_result **arranged, struct sta_error *err);

#endif
