/* Reading requests: the first mistake in the order of the contract is the one that is reported. */
#include "simulate/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/buffer.h"
#include "common/number.h"

#define MOST_SCENARIOS 1000
#define MOST_COMBINATIONS 2000
#define MOST_FACTOR 100.0
#define PATH_SIZE 200

int sta_bad(struct sta_error *err, const char *parameter, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sta_fail(err, STA_EINPUT, "%s %s", parameter, text);
    return sta_at(err, parameter, -1);
}

/* ---- values */

static const char *const factor_names[STA_FACTORS] = {[STA_FACTOR_STORAGE] = "storage",
                                                      [STA_FACTOR_PREPROCESS] = "preprocess",
                                                      [STA_FACTOR_OTHER] = "other",
                                                      [STA_FACTOR_COMPUTE] = "compute",
                                                      [STA_FACTOR_CHECKPOINT] = "checkpoint"};

const char *sta_sweepable_name(unsigned sweepable)
{
    return sweepable == STA_SWEEP_WORKERS    ? "workers"
           : sweepable == STA_SWEEP_PREFETCH ? "prefetch"
                                             : factor_names[sweepable - STA_SWEEP_FACTORS];
}

/* Which of the sweepable members a name is; STA_SWEEPABLES: none. */
static unsigned sweepable_of(const char *name)
{
    unsigned i = 0;
    while (i < STA_SWEEPABLES && strcmp(sta_sweepable_name(i), name) != 0)
        i++;
    return i;
}

static int read_count(const struct sta_document *value, int64_t low, int64_t high, const char *path,
                      int64_t *count, struct sta_error *err)
{
    if (value->type != STA_DOCUMENT_INT || value->integer < low || value->integer > high) {
        if (high == INT64_MAX)
            return sta_bad(err, path, "must be an integer of at least %lld", (long long)low);
        return sta_bad(err, path, "must be an integer from %lld to %lld", (long long)low, (long long)high);
    }
    *count = value->integer;
    return STA_OK;
}

/* Sets a member of a scenario that can be swept. */
static int set_sweepable(struct sta_scenario *scenario, unsigned sweepable, const struct sta_document *value,
                         const char *path, struct sta_error *err)
{
    int64_t count = 0;
    double factor;
    if (sweepable == STA_SWEEP_WORKERS) {
        int rc = read_count(value, 0, STA_SCENARIO_WORKERS, path, &count, err);
        scenario->has_workers = true;
        scenario->workers = (uint32_t)count;
        return rc;
    }
    if (sweepable == STA_SWEEP_PREFETCH) {
        int rc = read_count(value, 1, STA_SCENARIO_PREFETCH, path, &count, err);
        scenario->prefetch = (uint32_t)count;
        return rc;
    }
    if (!sta_document_number(value, &factor) || !(factor >= 0 && factor <= MOST_FACTOR))
        return sta_bad(err, path, "must be a number from 0 to 100");
    scenario->factors[sweepable - STA_SWEEP_FACTORS] = factor;
    return STA_OK;
}

static int set_cache(struct sta_scenario *scenario, const struct sta_document *value, const char *path,
                     struct sta_error *err)
{
    const struct sta_document *bytes =
        value->type == STA_DOCUMENT_OBJECT ? sta_document_member(value, "bytes") : NULL;
    const struct sta_document *speed = bytes != NULL ? sta_document_member(value, "speed") : NULL;
    char inner[PATH_SIZE + 16];
    if (bytes == NULL || value->count != 1 + (size_t)(speed != NULL))
        return sta_bad(err, path, "must be {\"bytes\": n, \"speed\"?: bytes per second}");
    scenario->has_cache = true;
    scenario->cache_speed = STA_CACHE_SPEED;
    snprintf(inner, sizeof inner, "%s.bytes", path);
    int rc = read_count(bytes, 0, INT64_MAX, inner, &scenario->cache_bytes, err);
    snprintf(inner, sizeof inner, "%s.speed", path);
    if (rc == STA_OK && speed != NULL)
        rc = read_count(speed, 1, INT64_MAX, inner, &scenario->cache_speed, err);
    return rc;
}

static int set_member(struct sta_scenario *scenario, const struct sta_document *member, const char *path,
                      struct sta_error *err)
{
    const unsigned sweepable = sweepable_of(member->name);
    if (sweepable < STA_SWEEPABLES)
        return set_sweepable(scenario, sweepable, member, path, err);
    if (strcmp(member->name, "name") == 0) {
        if (member->type != STA_DOCUMENT_TEXT || member->text.length == 0)
            return sta_bad(err, path, "must be a text");
        scenario->name = member->text.bytes;
        return STA_OK;
    }
    if (strcmp(member->name, "cache") == 0)
        return set_cache(scenario, member, path, err);
    if (strcmp(member->name, "stragglers") == 0) {
        if (member->type != STA_DOCUMENT_TEXT || strcmp(member->text.bytes, "median") != 0)
            return sta_bad(err, path, "must be \"median\"");
        scenario->median = true;
        return STA_OK;
    }
    if (strcmp(member->name, "barrier") == 0) {
        if (member->type != STA_DOCUMENT_BOOL)
            return sta_bad(err, path, "must be true or false");
        scenario->has_barrier = true;
        scenario->barrier = member->truth;
        return STA_OK;
    }
    return sta_bad(err, path,
                   "is unknown; known are name, workers, prefetch, storage, preprocess, other, compute, "
                   "checkpoint, cache, stragglers, barrier");
}

static int read_scenario(const struct sta_document *value, const char *path, struct sta_scenario *scenario,
                         struct sta_error *err)
{
    *scenario = sta_scenario_unchanged;
    if (value->type != STA_DOCUMENT_OBJECT)
        return sta_bad(err, path, "must be an object");
    for (const struct sta_document *member = value->first; member != NULL; member = member->next) {
        char inner[PATH_SIZE];
        snprintf(inner, sizeof inner, "%s.%.80s", path, member->name);
        if (set_member(scenario, member, inner, err) != STA_OK)
            return err->status;
    }
    return STA_OK;
}

/* ---- names of scenarios that have none: "workers=4, storage=0.5" */

static void put_value(struct sta_buffer *out, const struct sta_document *value)
{
    if (value->type == STA_DOCUMENT_INT)
        sta_put_int(out, value->integer);
    else if (value->type == STA_DOCUMENT_FLOAT)
        sta_put_double(out, value->number);
    else if (value->type == STA_DOCUMENT_BOOL)
        sta_put_text(out, value->truth ? "true" : "false");
    else if (value->type == STA_DOCUMENT_TEXT)
        sta_put_json_string(out, value->text.bytes, value->text.length);
    else if (value->type == STA_DOCUMENT_OBJECT) {
        sta_put_char(out, '{');
        for (const struct sta_document *member = value->first; member != NULL; member = member->next) {
            sta_put_text(out, member == value->first ? "" : ", ");
            sta_put_json_string(out, member->name, strlen(member->name));
            sta_put_text(out, ": ");
            put_value(out, member);
        }
        sta_put_char(out, '}');
    }
}

static const char *make_name(const struct sta_document *value, struct sta_arena *memory)
{
    static const char *const order[] = {"workers", "prefetch",   "storage", "preprocess", "other",
                                        "compute", "checkpoint", "cache",   "stragglers", "barrier"};
    struct sta_buffer name;
    sta_buffer_init(&name);
    for (size_t i = 0; i < STA_COUNT_OF(order); i++) {
        const struct sta_document *member = sta_document_member(value, order[i]);
        if (member == NULL)
            continue;
        sta_put_format(&name, "%s%s=", name.size > 0 ? ", " : "", order[i]);
        put_value(&name, member);
    }
    if (name.size == 0)
        sta_put_text(&name, "unchanged");
    const char *copy = sta_arena_copy(memory, name.data, name.size);
    sta_buffer_fini(&name);
    return copy;
}

/* ---- the parts of a request */

static int read_scenarios(const struct sta_document *list, struct sta_whatif_request *read,
                          struct sta_error *err)
{
    if (list == NULL)
        return STA_OK;
    if (list->type != STA_DOCUMENT_LIST || list->count > MOST_SCENARIOS)
        return sta_bad(err, "scenarios", "must be a list of at most %d", MOST_SCENARIOS);
    read->scenarios = sta_arena_alloc(&read->memory, (list->count + 1) * sizeof *read->scenarios,
                                      _Alignof(struct sta_scenario));
    for (const struct sta_document *value = list->first; value != NULL; value = value->next) {
        struct sta_scenario *scenario = &read->scenarios[read->scenario_count];
        char path[40];
        snprintf(path, sizeof path, "scenarios[%zu]", read->scenario_count++);
        if (read_scenario(value, path, scenario, err) != STA_OK)
            return err->status;
        if (scenario->name == NULL)
            scenario->name = make_name(value, &read->memory);
    }
    return STA_OK;
}

static int read_swept(const struct sta_document *member, struct sta_scenario_sweep *sweep,
                      struct sta_error *err)
{
    struct sta_scenario ignored = sta_scenario_unchanged;
    const unsigned sweepable = sweepable_of(member->name);
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "sweep.%.80s", member->name);
    if (sweepable == STA_SWEEPABLES)
        return sta_bad(err, path,
                       "is unknown; known are with, workers, prefetch, storage, preprocess, other, compute, "
                       "checkpoint");
    if (member->type != STA_DOCUMENT_LIST || member->count == 0)
        return sta_bad(err, path, "must be a list of values");
    for (const struct sta_document *value = member->first; value != NULL; value = value->next)
        if (set_sweepable(&ignored, sweepable, value, path, err) != STA_OK)
            return err->status;
    sweep->values[sweepable] = member;
    return STA_OK;
}

static int read_sweep(const struct sta_document *value, struct sta_scenario_sweep *sweep,
                      struct sta_error *err)
{
    sweep->base = sta_scenario_unchanged;
    if (value == NULL)
        return STA_OK;
    if (value->type != STA_DOCUMENT_OBJECT)
        return sta_bad(err, "sweep", "must be an object");
    for (const struct sta_document *member = value->first; member != NULL; member = member->next) {
        int rc = strcmp(member->name, "with") == 0 ? read_scenario(member, "sweep.with", &sweep->base, err)
                                                   : read_swept(member, sweep, err);
        if (rc != STA_OK)
            return rc;
    }
    sweep->asked = value->count > 0;
    sweep->count = 1;
    for (unsigned i = 0; i < STA_SWEEPABLES; i++) {
        if (sweep->values[i] == NULL)
            continue;
        sweep->has_keys = true;
        if (sweep->values[i]->count > MOST_COMBINATIONS / sweep->count)
            return sta_bad(err, "sweep", "asks for more than %d combinations", MOST_COMBINATIONS);
        sweep->count *= sweep->values[i]->count;
    }
    if (!sweep->has_keys)
        sweep->count = 0;
    return STA_OK;
}

static int read_detail(const struct sta_document *list, struct sta_whatif_request *read,
                       struct sta_error *err)
{
    if (list == NULL)
        return STA_OK;
    const struct {
        const char *name;
        bool *flag;
    } words[] = {{"ranks", &read->ranks}, {"epochs", &read->epochs}, {"steps", &read->steps}};
    bool good = list->type == STA_DOCUMENT_LIST;
    for (const struct sta_document *value = list->first; good && value != NULL; value = value->next) {
        size_t i = 0;
        while (value->type == STA_DOCUMENT_TEXT && i < 3 && strcmp(words[i].name, value->text.bytes) != 0)
            i++;
        good = value->type == STA_DOCUMENT_TEXT && i < 3;
        if (good)
            *words[i].flag = true;
    }
    return good ? STA_OK : sta_bad(err, "detail", "may list ranks, epochs, steps");
}

/* Parameters are paths here, not pointers. */
static int check_members(const struct sta_document *request, const char *const *known, size_t count,
                         struct sta_error *err)
{
    char name[sizeof err->parameter];
    if (sta_document_check(request, "here", known, count, err) == STA_OK)
        return STA_OK;
    snprintf(name, sizeof name, "%s", err->parameter + strlen("/"));
    return sta_at(err, name, -1);
}

int sta_whatif_assumption(const struct sta_document *request, struct sta_assumption *assumed,
                          struct sta_error *err)
{
    const struct sta_document *value = sta_document_member(request, "assume");
    *assumed = (struct sta_assumption){0};
    if (value == NULL)
        return STA_OK;
    if (value->type != STA_DOCUMENT_OBJECT)
        return sta_bad(err, "assume", "may hold batch and prefetch");
    for (const struct sta_document *member = value->first; member != NULL; member = member->next) {
        int64_t count = 0;
        bool batch = strcmp(member->name, "batch") == 0;
        if (!batch && strcmp(member->name, "prefetch") != 0)
            return sta_bad(err, "assume", "may hold batch and prefetch");
        if (member->type != STA_DOCUMENT_INT || member->integer < 1 ||
            (!batch && member->integer > STA_SCENARIO_PREFETCH))
            return sta_bad(err, batch ? "assume.batch" : "assume.prefetch", "must be a positive integer");
        count = member->integer;
        if (batch)
            assumed->batch = count;
        else
            assumed->prefetch = (uint32_t)count;
    }
    return STA_OK;
}

int sta_whatif_request_read(const struct sta_document *request, struct sta_whatif_request *read,
                            struct sta_error *err)
{
    static const char *const known[] = {"assume", "detail", "scenarios", "sweep", "timeline"};
    struct sta_assumption assumed;
    *read = (struct sta_whatif_request){0};
    int rc = check_members(request, known, STA_COUNT_OF(known), err);
    if (rc == STA_OK)
        rc = sta_whatif_assumption(request, &assumed, err);
    if (rc == STA_OK)
        rc = read_scenarios(sta_document_member(request, "scenarios"), read, err);
    if (rc == STA_OK)
        rc = read_sweep(sta_document_member(request, "sweep"), &read->sweep, err);
    if (rc == STA_OK)
        rc = read_detail(sta_document_member(request, "detail"), read, err);
    read->timeline = sta_document_member(request, "timeline");
    if (rc != STA_OK)
        sta_whatif_request_fini(read);
    return rc;
}

void sta_whatif_request_fini(struct sta_whatif_request *read)
{
    sta_arena_fini(&read->memory);
    *read = (struct sta_whatif_request){0};
}

int sta_whatif_check_request(const struct sta_document *request, struct sta_error *err)
{
    struct sta_whatif_request read;
    int rc = sta_whatif_request_read(request, &read, err);
    if (rc == STA_OK)
        sta_whatif_request_fini(&read);
    return rc;
}

/* ---- combinations */

static const struct sta_document *value_at(const struct sta_scenario_sweep *sweep, unsigned sweepable,
                                           size_t combination)
{
    size_t behind = 1; /* combinations of the factors that vary faster */
    for (unsigned i = sweepable + 1; i < STA_SWEEPABLES; i++)
        if (sweep->values[i] != NULL)
            behind *= sweep->values[i]->count;
    size_t place = combination / behind % sweep->values[sweepable]->count;
    const struct sta_document *value = sweep->values[sweepable]->first;
    while (place-- > 0)
        value = value->next;
    return value;
}

size_t sta_sweep_groups(const struct sta_scenario_sweep *sweep)
{
    const struct sta_document *workers = sweep->values[STA_SWEEP_WORKERS];
    return workers != NULL && workers->count > 0 ? sweep->count / workers->count : 0;
}

double sta_sweep_value(const struct sta_scenario_sweep *sweep, unsigned sweepable, size_t combination)
{
    double number = 0;
    (void)sta_document_number(value_at(sweep, sweepable, combination), &number);
    return number;
}

struct sta_scenario sta_sweep_scenario(const struct sta_scenario_sweep *sweep, size_t combination)
{
    struct sta_scenario scenario = sweep->base;
    struct sta_error ignored = STA_ERROR_INIT; /* the values were checked when the request was read */
    for (unsigned i = 0; i < STA_SWEEPABLES; i++)
        if (sweep->values[i] != NULL)
            STA_ASSERT(set_sweepable(&scenario, i, value_at(sweep, i, combination), "sweep", &ignored) ==
                       STA_OK);
    return scenario;
}

/* ---- alignments */

static int read_alignments(const struct sta_document *list, const char *name, struct sta_align_value *values,
                           size_t *count, struct sta_error *err)
{
    const struct sta_alignments all = sta_alignments_all();
    bool good = list->type == STA_DOCUMENT_LIST && list->count > 0 && list->count <= STA_COUNT_OF(all.fetch);
    *count = 0;
    for (const struct sta_document *value = list->first; good && value != NULL; value = value->next) {
        bool avg = value->type == STA_DOCUMENT_TEXT && strcmp(value->text.bytes, "avg") == 0;
        bool min = value->type == STA_DOCUMENT_TEXT && strcmp(value->text.bytes, "min") == 0;
        bool none =
            value->type == STA_DOCUMENT_TEXT && strcmp(value->text.bytes, "false") == 0; /* of a query */
        good = avg || min || none || (value->type == STA_DOCUMENT_BOOL && !value->truth);
        values[(*count)++] = all.fetch[avg ? 1 : min ? 2 : 0];
    }
    return good ? STA_OK : sta_bad(err, name, "must be a list of false, \"avg\", \"min\"");
}

int sta_align_request_read(const struct sta_document *request, struct sta_align_request *read,
                           struct sta_error *err)
{
    static const char *const known[] = {"assume", "epoch", "fetch_align", "skip", "start_align"};
    struct sta_assumption assumed;
    *read = (struct sta_align_request){.alignments = sta_alignments_all()};
    int rc = check_members(request, known, STA_COUNT_OF(known), err);
    for (const struct sta_document *member = request->first; rc == STA_OK && member != NULL;
         member = member->next) {
        if (strcmp(member->name, "fetch_align") == 0) {
            rc = read_alignments(member, "fetch_align", read->alignments.fetch, &read->alignments.fetch_count,
                                 err);
            read->has_fetch = true;
        } else if (strcmp(member->name, "start_align") == 0) {
            rc = read_alignments(member, "start_align", read->alignments.start, &read->alignments.start_count,
                                 err);
            read->has_start = true;
        } else if (strcmp(member->name, "epoch") == 0) {
            rc = read_count(member, 1, INT64_MAX, "epoch", &read->epoch, err);
            read->has_epoch = true;
        } else if (strcmp(member->name, "skip") == 0) {
            rc = read_count(member, 0, INT64_MAX, "skip", &read->skip, err);
            read->has_skip = true;
        }
    }
    return rc == STA_OK ? sta_whatif_assumption(request, &assumed, err) : rc;
}

void sta_align_request_apply(const struct sta_align_request *request, struct sta_alignments *alignments)
{
    if (request->has_fetch) {
        memcpy(alignments->fetch, request->alignments.fetch, sizeof alignments->fetch);
        alignments->fetch_count = request->alignments.fetch_count;
    }
    if (request->has_start) {
        memcpy(alignments->start, request->alignments.start, sizeof alignments->start);
        alignments->start_count = request->alignments.start_count;
    }
}
