/* Overlap of random traces, through the store, against a timeline of single microseconds.
 *
 * A trace of many hosts is as many small traces: each host has its own few processes and events, so that one
 * request checks hundreds. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "built_in.h"
#include "common/account.h"
#include "common/memory.h"
#include "made_trace.h"
#include "peers.h"

#define HOSTS 250
#define MOST_EVENTS 24 /* of a host */
#define PIDS 3
#define HORIZON 90
#define SETS 3
#define MASKS (1 << SETS)

static const char *const names[SETS] = {"one", "two", "short"};
static const char *const conditions[SETS] = {"cat in [\"a\", \"ab\"]", "cat in [\"b\", \"ab\"]", "dur < 3"};
static const char *const cats[] = {"a", "b", "ab", "c"};

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % limit;
}

struct scene {
    struct made_event events[HOSTS * MOST_EVENTS + 1];
    size_t count;
    char hosts[HOSTS][16];
    struct made_trace trace;
    struct sta_presets *presets;
    bool window;
    int64_t from, to; /* microseconds */
};

/* ---- traces */

static struct made_event make_event(const char *host, uint32_t horizon)
{
    int64_t ts = below(horizon);
    int64_t dur = below(4) == 0 ? 0 : below(3) == 0 ? below(horizon) : below(5);
    return (struct made_event){.source = "rank-0",
                               .ts = ts,
                               .dur = STA_MIN(dur, HORIZON - ts),
                               .name = "call",
                               .cat = cats[below(4)],
                               .host = host,
                               .pid = 1 + below(PIDS),
                               .tid = below(2)};
}

static void make_scene(struct scene *scene, uint64_t seed)
{
    memset(scene, 0, sizeof *scene);
    state = seed;
    scene->events[scene->count++] = (struct made_event){
        .source = "rank-0", .name = "start", .cat = "d", .host = "zero", .pid = 1, .tid = 1}; /* the origin */
    for (int h = 0; h < HOSTS; h++) {
        snprintf(scene->hosts[h], sizeof scene->hosts[h], "h%03u", (unsigned)h % 1000);
        uint32_t horizon = h % 2 ? HORIZON : 12; /* few distinct times: touching, equal and nested events */
        uint32_t count = below(MOST_EVENTS);
        for (uint32_t i = 0; i < count; i++) {
            bool twin = i > 0 && below(8) == 0; /* twice the same */
            scene->events[scene->count] =
                twin ? scene->events[scene->count - 1] : make_event(scene->hosts[h], horizon);
            scene->count++;
        }
    }
    scene->window = seed % 3 == 0;
    scene->from = scene->window ? below(HORIZON / 2) : 0;
    scene->to = scene->window ? scene->from + below(HORIZON / 2) : HORIZON + 1;
    made_trace_init(&scene->trace, scene->events, scene->count, 1 + below(400), 1 + below(8));
    scene->presets = load_built_in(NULL);
}

static void end_scene(struct scene *scene)
{
    sta_presets_release(scene->presets);
    made_trace_fini(&scene->trace);
}

/* ---- requests */

static struct sta_document *add_text(struct sta_arena *arena, struct sta_document *object, const char *name,
                                     const char *text)
{
    struct sta_document *value = sta_document_text(arena, text, strlen(text));
    sta_document_append(arena, object, name, value);
    return value;
}

static void add_number(struct sta_arena *arena, struct sta_document *object, const char *name, double number)
{
    struct sta_document *value = sta_document_create(arena, STA_DOCUMENT_FLOAT);
    value->number = number;
    sta_document_append(arena, object, name, value);
}

static struct sta_document *make_request(const struct scene *scene, struct sta_arena *arena,
                                         const char *scope)
{
    struct sta_document *request = sta_document_create(arena, STA_DOCUMENT_OBJECT);
    struct sta_document *sets = sta_document_create(arena, STA_DOCUMENT_OBJECT);
    sta_document_append(arena, request, "sets", sets);
    for (int s = 0; s < SETS; s++)
        add_text(arena, sets, names[s], conditions[s]);
    add_text(arena, request, "scope", scope);
    if (scene->window) {
        add_number(arena, request, "from", (double)scene->from / 1e6);
        add_number(arena, request, "to", (double)scene->to / 1e6);
    }
    return request;
}

static struct sta_overlap_query query_of(const struct scene *scene, const struct sta_document *request)
{
    return (struct sta_overlap_query){.snapshot = scene->trace.snapshot,
                                      .presets = scene->presets,
                                      .trace_preset = "generic",
                                      .request = request};
}

/* ---- the timeline of a unit */

struct unit {
    int64_t start, end; /* start > end: no event */
    int64_t events[SETS], instant[SETS], time[SETS];
    uint32_t active[SETS][HORIZON + 1];
};

static bool is_in(const struct made_event *event, int set)
{
    if (set == 2)
        return event->dur < 3;
    return strcmp(event->cat, "ab") == 0 || strcmp(event->cat, set == 0 ? "a" : "b") == 0;
}

/* @pid: 0 takes all of the host. */
static void make_unit(const struct scene *scene, const char *host, int64_t pid, struct unit *unit)
{
    *unit = (struct unit){.start = INT64_MAX, .end = INT64_MIN};
    for (size_t i = 0; i < scene->count; i++) {
        const struct made_event *event = &scene->events[i];
        int64_t te = event->ts + event->dur;
        if (strcmp(event->host, host) != 0 || (pid != 0 && event->pid != pid) || event->ts >= scene->to ||
            (event->ts < scene->from && te <= scene->from))
            continue;
        int64_t from = STA_MAX(event->ts, scene->from);
        int64_t to = STA_MIN(te, scene->to);
        unit->start = STA_MIN(unit->start, from);
        unit->end = STA_MAX(unit->end, to);
        for (int s = 0; s < SETS; s++) {
            if (!is_in(event, s))
                continue;
            unit->events[s]++;
            unit->instant[s] += from == to;
            unit->time[s] += to - from;
            for (int64_t t = from; t < to; t++)
                unit->active[s][t]++;
        }
    }
}

static unsigned mask_at(const struct unit *unit, int64_t t)
{
    unsigned mask = 0;
    for (int s = 0; s < SETS; s++)
        mask |= (unsigned)(unit->active[s][t] > 0) << s;
    return mask;
}

/* Microseconds of the span in which all sets of @yes and none of @no are active. */
static int64_t measure(const struct unit *unit, unsigned yes, unsigned no)
{
    int64_t sum = 0;
    for (int64_t t = unit->start; t < unit->end; t++)
        sum += (mask_at(unit, t) & yes) == yes && (mask_at(unit, t) & no) == 0;
    return sum;
}

/* ---- answers against it */

static int64_t us(double seconds)
{
    return llround(seconds * 1e6);
}

static int64_t cell(const struct sta_table *table, const char *column, size_t row)
{
    const struct sta_table_column *found = sta_table_find(table, column);
    cr_assert_not_null(found, "no column %s", column);
    return found->type == STA_TYPE_FLOAT ? us(found->numbers[row]) : found->integers[row];
}

static void expect(const struct sta_table *table, const char *column, size_t row, int64_t wanted,
                   uint64_t seed)
{
    cr_assert_eq(cell(table, column, row), wanted, "seed %lu row %zu: %s is %ld, not %ld",
                 (unsigned long)seed, row, column, (long)cell(table, column, row), (long)wanted);
}

static void check_row(const struct sta_table *table, size_t row, const struct unit *unit, uint64_t seed)
{
    static const char *const pairs[][3] = {{"one_and_two", "one_minus_two", "two_minus_one"},
                                           {"one_and_short", "one_minus_short", "short_minus_one"},
                                           {"two_and_short", "two_minus_short", "short_minus_two"}};
    static const unsigned members[][2] = {{1, 2}, {1, 4}, {2, 4}};
    char column[32];
    expect(table, "start", row, unit->start, seed);
    expect(table, "end", row, unit->end, seed);
    expect(table, "span", row, unit->end - unit->start, seed);
    expect(table, "idle", row, measure(unit, 0, MASKS - 1), seed);
    for (int s = 0; s < SETS; s++) {
        snprintf(column, sizeof column, "%s_events", names[s]);
        expect(table, column, row, unit->events[s], seed);
        snprintf(column, sizeof column, "%s_busy", names[s]);
        expect(table, column, row, measure(unit, 1u << s, 0), seed);
    }
    for (size_t p = 0; p < STA_COUNT_OF(pairs); p++) {
        expect(table, pairs[p][0], row, measure(unit, members[p][0] | members[p][1], 0), seed);
        expect(table, pairs[p][1], row, measure(unit, members[p][0], members[p][1]), seed);
        expect(table, pairs[p][2], row, measure(unit, members[p][1], members[p][0]), seed);
    }
}

struct totals {
    int64_t instant[SETS], time[SETS];
    int64_t groups[MASKS];
    int64_t concurrency[SETS][MOST_EVENTS * 2];
};

static void add_unit(struct totals *totals, const struct unit *unit)
{
    for (int s = 0; s < SETS; s++) {
        totals->instant[s] += unit->instant[s];
        totals->time[s] += unit->time[s];
        for (int64_t t = unit->start; t < unit->end; t++)
            totals->concurrency[s][unit->active[s][t]]++;
    }
    for (int64_t t = unit->start; t < unit->end; t++)
        totals->groups[mask_at(unit, t)]++;
}

static unsigned mask_of_list(struct sta_text list)
{
    unsigned mask = 0;
    char quoted[16];
    for (int s = 0; s < SETS; s++) {
        snprintf(quoted, sizeof quoted, "\"%s\"", names[s]);
        mask |= (unsigned)(strstr(list.bytes, quoted) != NULL) << s;
    }
    return mask;
}

static void check_totals(const struct sta_overlap_result *answer, struct totals *totals, uint64_t seed)
{
    for (size_t s = 0; s < SETS; s++) {
        expect(&answer->sets, "instant", s, totals->instant[s], seed);
        expect(&answer->sets, "time", s, totals->time[s], seed);
    }
    for (size_t row = 0; row < answer->groups.rows; row++) {
        unsigned mask = mask_of_list(sta_table_find(&answer->groups, "sets")->texts[row]);
        expect(&answer->groups, "time", row, totals->groups[mask], seed);
        totals->groups[mask] = 0;
    }
    for (unsigned mask = 1; mask < MASKS; mask++)
        cr_assert_eq(totals->groups[mask], 0, "seed %lu lacks combination %u", (unsigned long)seed, mask);
    for (size_t row = 0; row < answer->concurrency.rows; row++) {
        const char *set = sta_table_find(&answer->concurrency, "set")->texts[row].bytes;
        size_t s = 0;
        while (strcmp(names[s], set) != 0)
            s++;
        int64_t *time = &totals->concurrency[s][cell(&answer->concurrency, "active", row)];
        expect(&answer->concurrency, "time", row, *time, seed);
        *time = 0;
    }
    for (size_t s = 0; s < SETS; s++)
        for (size_t k = 0; k < STA_COUNT_OF(totals->concurrency[s]); k++)
            cr_assert_eq(totals->concurrency[s][k], 0, "seed %lu lacks %zu of %s", (unsigned long)seed, k,
                         names[s]);
}

static void check_answer(const struct scene *scene, const struct sta_overlap_result *answer, bool processes,
                         uint64_t seed)
{
    static struct totals totals;
    static struct unit unit;
    size_t row = 0;
    memset(&totals, 0, sizeof totals);
    for (int h = 0; h <= HOSTS; h++)
        for (int64_t pid = processes ? 1 : 0; pid <= (processes ? PIDS : 0); pid++) {
            const char *host = h < HOSTS ? scene->hosts[h] : "zero";
            make_unit(scene, host, pid, &unit);
            if (unit.start > unit.end)
                continue;
            cr_assert_str_eq(sta_table_find(&answer->per_scope, "host_name")->texts[row].bytes, host);
            check_row(&answer->per_scope, row++, &unit, seed);
            add_unit(&totals, &unit);
        }
    cr_assert_eq(row, answer->per_scope.rows, "seed %lu: %zu units, not %zu", (unsigned long)seed,
                 answer->per_scope.rows, row);
    check_totals(answer, &totals, seed);
}

Test(overlap, equals_a_timeline_of_microseconds)
{
    struct scene *scene = sta_alloc(sizeof *scene);
    unsigned shared = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        make_scene(scene, seed);
        for (int processes = 0; processes < 2; processes++) {
            struct sta_arena arena = {0};
            struct sta_overlap_result answer;
            struct sta_error err = STA_ERROR_INIT;
            struct sta_budget budget = {.workers = 1 + (unsigned)(seed % 3), .memory = 64 << 20};
            struct sta_overlap_query query =
                query_of(scene, make_request(scene, &arena, processes ? "process" : "host"));
            struct peers peers;
            peers_init(&peers, 2 + (unsigned)(seed % 3), scene->presets, scene->trace.snapshot);
            peers.status[1] = seed % 5 == 0 ? STA_EOUTDATED : STA_OK;
            budget.peers = seed % 4 == 0 ? NULL : &peers.calls;
            cr_assert_eq(sta_overlap_run(&query, &budget, &answer, &err), 0, "%s", err.text);
            check_answer(scene, &answer, processes, seed);
            cr_assert_eq(peers.ended, peers.asked_count);
            shared += peers.asked_count;
            peers_fini(&peers);
            sta_overlap_result_fini(&answer);
            sta_arena_fini(&arena);
        }
        end_scene(scene);
    }
    cr_assert_gt(shared, 5, "%u questions were shared", shared);
    free(scene);
}

/* ---- intervals */

static bool only_one(unsigned mask)
{
    return (mask & 3) == 1;
}

static bool not_short(unsigned mask)
{
    return (mask & 4) == 0;
}

static bool nothing(unsigned mask)
{
    return mask == 0;
}

static const struct {
    const char *where;
    bool (*holds)(unsigned mask);
} wheres[] = {{"one and not two", only_one}, {"not short", not_short}, {"idle", nothing}};

static size_t check_intervals(const struct sta_table *table, size_t row, const struct unit *unit,
                              bool (*holds)(unsigned), uint64_t seed)
{
    for (int64_t t = unit->start; t < unit->end; t++) {
        int64_t end = t;
        while (end < unit->end && holds(mask_at(unit, end)))
            end++;
        if (end == t)
            continue;
        cr_assert_lt(row, table->rows, "seed %lu: too few intervals", (unsigned long)seed);
        expect(table, "start", row, t, seed);
        expect(table, "end", row, end, seed);
        expect(table, "time", row++, end - t, seed);
        t = end;
    }
    return row;
}

Test(overlap, intervals_are_the_longest_intervals_in_which_a_condition_holds)
{
    struct scene *scene = sta_alloc(sizeof *scene);
    static struct unit unit;
    for (uint64_t seed = 20; seed < 20 + 2 * STA_COUNT_OF(wheres); seed++) {
        struct sta_arena arena = {0};
        struct sta_table table;
        struct sta_error err = STA_ERROR_INIT;
        struct sta_budget budget = {.workers = 2, .memory = 64 << 20};
        size_t which = seed % STA_COUNT_OF(wheres);
        make_scene(scene, seed);
        struct sta_document *request = make_request(scene, &arena, "host");
        add_text(&arena, request, "where", wheres[which].where);
        struct sta_overlap_query query = query_of(scene, request);
        cr_assert_eq(sta_overlap_intervals(&query, &budget, &table, &err), 0, "%s", err.text);
        size_t row = 0;
        for (int h = 0; h < HOSTS; h++) {
            make_unit(scene, scene->hosts[h], 0, &unit);
            row = check_intervals(&table, row, &unit, wheres[which].holds, seed);
        }
        cr_assert_eq(row, table.rows, "seed %lu: too many intervals", (unsigned long)seed);
        sta_table_fini(&table);
        sta_arena_fini(&arena);
        end_scene(scene);
    }
    free(scene);
}

/* ---- units that one worker meets late */

#define SEGMENTS 32
#define ROUNDS 12 /* events of a segment */
#define EARLY_UNITS 20

/* All but one segment share a few units; that one has others.  So the workers that do not read it have
 * counted fewer units than there are in the end. */
static void make_late_units(struct scene *scene)
{
    static char late[ROUNDS][8], early[EARLY_UNITS][8];
    memset(scene, 0, sizeof *scene);
    for (int i = 0; i < SEGMENTS * ROUNDS; i++) {
        bool is_late = i % SEGMENTS == SEGMENTS - 1;
        char *name = is_late ? late[i / SEGMENTS] : early[i % EARLY_UNITS];
        snprintf(name, sizeof late[0], "%s%d", is_late ? "l" : "e", is_late ? i / SEGMENTS : i % EARLY_UNITS);
        scene->events[scene->count++] = (struct made_event){
            .source = "rank-0", .ts = i, .name = name, .cat = "ab", .host = "h", .pid = 1, .tid = 1};
    }
    made_trace_init(&scene->trace, scene->events, scene->count, 1, SEGMENTS);
    scene->presets = load_built_in(NULL);
}

static void check_late_units(const struct sta_overlap_query *query)
{
    struct sta_overlap_result answer;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_budget budget = {.workers = 3, .memory = 64 << 20};
    cr_assert_eq(sta_overlap_run(query, &budget, &answer, &err), 0, "%s", err.text);
    cr_assert_eq(answer.per_scope.rows, EARLY_UNITS + ROUNDS);
    for (int s = 0; s < SETS; s++) {
        char column[16];
        int64_t events = 0;
        snprintf(column, sizeof column, "%s_events", names[s]);
        for (size_t row = 0; row < answer.per_scope.rows; row++)
            events += cell(&answer.per_scope, column, row);
        cr_assert_eq(events, SEGMENTS * ROUNDS, "%s: %ld events", names[s], (long)events);
    }
    sta_overlap_result_fini(&answer);
}

/* Which worker reads which segment is a matter of luck, so it is tried often. */
Test(overlap, units_that_only_one_worker_met_are_counted_once)
{
    struct scene *scene = sta_alloc(sizeof *scene);
    struct sta_arena arena = {0};
    make_late_units(scene);
    struct sta_document *request = sta_document_create(&arena, STA_DOCUMENT_OBJECT);
    struct sta_document *sets = sta_document_create(&arena, STA_DOCUMENT_OBJECT);
    struct sta_document *scope = sta_document_create(&arena, STA_DOCUMENT_LIST);
    sta_document_append(&arena, request, "sets", sets);
    sta_document_append(&arena, request, "scope", scope);
    for (int s = 0; s < SETS; s++)
        add_text(&arena, sets, names[s], "cat == \"ab\"");
    add_text(&arena, scope, NULL, "name");
    struct sta_overlap_query query = query_of(scene, request);
    for (int i = 0; i < 300; i++)
        check_late_units(&query);
    sta_arena_fini(&arena);
    end_scene(scene);
    free(scene);
}

/* ---- limits */

Test(overlap, memory_that_does_not_suffice_is_said)
{
    struct scene *scene = sta_alloc(sizeof *scene);
    struct sta_arena arena = {0};
    struct sta_overlap_result answer;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_account account;
    sta_account_init(&account, 1000, "query_memory", NULL);
    struct sta_budget budget = {.workers = 1, .memory = 1000, .account = &account};
    make_scene(scene, 3);
    struct sta_overlap_query query = query_of(scene, make_request(scene, &arena, "process"));
    cr_assert_eq(sta_overlap_run(&query, &budget, &answer, &err), STA_ELIMIT);
    cr_assert_not_null(strstr(err.text, "query_memory"), "%s", err.text);
    sta_account_fini(&account);
    sta_arena_fini(&arena);
    end_scene(scene);
    free(scene);
}
