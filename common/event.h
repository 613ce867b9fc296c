/* event.h - what passes from decode to the store: batches of events as columns, and the tables of their
 * trace.
 *
 * An event is a complete event (ph = X) of the trace.  The batch holds what was traced, coded; what can be
 * derived from it (io_cat, size, offset, host_name, file_name, ..) is derived when it is asked for, so that a
 * changed configuration or a later file definition needs no new ingest. */
#ifndef STA_COMMON_EVENT_H
#define STA_COMMON_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/dictionary.h"

/* Times are whole microseconds as traced (Unix time in real traces); |ts|, |dur| and |ts + dur| stay within
 * this, so that nanoseconds of any difference fit 64 bits.  A line past it is malformed. */
#define STA_TIME_LIMIT INT64_C(4600000000000000)
#define STA_GRANULARITY_LIMIT INT64_C(1000000000000000) /* microseconds: two bins fit behind any time */

#define STA_ARGS_KEYS_LIMIT 4096 /* distinct args keys of a trace; further ones are counted, not stored */
#define STA_NO_ID INT64_MIN      /* a missing pid or tid */

/* ---- the values of one args key */

/* A JSON integer, or a string that is a canonical decimal integer (-?(0|[1-9][0-9]*)), that fits int64 is
 * STA_VALUE_INT: both mean the same to every reader.  Other JSON numbers: FLOAT, but integers beyond int64:
 * TEXT (their digits).  Nested values: TEXT, re-written compactly (no blanks, non-ASCII as is).  null:
 * absent. */
enum sta_value_kind { STA_VALUE_INT, STA_VALUE_FLOAT, STA_VALUE_BOOL, STA_VALUE_TEXT, STA_VALUE_KINDS };

union sta_value {
    int64_t integer; /* also BOOL: 0 or 1 */
    double number;
    uint32_t code; /* TEXT: in the key's dictionary */
};

struct sta_args_column {
    uint32_t key;             /* code in sta_tables.keys */
    uint32_t count, capacity; /* of the three arrays below */
    uint32_t *rows;           /* ascending row numbers within the batch, each at most once */
    uint8_t *kinds;           /* enum sta_value_kind */
    union sta_value *values;
};

/* ---- the tables of one trace: shared by all its batches and segments */

/* What an event says about its file or host, before any definition resolves it.  The text in the dictionary
 * is the way it was said (one char of enum sta_reference) followed by the text or the hash as decimal / given
 * text.  Behind a hash stands the source whose event it is, since the same hash may mean something else in
 * another: four bytes, low ones first, of the code in the tables' sources. */
enum sta_reference {
    STA_REFERENCE_HASH = 's',     /* args.fhash, args.hhash: decimal digits of the integer, or the string */
    STA_REFERENCE_ANY_HASH = 'h', /* the same of no known source: in stores from before these were noted */
    STA_REFERENCE_NAME = 'n',     /* args.fname, args.hostname: the text itself */
    STA_REFERENCE_FILENAME = 'f', /* args.filename, when there is no args.fname */
};

#define STA_REFERENCE_SOURCE 4 /* bytes of the source behind a hash */

struct sta_reference_parts {
    bool hash;            /* the text is a hash */
    char kind;            /* enum sta_reference, ANY_HASH as HASH; zero: no reference, a damaged store */
    struct sta_text text; /* not ended by zero when it is a hash */
    uint32_t source;      /* of a hash; STA_NO_CODE: not known */
};
struct sta_reference_parts sta_reference_split(struct sta_text reference);

struct sta_thread {
    int64_t pid, tid; /* STA_NO_ID when missing */
    uint32_t host;    /* code in sta_tables.host_refs, or STA_NO_CODE */
};

/* FH and HH metadata: which text a hash stands for.  Kept per hash and source: the definition that comes
 * first in that source. */
enum sta_definition_kind { STA_DEFINES_FILE, STA_DEFINES_HOST, STA_DEFINITION_KINDS };

struct sta_definition {
    const char *text; /* NULL: defined without a name */
    uint32_t length;
    const char *path; /* of the defining source, inside the trace */
    uint64_t line;
};

struct sta_account;
struct sta_buffer;
struct sta_tables;
struct sta_value_lists;

/** @account: what the tables hold is charged to it; NULL: to none.  Memory that is refused is a sticky
 * failure of the tables, which stay sound: whoever fills them asks sta_tables_failure before they are used.
 */
struct sta_tables *sta_tables_create(struct sta_account *account);
void sta_tables_destroy(struct sta_tables *tables);
/** 0; STA_ELIMIT, STA_EBUSY or STA_ENOMEM when something could not be kept for want of memory. */
int sta_tables_failure(const struct sta_tables *tables, struct sta_error *err);

/** What the tables are charged to. */
struct sta_account *sta_tables_account(struct sta_tables *tables);

/* The dictionaries.  Owned by the tables. */
struct sta_dictionary *sta_tables_names(const struct sta_tables *tables);
struct sta_dictionary *sta_tables_cats(const struct sta_tables *tables); /* in lower case */
struct sta_dictionary *sta_tables_file_refs(const struct sta_tables *tables);
struct sta_dictionary *sta_tables_host_refs(const struct sta_tables *tables);
struct sta_dictionary *sta_tables_keys(const struct sta_tables *tables); /* args keys, without "args." */
/* Paths of the sources that hashes or definitions are from.  A path keeps its code when its file leaves the
 * trace and comes back. */
struct sta_dictionary *sta_tables_sources(const struct sta_tables *tables);
struct sta_dictionary *sta_tables_hashes(const struct sta_tables *tables,
                                         enum sta_definition_kind kind); /* that some line defines */

/** Code of an args key; STA_NO_CODE once STA_ARGS_KEYS_LIMIT keys exist and this is another.  Context: any
 * thread. */
uint32_t sta_tables_intern_key(struct sta_tables *tables, const char *key, size_t length);
/** The texts of one args key; created with the key.  Those of lists that were read may be left for later. */
struct sta_dictionary *sta_tables_values(const struct sta_tables *tables, uint32_t key);

/* Lists of texts, such as the tasks that a task waits for.  Most occur once, but their members are values of
 * another key too: so a trace that is written keeps the codes of these in place of a text of its own for each
 * list.  In the dictionary of its key, a list is a mark that begins no text and the codes, four bytes each,
 * low ones first.  The tables of a snapshot have the codes, and the texts of lists, as compact JSON, once one
 * of them is asked for. */
#define STA_LIST_MARK '\xff'
/** Lets the values of @key be lists of texts of @members, a key that was there before it.  Return: false when
 * it has texts already, or is not behind @members: then lists are texts. */
bool sta_tables_hold_lists(struct sta_tables *tables, uint32_t key, uint32_t members);
/** The key that members of lists are values of; STA_NO_CODE: the values are no lists. */
uint32_t sta_tables_list_members(const struct sta_tables *tables, uint32_t key);
static inline bool sta_text_is_list(struct sta_text value)
{
    return value.length > 0 && value.bytes[0] == STA_LIST_MARK;
}
/** Takes the values of a key that has none yet, lists among them: their texts are left for later. */
void sta_tables_set_lists(struct sta_tables *tables, uint32_t key, struct sta_value_lists *lists);
/** The members of a value that was read.  Return: NULL when it is no list of values of @members. */
const uint32_t *sta_tables_list(const struct sta_tables *tables, uint32_t key, uint32_t members,
                                uint32_t code, size_t *count);
/** Appends a list as compact JSON.  Return: false when it names what is not there. */
bool sta_list_put(struct sta_buffer *out, const struct sta_dictionary *members, struct sta_text list);

/** Which kinds of values a key has had so far: bits 1 << enum sta_value_kind.  note_kinds adds bits.
 * Context: any thread. */
unsigned sta_tables_kinds(const struct sta_tables *tables, uint32_t key);
void sta_tables_note_kinds(struct sta_tables *tables, uint32_t key, unsigned kinds);

/** Code of a thread.  Context: any thread (takes a lock when new; keep a map of recent ones). */
uint32_t sta_tables_intern_thread(struct sta_tables *tables, struct sta_thread thread);
struct sta_thread sta_tables_thread(const struct sta_tables *tables, uint32_t code);
uint32_t sta_tables_thread_count(const struct sta_tables *tables);

/** Notes a definition; keeps the first of its source.  @key: the hash as in a reference, alone.  Texts are
 * copied.  Context: any thread. */
void sta_tables_define(struct sta_tables *tables, enum sta_definition_kind kind, const char *key,
                       size_t key_length, const struct sta_definition *definition);
/** What a hash means to an event of @source (code in sources; STA_NO_CODE: of none): that source's own
 * definition, else the one that comes first by path in byte order.  *own (NULL allowed) says which.  Return:
 * false when no line defines the hash. */
bool sta_tables_find_definition(const struct sta_tables *tables, enum sta_definition_kind kind,
                                const char *key, size_t key_length, uint32_t source,
                                struct sta_definition *definition, bool *own);
/** Calls @visit for every definition that is kept, in no particular order, holding the tables' lock. */
void sta_tables_each_definition(const struct sta_tables *tables, enum sta_definition_kind kind,
                                void (*visit)(void *context, const char *key, size_t key_length,
                                              const struct sta_definition *definition),
                                void *context);
/** By code of the hash: 1 where sources differ in what they define it as.  @account: charged; free it with
 * sta_account_free.  NULL with STA_ELIMIT, STA_EBUSY or STA_ENOMEM. */
uint8_t *sta_tables_conflicts(const struct sta_tables *tables, enum sta_definition_kind kind,
                              struct sta_account *account, uint32_t *count, struct sta_error *err);
size_t sta_tables_bytes(const struct sta_tables *tables); /* memory held */

/* ---- a batch: the events of one chunk of one source, in line order */

struct sta_batch {
    uint32_t count, capacity;
    int64_t *ts, *dur;            /* microseconds */
    uint16_t *ts_ns, *dur_ns;     /* 0..999 nanoseconds on top (towards plus infinity); NULL: all zero */
    uint32_t *name, *cat;         /* codes; STA_NO_CODE when missing */
    uint32_t *file;               /* code in file_refs; STA_NO_CODE when the event names no file */
    uint32_t *thread;             /* code of its struct sta_thread */
    struct sta_args_column *args; /* one per key that the batch, or one before it, has; some are empty.  Not
                                     in here: the keys that file and thread were made from (fhash, else fname,
                                     else filename; hhash, else hostname) */
    uint32_t args_count, args_capacity;
    uint32_t source;     /* index of the source file in its ingest */
    uint64_t first_line; /* number, from 1, of the first line of the chunk */
};

void sta_batch_init(struct sta_batch *batch);
void sta_batch_fini(struct sta_batch *batch);
/** Forgets the rows, keeps the memory and the args columns (with count 0, and all kinds zero). */
void sta_batch_clear(struct sta_batch *batch);
/** Reserves space for @rows rows in the fixed columns. */
void sta_batch_reserve(struct sta_batch *batch, uint32_t rows);
/** Makes ts_ns and dur_ns, zero for the rows so far. */
void sta_batch_need_fractions(struct sta_batch *batch);

#endif
