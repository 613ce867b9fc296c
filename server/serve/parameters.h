/* parameters.h - every query parameter of the API: one list makes the checks, the messages and the OpenAPI document. */
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
    STA_PARAMETER_NAMES    /* words with commas between */
};

/* X(id, name, type, words of a choice, default as text or NULL, example, description) */
#define STA_PARAMETER_LIST(X)                                                                                \
    X(PRESET, "preset", TEXT, NULL, NULL, "dlio",                                                            \
      "Name of the preset whose layers and filters apply. Default: the one chosen from the trace's "         \
      "content.")                                                                                            \
    X(FILTERS, "filters", CHOICE, "on|off", "on", "on", "Whether the preset's dropping filters apply.")      \
    X(SEMANTICS, "semantics", CHOICE, "exact|compatible", "exact", "exact",                                  \
      "exact: every number means what its name says. compatible: the numbers of the established analysers; " \
      "not available yet for this call, which then answers 501.")                                            \
    X(FROM, "from", SECONDS, NULL, NULL, "0", "Start of the window, in seconds from the trace's start.")     \
    X(TO, "to", SECONDS, NULL, NULL, "30", "End of the window, in seconds from the trace's start.")          \
    X(FILTER, "filter", TEXT, NULL, NULL, "size > 4096",                                                     \
      "Only events that satisfy this expression of the filter language.")                                    \
    X(FORMAT, "format", CHOICE, "json|csv|ndjson", "json", "json",                                           \
      "json: one document. csv: the table with a header line. ndjson: one object a line.")                   \
    X(GRANULARITY, "granularity", WIDTH, NULL, "1", "5",                                                     \
      "Width of time bins in seconds, rounded to microseconds.")                                             \
    X(UNUSED_GRANULARITY, "granularity", WIDTH, NULL, "1", "1",                                              \
      "Accepted with the other parameters of layered calls; exact totals do not depend on it.")              \
    X(UNUSED_BY, "by", TEXT, NULL, NULL, "time_range",                                                       \
      "Accepted with the other parameters of layered calls; exact totals do not depend on it.")              \
    X(UNUSED_VIEWS, "views", NAMES, NULL, "time_range,proc_name", "time_range,proc_name",                    \
      "Accepted with the other parameters of layered calls; exact totals do not depend on it.")              \
    X(LAYERS, "layer", NAMES, NULL, NULL, "app", "Layers, with commas between. Default: all of the preset.") \
    X(METRICS, "metrics", NAMES, NULL, "time", "bw,ops,time",                                                \
      "Metrics, with commas between: count, time, size, bw, ops, busy, bw_busy.")                            \
    X(MAX_POINTS, "max_points", COUNT, NULL, NULL, "500",                                                    \
      "At most so many bins: the granularity grows by a whole factor until they suffice.")                   \
    X(PATH, "path", TEXT, NULL, NULL, "/runs",                                                               \
      "Folder inside an allowed root. Default: the roots themselves.")

enum sta_parameter_id {
#define X(id, name, type, words, fallback, example, text) STA_PARAMETER_##id,
    STA_PARAMETER_LIST(X)
#undef X
        STA_PARAMETERS
};

#define STA_HAS(id) (UINT32_C(1) << STA_PARAMETER_##id)

struct sta_parameter {
    const char *name;
    enum sta_parameter_type type;
    const char *words, *fallback, *example, *text;
};
extern const struct sta_parameter sta_parameters[STA_PARAMETERS];

struct sta_parameter_value {
    const char *text; /* decoded, or the default; NULL: neither */
    bool given;
    double number;   /* SECONDS */
    int64_t integer; /* WIDTH: microseconds; COUNT */
};

/**
 * sta_parameters_read - take a query apart and check it
 * @query: changed in place; the values point into it.  NULL: empty
 * @allowed: STA_HAS bits
 * Return: 0, or STA_EINPUT with err->parameter set and a text that lists what is allowed.  A parameter may be given once.
 */
STA_MUSTCHECK int sta_parameters_read(char *query, uint32_t allowed,
                                      struct sta_parameter_value values[STA_PARAMETERS],
                                      struct sta_error *err);

#endif
