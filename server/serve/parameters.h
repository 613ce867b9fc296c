/* parameters.h - every query parameter of the API: one list makes the checks, the messages and the OpenAPI
 * document. */
#ifndef STA_SERVE_PARAMETERS_H
#define STA_SERVE_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"

enum sta_parameter_type {
    STA_PARAMETER_TEXT,    /* not empty */
    STA_PARAMETER_CHOICE,  /* one of the words */
    STA_PARAMETER_SECONDS, /* a finite number, negative too */
    STA_PARAMETER_WIDTH,   /* seconds > 0, rounded to microseconds, at least one */
    STA_PARAMETER_COUNT,   /* a whole number > 0 */
    STA_PARAMETER_ROWS,    /* a whole number >= 0 */
    STA_PARAMETER_NAMES,   /* words with commas between */
    STA_PARAMETER_LIST,    /* not empty; may be given several times, and names may have commas between */
    STA_PARAMETER_PAIRS    /* name:text; may be given several times */
};

/* X(id, name, type, words of a choice, default as text or NULL, example, description) */
#define STA_PARAMETER_LIST(X)                                                                                \
    X(PRESET, "preset", TEXT, NULL, NULL, "dlio",                                                            \
      "Name of the preset whose layers and filters apply. Default: the one chosen from the trace's "         \
      "content.")                                                                                            \
    X(FILTERS, "filters", CHOICE, "on|off", "on", "on", "Whether the preset's dropping filters apply.")      \
    X(SEMANTICS, "semantics", CHOICE, "exact|compatible", "exact", "exact",                                  \
      "exact: every number means what its name says. compatible: the numbers of the established analysers.") \
    X(STEP_SEMANTICS, "semantics", CHOICE, "exact|compatible", "compatible", "compatible",                   \
      "This table is a step of the compatible computation; exact has none like it, and answers 400.")        \
    X(FROM, "from", SECONDS, NULL, NULL, "0", "Start of the window, in seconds from the trace's start.")     \
    X(TO, "to", SECONDS, NULL, NULL, "30", "End of the window, in seconds from the trace's start.")          \
    X(PARTIAL, "partial", CHOICE, "true|false", "false", "true",                                             \
      "Whether a trace that lacks events, since its store files were damaged, is answered for without them " \
      "(header Strata-Missing), in place of 409.")                                                           \
    X(FILTER, "filter", TEXT, NULL, NULL, "size > 4096",                                                     \
      "Only events that satisfy this expression of the filter language.")                                    \
    X(FORMAT, "format", CHOICE, "json|csv|ndjson", "json", "json",                                           \
      "json: one document. csv: the table with a header line. ndjson: one object a line.")                   \
    X(GRANULARITY, "granularity", WIDTH, NULL, "1", "5",                                                     \
      "Width of time bins in seconds, rounded to microseconds; of whatever table has bins. Exact tables "    \
      "that "                                                                                                \
      "are not by time have none, and are the same for all.")                                                \
    X(LAYER, "layer", TEXT, NULL, NULL, "app",                                                               \
      "Name of a layer of the preset. Default: its first; of hlm: all.")                                     \
    X(BY, "by", TEXT, NULL, "time_range", "proc_name",                                                       \
      "What rows are: time_range, proc_name, file_name or a logical view of the preset; exact also has "     \
      "process, thread, host_name, file_dir, file_pattern, cat, func_name, epoch and step. With the exact "  \
      "summary it is refused.")                                                                              \
    X(VIEWS, "views", NAMES, NULL, "time_range,proc_name", "time_range,proc_name",                           \
      "View types that compatible groups events by first: time_range, proc_name, file_name. With exact "     \
      "tables it is refused.")                                                                               \
    X(QUANTILE_STATS, "quantile_stats", CHOICE, "true|false", "false", "false",                              \
      "Adds statistics between quantiles to each number; compatible only.")                                  \
    X(LAYERS, "layer", NAMES, NULL, NULL, "app", "Layers, with commas between. Default: all of the preset.") \
    X(METRICS, "metrics", NAMES, NULL, "time", "bw,ops,time",                                                \
      "Metrics, with commas between: columns of the layer view, such as count, time, size, bw, ops, busy, "  \
      "exposed_group_sum.")                                                                                  \
    X(MAX_POINTS, "max_points", COUNT, NULL, NULL, "500",                                                    \
      "At most so many bins: a given granularity grows by a whole factor until they suffice; else they "     \
      "have a round width.")                                                                                 \
    X(PATH, "path", TEXT, NULL, NULL, "/runs",                                                               \
      "Folder inside an allowed root. Default: the roots themselves.")                                       \
    X(QUERY, "q", TEXT, NULL, NULL, "{\"group_by\": [\"func_name\"], \"aggregate\": {\"n\": \"count()\"}}",  \
      "The request as JSON. Plain parameters beside it replace its members of the same name.")               \
    X(TRACED_PRESET, "preset", TEXT, NULL, NULL, "dlio",                                                     \
      "Name of the preset whose filters and refined categories the events are seen with. Default: none, "    \
      "all events as they are.")                                                                             \
    X(TRACED_FILTERS, "filters", CHOICE, "on|off", NULL, "off",                                              \
      "Whether the dropping filters of the preset that is named apply. Default: on.")                        \
    X(GROUP_BY, "group_by", LIST, NULL, NULL, "func_name",                                                   \
      "Expressions to group by. Repeat it for several; plain names may have commas between.")                \
    X(AGGREGATE, "aggregate", PAIRS, NULL, NULL, "total:sum(time)",                                          \
      "name:expression of an aggregate. Repeat it for several.")                                             \
    X(DERIVE, "derive", PAIRS, NULL, NULL, "gib:size / 1024 ** 3",                                           \
      "name:expression of a new column. Repeat it for several.")                                             \
    X(VALUE_COUNTS, "value_counts", LIST, NULL, NULL, "func_name",                                           \
      "Columns whose combinations of values are counted. Repeat it for several.")                            \
    X(DESCRIBE, "describe", LIST, NULL, NULL, "size",                                                        \
      "Numeric expressions to describe: count, mean, std, min, quartiles, max. Repeat it for several.")      \
    X(COLUMNS, "columns", LIST, NULL, NULL, "func_name,pid",                                                 \
      "Which columns to show. Repeat it for several; plain names may have commas between.")                  \
    X(SORT, "sort", LIST, NULL, NULL, "-time",                                                               \
      "Columns to sort by, -name for descending; missing values come last. Repeat it for several; plain "    \
      "names may have commas between.")                                                                      \
    X(ORDER_BY, "order_by", LIST, NULL, NULL, "-time", "The same as sort.")                                  \
    X(LIMIT, "limit", ROWS, NULL, NULL, "100",                                                               \
      "Rows of a page. Default: 1000; csv and ndjson give all rows.")                                        \
    X(CURSOR, "cursor", TEXT, NULL, NULL, "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",                                \
      "The member next of the page before, for the same request.")                                           \
    X(PREFIX, "prefix", TEXT, NULL, NULL, "rea", "Only values that begin so, whatever the case.")            \
    X(SETS, "set", PAIRS, NULL, NULL, "io:cat == \"posix\"",                                                 \
      "name:condition of a set of events. Repeat it for several. Default: the layers of the preset.")        \
    X(SET_LAYERS, "layers", LIST, NULL, NULL, "compute,reader",                                              \
      "Which layers of the preset are sets, with commas between. Default: all but the ancestors of what "    \
      "I/O hides behind.")                                                                                   \
    X(SCOPE, "scope", TEXT, NULL, NULL, "process",                                                           \
      "What a unit is: thread, process, rank_group (default), host or job.")                                 \
    X(OVERLAP_SEMANTICS, "semantics", CHOICE, "exact|compatible", NULL, "exact",                             \
      "exact (default): by the intervals of every event. compatible: the numbers of the older analyser, "    \
      "for sets named compute, io, app_io.")                                                                 \
    X(VARIANT, "variant", CHOICE, "approximate|intervals", NULL, "approximate",                              \
      "Of semantics compatible: sums per bin (default), or unions per bin.")                                 \
    X(BIN_WIDTH, "granularity", WIDTH, NULL, NULL, "5",                                                      \
      "Seconds. Exact: adds a series over bins of this width. Compatible: width of its bins, default 1.")    \
    X(EXPOSURE, "exposure", CHOICE, "true|false", NULL, "true",                                              \
      "Adds how the single events of each set lie in the busy time of each other.")                          \
    X(OVERLAP_EXPLAIN, "explain", CHOICE, "true|false", NULL, "true",                                        \
      "Adds what the bucket method (sums per bin, subtracted) says of the same sets.")                       \
    X(WHERE, "where", TEXT, NULL, NULL, "reader and not compute",                                            \
      "A condition on the names of the sets, and idle (default): when no set is active.")                    \
    X(LONGEST, "longest", COUNT, NULL, NULL, "10", "No more than so many intervals: the longest ones.")      \
    X(EVENTS, "events", COUNT, NULL, NULL, "3",                                                              \
      "Shows of each interval so many of the events that fill it.")                                          \
    X(TRACES, "traces", NAMES, NULL, NULL, "0f1e2d3c4b5a6978,1e2d3c4b5a69780f",                              \
      "Ids of the runs to compare, with commas between.")                                                    \
    X(BASELINE, "baseline", TEXT, NULL, NULL, "0f1e2d3c4b5a6978",                                            \
      "The run that all are compared to, by id or name. Default: the first.")                                \
    X(VIEW, "view", CHOICE, "summary|layer|flat", "summary", "layer", "Which view is compared.")             \
    X(EXPLAIN, "explain", CHOICE, "true|false", NULL, "true",                                                \
      "Adds the member explain: the steps that were taken, with rows, blocks read and skipped, time and "    \
      "memory.")

enum sta_parameter_id {
#define X(id, name, type, words, fallback, example, text) STA_PARAMETER_##id,
    STA_PARAMETER_LIST(X)
#undef X
        STA_PARAMETERS
};

#define STA_HAS(id) (UINT64_C(1) << STA_PARAMETER_##id)

struct sta_parameter {
    const char *name;
    enum sta_parameter_type type;
    const char *words, *fallback, *example, *text;
    bool required;
};
extern const struct sta_parameter sta_parameters[STA_PARAMETERS];

struct sta_parameter_value {
    const char *text; /* decoded, or the default; NULL: neither.  LIST, PAIRS: the first */
    bool given;
    double number;   /* SECONDS */
    int64_t integer; /* WIDTH: microseconds; COUNT, ROWS */
};

/* The values of LIST and PAIRS parameters, as given. */
#define STA_REPEATS 160
struct sta_repeats {
    size_t count;
    struct {
        enum sta_parameter_id parameter;
        const char *text;
    } items[STA_REPEATS];
};

/**
 * sta_parameters_read - take a query apart and check it
 * @query: changed in place; the values point into it.  NULL: empty
 * @allowed: STA_HAS bits
 * @repeats: takes the values of LIST and PAIRS parameters; may be NULL when none is allowed
 * Return: 0, or STA_EINPUT with err->parameter set and a text that lists what is allowed.  A parameter of
 * another type may be given once.
 */
STA_MUSTCHECK int sta_parameters_read(char *query, uint64_t allowed,
                                      struct sta_parameter_value values[STA_PARAMETERS],
                                      struct sta_repeats *repeats, struct sta_error *err);

#endif
