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
    STA_PARAMETER_NUMBER,  /* a finite number */
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
    X(FORMAT, "format", CHOICE, "json|csv|ndjson|arrow", "json", "json",                                     \
      "json: one document. csv: the table with a header line. ndjson: one object a line. "                   \
      "arrow: the Arrow IPC stream.")                                                                        \
    X(TIME_BASE, "time", CHOICE, "relative|absolute", "relative", "absolute",                                \
      "absolute: a table with a column time_start has unix_ms too, milliseconds from 1970-01-01 UTC as "     \
      "an integer; a table without one is refused.")                                                         \
    X(GRANULARITY, "granularity", WIDTH, NULL, "1", "5",                                                     \
      "Width of time bins in seconds, rounded to microseconds; of whatever table has bins. Exact tables "    \
      "that are not by time have none: there it is allowed, so that one link serves all tables, and "        \
      "changes nothing.")                                                                                    \
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
    X(SUMMARY_METRICS, "metrics", NAMES, NULL, NULL, "count,busy,exposed_group_sum",                         \
      "Columns of the exact summary that are wanted, with commas between. Default: all. Counts, times, "     \
      "bytes, busy and the sums over processes and ranks add up over time: of a window whose ends are "      \
      "round, without a filter, they are read from what is kept, not from events.")                          \
    X(COUNTERS, "counter", NAMES, NULL, NULL, "cpu.user_pct",                                                \
      "Counters of the trace in place of layers, with commas between: NAME.KEY, as `columns` lists them. "   \
      "Of "                                                                                                  \
      "each the mean of its records in a bin, and as NAME.KEY_min and NAME.KEY_max the least and largest.")  \
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
      "Rows of a page. Default: 1000; csv, ndjson and arrow give all rows.")                                 \
    X(ROW_OFFSET, "offset", ROWS, NULL, NULL, "1000",                                                        \
      "Rows that come before the page, of all rows of the result; their order is the same in every "         \
      "response. Not with cursor.")                                                                          \
    X(CURSOR, "cursor", TEXT, NULL, NULL, "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",                                \
      "The member next of the page before, for the same request.")                                           \
    X(PREFIX, "prefix", TEXT, NULL, NULL, "rea", "Only values that begin so, whatever the case.")            \
    X(SETS, "set", PAIRS, NULL, NULL, "io:cat == \"posix\"",                                                 \
      "name:condition of a set of events. Repeat it for several. Default: the layers of the preset.")        \
    X(SET_LAYERS, "layers", LIST, NULL, NULL, "compute,reader",                                              \
      "Which layers of the preset are sets, with commas between. Default: all but the ancestors of what "    \
      "I/O hides behind.")                                                                                   \
    X(SCOPE, "scope", TEXT, NULL, NULL, "process",                                                           \
      "What a unit is: thread, process, rank_group, host or job. Default: rank_group; of gaps thread, of "   \
      "call trees job.")                                                                                     \
    X(OVERLAP_SEMANTICS, "semantics", CHOICE, "exact|compatible", NULL, "exact",                             \
      "exact (default): by the intervals of every event. compatible: the numbers of DFTracer "               \
      "1.0.8's analyser, for sets named compute, io, app_io.")                                               \
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
    X(WHATIF_QUERY, "q", TEXT, NULL, NULL, "{\"assume\": {\"prefetch\": 2}}", "The request as JSON.")        \
    X(WHATIF_TABLE, "table", CHOICE, "scenarios|sweep|ranks|epochs|steps|timeline", "scenarios", "sweep",    \
      "Which table of the response csv, ndjson and arrow hold.")                                             \
    X(ALIGN_TABLE, "table", CHOICE,                                                                          \
      "alignments|iterations|dataload_sim|train_sim|sim_info|summary|summary_full", "alignments", "summary", \
      "alignments: a row per combination. The others are the files of the published simulation, of an "      \
      "imported log alone.")                                                                                 \
    X(FETCH_ALIGN, "fetch_align", LIST, NULL, NULL, "avg",                                                   \
      "How the durations of fetches are aligned: false, avg, min. Repeat it for several. Default: all.")     \
    X(START_ALIGN, "start_align", LIST, NULL, NULL, "min",                                                   \
      "How the starts of fetches are aligned: false, avg, min. Repeat it for several. Default: all.")        \
    X(EPOCH, "epoch", COUNT, NULL, NULL, "1", "Only this epoch, from 1.")                                    \
    X(SKIP, "skip", ROWS, NULL, NULL, "10", "Leaves out so many first steps of each epoch.")                 \
    X(SHOWN_PRESET, "preset", TEXT, NULL, NULL, "dlio",                                                      \
      "Name of the preset whose layers and refined categories the events are seen with. Default: the one "   \
      "chosen from the trace's content.")                                                                    \
    X(SHOWN_FILTERS, "filters", CHOICE, "on|off", NULL, "on",                                                \
      "Whether the preset's dropping filters apply. Default: off, a timeline hides nothing unasked.")        \
    X(LANES, "lanes", LIST, NULL, NULL, "job",                                                               \
      "Ids of lanes, as timeline/lanes has them, whose threads take part. Repeat it for several, or put "    \
      "commas between. Default: job.")                                                                       \
    X(PIXELS, "width", COUNT, NULL, NULL, "1024",                                                            \
      "Pixels of the window, 1 to 8192; what is shorter than about one is merged. Default: 1024.")           \
    X(DENSITY_LABEL, "label", CHOICE, "layer|name|category", NULL, "layer",                                  \
      "What the time is split by. Default: layer.")                                                          \
    X(CALL_LABEL, "label", CHOICE, "name|category|layer|category:name", NULL, "name",                        \
      "What calls are named by. Default: name.")                                                             \
    X(LANE_PARENT, "parent", TEXT, NULL, NULL, "job", "Only lanes below this one.")                          \
    X(LANE_LEVEL, "level", CHOICE, "host|rank_group|process|thread", NULL, "process",                        \
      "No lanes below this level. Default: thread.")                                                         \
    X(LANE_SORT, "sort", LIST, NULL, NULL, "-busy",                                                          \
      "Order of siblings: name (default), busy, events, first, last, longest, rows; -name for descending.")  \
    X(LEAST, "min", NUMBER, NULL, NULL, "0.01", "Seconds that a gap lasts at least. Default: 0.")            \
    X(CALL_NAME, "name", TEXT, NULL, NULL, "read",                                                           \
      "A label: the calls below its outermost calls, or with direction=callers the paths up from them.")     \
    X(CALL_DIRECTION, "direction", CHOICE, "callees|callers", NULL, "callees",                               \
      "Which way to go from name. Default: callees.")                                                        \
    X(MIN_SHARE, "min_share", NUMBER, NULL, NULL, "0.01",                                                    \
      "Calls that take less of their group's time than this share are folded into one. Default: 0.001; of "  \
      "folded and speedscope 0.")                                                                            \
    X(DEPTH, "depth", COUNT, NULL, NULL, "10", "Calls deeper than this are folded. Default: none.")          \
    X(CALL_TREE_FORMAT, "format", CHOICE, "json|csv|ndjson|arrow|folded|speedscope", "json", "folded",       \
      "json, csv, ndjson, arrow: the table. folded: lines of stacks and ticks. speedscope: a document for "  \
      "that "                                                                                                \
      "viewer.")                                                                                             \
    X(EVENTS_FORMAT, "format", CHOICE, "json|csv|ndjson|arrow|chrome", "json", "json",                       \
      "json, csv, ndjson, arrow: the table. chrome: events that touch the window in Chrome's trace format, " \
      "which "                                                                                               \
      "Perfetto opens; limit is then the most events that there may be, 100000 by default.")                 \
    X(MOMENT, "at", SECONDS, NULL, NULL, "1.5", "Where the search begins, in seconds; or give event.")       \
    X(EVENT_ID, "event", TEXT, NULL, NULL, "t:n1:10:10@1700000000000000250",                                 \
      "Id of the event that the search begins at; or give at.")                                              \
    X(SEARCH_DIRECTION, "direction", CHOICE, "next|previous", NULL, "next", "Which way. Default: next.")     \
    X(OFFSETS, "offset", NAMES, NULL, NULL, "node2:-0.25",                                                   \
      "HOST:SECONDS that are added to the clock of a host, with commas between. Default: clocks as "         \
      "recorded. The table clocks estimates them.")                                                          \
    X(ATTRIBUTION, "attribution", TEXT, NULL, NULL, "stall",                                                 \
      "Splits the moments that a chain of the preset is about into causes: stall, io, .., or layers. "       \
      "granularity is then the width of its bins.")                                                          \
    X(ATTRIBUTION_BY, "by", LIST, NULL, NULL, "epoch",                                                       \
      "Keys of the attribution's rows: unit (default), epoch, step, bin. Repeat it for several, or put "     \
      "commas between. Without attribution it is refused.")                                                  \
    X(RUN_PRESET, "preset", TEXT, NULL, NULL, "dlio",                                                        \
      "Name of the preset whose phases and causes apply; nothing is dropped. Default: the one chosen from "  \
      "the trace's content.")                                                                                \
    X(GOAL, "goal", NUMBER, NULL, NULL, "0.9",                                                               \
      "Share of time that accelerators should compute. Default: 0.9.")                                       \
    X(WARMUP_STEPS, "warmup_steps", ROWS, NULL, NULL, "1",                                                   \
      "Leaves out so many first steps of each epoch. Default: 1.")                                           \
    X(END_STEPS, "end_steps", ROWS, NULL, NULL, "0",                                                         \
      "Leaves out so many last steps of each epoch. Default: 0.")                                            \
    X(ACCESS_KIND, "kind", CHOICE, "read|write", NULL, "read", "Of reads (default) or of writes.")           \
    X(SEVERITIES, "severity", NAMES, NULL, NULL, "critical,warning",                                         \
      "Only findings of these severities: critical, warning, info, ok, na, with commas between.")            \
    X(RULE_GROUPS, "group", NAMES, NULL, NULL, "stall,io",                                                   \
      "Only rules of these groups: stall, io, metadata, balance, trace, with commas between.")               \
    X(RULES, "rule", NAMES, NULL, NULL, "au", "Only these rules, by id, with commas between.")               \
    X(FINDINGS_FORMAT, "format", CHOICE, "json|csv|ndjson|arrow|markdown", "json", "json",                   \
      "json: one document. csv, ndjson, arrow: a row for each finding. markdown: counts, and a list per "    \
      "severity.")                                                                                           \
    X(EXPLAIN, "explain", CHOICE, "true|false", NULL, "true",                                                \
      "Adds the member explain: the steps that were taken, with rows, row groups read and skipped, time "    \
      "and memory.")

enum sta_parameter_id {
#define X(id, name, type, words, fallback, example, text) STA_PARAMETER_##id,
    STA_PARAMETER_LIST(X)
#undef X
        STA_PARAMETERS
};

/* Some of the parameters: a bit for each. */
typedef unsigned __int128 sta_parameter_set;
#define STA_HAS(id) ((sta_parameter_set)1 << STA_PARAMETER_##id)
_Static_assert(STA_PARAMETERS <= 128, "a set of parameters has a bit for each");

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
STA_MUSTCHECK int sta_parameters_read(char *query, sta_parameter_set allowed,
                                      struct sta_parameter_value values[STA_PARAMETERS],
                                      struct sta_repeats *repeats, struct sta_error *err);

#endif
