/* view_tables.h - compatible tables of traces of a few lines, as texts to compare with. */
#ifndef STA_TESTS_ANALYSE_VIEW_TABLES_H
#define STA_TESTS_ANALYSE_VIEW_TABLES_H

#include "analyse/analyse.h"

/* An event of process @pid: starts in a second, a digit, counted from the trace's start where one is in
 * second 0; dur in microseconds. */
#define EVENT(name, cat, pid, second, dur, args)                                                             \
    "{\"id\":1,\"name\":\"" name "\",\"cat\":\"" cat "\",\"pid\":" pid ",\"tid\":1,\"ts\":1" second          \
    "000000,\"dur\":" dur ",\"ph\":\"X\",\"args\":{\"hostname\":\"n\"" args "}}\n"
#define FILE_(name) ",\"fname\":\"" name "\""
#define RET(bytes) ",\"ret\":" bytes

struct view_request {
    const char *preset, *layer, *by;
    const char *views[3];
    enum sta_view_table table;
    unsigned workers; /* 0: 2 */
    size_t memory;    /* 0: plenty */
    const char *spill_folder;
    const _Atomic bool *cancel;
    bool quantiles, no_filters;
    const char *filter;
    double from, to; /* 0: open */
    int64_t granularity_us;
};

struct view_result {
    struct sta_table table;
    struct sta_facts facts;
    struct sta_error err;
    int status;
};

struct view_result run_view(struct sta_snapshot *snapshot, const struct sta_presets *presets,
                            const struct view_request *request);
/** The named columns, "a b|c d|" by row; "?" for one that is not there.  @names: NULL: the names of all
 * columns instead.  free() it. */
char *show(const struct view_result *result, const char *names);
/** A whole table, column by column; free() it. */
char *show_all(const struct sta_table *table);
int64_t fact(const struct view_result *result, const char *name);
/** The table of a trace of these lines is, in these columns, as wanted. */
void expect_view(const char *text, const struct view_request *request, const char *names, const char *wanted);

static const char two_reads[] = EVENT("read", "posix", "1", "0", "125", FILE_("/data/a") RET("4096"))
    EVENT("read", "posix", "1", "0", "375", FILE_("/data/b") RET("4097"))
        EVENT("close", "posix", "1", "0", "0", "") EVENT("read", "POSIX", "2", "3", "50", FILE_("/data/a"));

/* Two processes in bin 0, of which one writes; one of them again in bin 1. */
static const char readers[] = EVENT("read", "posix", "1", "0", "100", FILE_("/a") RET("10"))
    EVENT("write", "posix", "1", "0", "100", FILE_("/a") RET("30"))
        EVENT("read", "posix", "2", "0", "300", FILE_("/b") RET("20"))
            EVENT("read", "posix", "1", "1", "100", FILE_("/c") RET("40"));

#endif
