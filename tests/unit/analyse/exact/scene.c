/* Random traces and slow answers. */
#include "scene.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../built_in.h"
#include "common/files.h"
#include "common/memory.h"

static const char *const names[] = {"run", "step", "read", "write", "close", "noise"};
static const char *const cats[] = {"app", "compute", "posix"};
static const char *const hosts[] = {"alpha", "beta"};
static const char *const files[] = {"/data/a1", "/data/b22", "plain", "/dev/null", "/x/a1"};
const char *const scene_layers[SCENE_LAYERS] = {"app", "compute", "io", "reader", "large"};

static const char preset_text[] =
    "description: for tests\n"
    "overlap_with: compute\n"
    "drop:\n  functions: [noise]\n  files: [/dev/]\n"
    "layers:\n"
    "  - {name: app, color: '#000001', condition: func_name == \"run\"}\n"
    "  - {name: compute, parent: app, color: '#000002', condition: cat == \"compute\"}\n"
    "  - name: io\n    color: '#000003'\n    condition: cat == \"posix\"\n"
    "    metrics: {read: func_name == \"read\", close: func_name == \"close\"}\n"
    "  - {name: reader, parent: io, color: '#000004', condition: 'func_name.isin([\"read\", \"write\"])'}\n"
    "  - {name: large, parent: io, color: '#000005', condition: size > 5000}\n"
    "views:\n  last: part(file_name, \"/\", 2)\n";

uint32_t scene_below(struct scene *scene, uint32_t limit)
{
    scene->random = scene->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(scene->random >> 33) % limit;
}

/* ---- traces */

static void make_event(struct scene *scene, struct scene_event *event)
{
    event->ts = scene_below(scene, scene_below(scene, 2) ? SCENE_HORIZON - 1 : 20);
    event->dur = scene_below(scene, 5) == 0    ? 0
                 : scene_below(scene, 10) == 0 ? SCENE_HORIZON - event->ts
                                               : scene_below(scene, 9);
    event->dur = STA_MIN(event->dur, SCENE_HORIZON - event->ts);
    event->size =
        scene_below(scene, 3) == 0 ? 0 : 1 + (int64_t)scene_below(scene, 1u << (1 + scene_below(scene, 30)));
    event->name = (int)scene_below(scene, STA_COUNT_OF(names));
    event->cat = (int)scene_below(scene, STA_COUNT_OF(cats));
    event->pid = 1 + scene_below(scene, SCENE_PROCESSES);
    event->tid = event->pid * 10 + scene_below(scene, 2);
    event->host = event->pid == SCENE_PROCESSES ? NOTHING : (int)(event->pid % STA_COUNT_OF(hosts));
    event->file = scene_below(scene, 3) == 0 ? NOTHING : (int)scene_below(scene, STA_COUNT_OF(files));
    event->step = scene_below(scene, 4) == 0 ? NOTHING : 1 + (int)scene_below(scene, 12);
}

static struct made_event made_of(const struct scene *scene, const struct scene_event *event,
                                 const char *source)
{
    struct made_event made = {.source = source,
                              .ts = event->ts,
                              .dur = event->dur,
                              .name = names[event->name],
                              .cat = cats[event->cat],
                              .host = event->host == NOTHING ? NULL : hosts[event->host],
                              .file = event->file == NOTHING ? NULL : files[event->file],
                              .pid = event->pid,
                              .tid = event->tid};
    size_t at = 0;
    if (event->size > 0)
        made.args[at++] = (struct made_arg){.key = "size_sum", .integer = event->size};
    if (event->step != NOTHING)
        made.args[at++] = (struct made_arg){.key = "step", .integer = event->step};
    if (scene->parents[event->pid - 1] != NOTHING)
        made.args[at++] = (struct made_arg){.key = "ppid", .integer = scene->parents[event->pid - 1]};
    return made;
}

/* Events of one source follow each other, each in order of time, as a tracer writes them. */
static int compare_made(const void *a, const void *b)
{
    const struct made_event *x = a;
    const struct made_event *y = b;
    int order = strcmp(x->source, y->source);
    return order != 0 ? order : (x->ts > y->ts) - (x->ts < y->ts);
}

void scene_shuffle(struct scene *scene)
{
    static const char *const sources[] = {"b.pfw", "a.pfw", "d.pfw", "c.pfw"};
    uint32_t most = 1 + scene_below(scene, STA_COUNT_OF(sources));
    for (size_t i = 0; i < scene->count; i++)
        scene->made[i] = made_of(scene, &scene->events[i], sources[scene_below(scene, most)]);
    qsort(scene->made, scene->count, sizeof *scene->made, compare_made);
}

void scene_make(struct scene *scene, uint64_t seed)
{
    *scene = (struct scene){.random = seed * 7919};
    for (int p = 0; p < SCENE_PROCESSES; p++)
        scene->parents[p] =
            scene_below(scene, 2) ? 1 + (int64_t)scene_below(scene, SCENE_PROCESSES) : NOTHING;
    scene->count = 1 + scene_below(scene, SCENE_EVENTS - 1);
    for (size_t i = 0; i < scene->count; i++)
        make_event(scene, &scene->events[i]);
    scene->events[0].ts = 0; /* the origin */
    scene->has_window = scene_below(scene, 3) == 0;
    scene->from = scene->has_window ? scene_below(scene, SCENE_HORIZON / 2) : 0;
    scene->to = scene->has_window ? scene->from + 1 + scene_below(scene, SCENE_HORIZON) : INT64_MAX;
    scene->has_filter = scene_below(scene, 4) == 0;
    scene->filters = scene_below(scene, 5) != 0;
    scene->g = 1 + scene_below(scene, 60);
    scene_shuffle(scene);
}

void scene_store(const struct scene *scene, struct made_trace *trace, uint32_t chunk_rows, unsigned workers)
{
    made_trace_init(trace, scene->made, scene->count, chunk_rows, workers);
}

struct sta_presets *scene_presets(void)
{
    char folder[] = "/tmp/strata-scene-XXXXXX";
    cr_assert_not_null(mkdtemp(folder));
    char *path = sta_sprintf("%s/scene.yaml", folder);
    FILE *file = fopen(path, "w");
    cr_assert(file != NULL && fputs(preset_text, file) >= 0 && fclose(file) == 0);
    struct sta_presets *presets = load_built_in(folder);
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_tree_remove(folder, &err), 0);
    free(path);
    return presets;
}

struct sta_view_query scene_query(const struct scene *scene, struct sta_snapshot *snapshot,
                                  const struct sta_presets *presets)
{
    return (struct sta_view_query){.snapshot = snapshot,
                                   .presets = presets,
                                   .preset = "scene",
                                   .filters = scene->filters,
                                   .has_from = scene->has_window,
                                   .has_to = scene->has_window,
                                   .from = (double)scene->from / 1e6,
                                   .to = scene->has_window ? (double)scene->to / 1e6 : 0,
                                   .filter = scene->has_filter ? "pid != 3" : NULL};
}

/* ---- what an event means */

static bool is_asked(const struct scene *scene, const struct scene_event *event)
{
    bool dropped = strcmp(names[event->name], "noise") == 0 ||
                   (event->file != NOTHING && strstr(files[event->file], "/dev/") != NULL);
    return !(scene->filters && dropped) && !(scene->has_filter && event->pid == 3);
}

static bool in_layer(const struct scene *scene, const struct scene_event *event, int layer)
{
    const char *name = names[event->name];
    if (!is_asked(scene, event))
        return false;
    switch (layer) {
    case 0:
        return strcmp(name, "run") == 0;
    case 1:
        return strcmp(cats[event->cat], "compute") == 0;
    case 2:
        return strcmp(cats[event->cat], "posix") == 0;
    case 3:
        return strcmp(name, "read") == 0 || strcmp(name, "write") == 0;
    default:
        return event->size > 5000;
    }
}

static bool in_children(const struct scene *scene, const struct scene_event *event, int layer)
{
    if (layer == 0)
        return in_layer(scene, event, 1);
    return layer == 2 && (in_layer(scene, event, 3) || in_layer(scene, event, 4));
}

void slow_key(const struct scene_event *event, const char *by, char key[64])
{
    const char *file = event->file == NOTHING ? NULL : files[event->file];
    const char *host = event->host == NOTHING ? "" : hosts[event->host];
    key[0] = '\0';
    if (strcmp(by, "process") == 0)
        snprintf(key, 64, "%s|%ld", host, (long)event->pid);
    else if (strcmp(by, "thread") == 0)
        snprintf(key, 64, "%s|%ld|%ld", host, (long)event->pid, (long)event->tid);
    else if (strcmp(by, "host_name") == 0)
        snprintf(key, 64, "%s", host);
    else if (strcmp(by, "func_name") == 0)
        snprintf(key, 64, "%s", names[event->name]);
    else if (strcmp(by, "cat") == 0)
        snprintf(key, 64, "%s", cats[event->cat]);
    else if (strcmp(by, "step") == 0 && event->step != NOTHING)
        snprintf(key, 64, "%d", event->step);
    else if (strcmp(by, "file_name") == 0 && file != NULL)
        snprintf(key, 64, "%s", file);
    else if (strcmp(by, "file_dir") == 0 && file != NULL && strrchr(file, '/') != NULL)
        snprintf(key, 64, "%.*s", (int)(strrchr(file, '/') - file), file);
    else if (strcmp(by, "file_dir") == 0 && file != NULL)
        snprintf(key, 64, ".");
    else if (strcmp(by, "last") == 0 && file != NULL && strrchr(file, '/') != NULL)
        snprintf(key, 64, "%s", strrchr(file, '/') + 1);
}

/* ---- places */

/* The part of time that the place is about. */
static void interval_of(const struct slow_place *place, int64_t *from, int64_t *to)
{
    const struct scene *scene = place->scene;
    *from = scene->from;
    *to = scene->to;
    if (place->by == NULL || strcmp(place->by, "time_range") != 0)
        return;
    int64_t bin = strtoll(place->key, NULL, 10);
    *from = STA_MAX(*from, bin * scene->g);
    *to = STA_MIN(*to, (bin + 1) * scene->g);
}

/* What of an event lies in the place's row. */
struct piece {
    int64_t from, to, size;
    bool starts;
};

static bool in_row(const struct slow_place *place, const struct scene_event *event, struct piece *piece)
{
    int64_t from, to, te = event->ts + event->dur;
    char key[64];
    interval_of(place, &from, &to);
    piece->starts = event->ts >= from && event->ts < to;
    piece->from = STA_MAX(event->ts, from);
    piece->to = STA_MIN(te, to);
    if (!piece->starts && piece->from >= piece->to)
        return false;
    piece->size = event->size;
    if (event->dur > 0)
        piece->size = event->size * (piece->to - event->ts) / event->dur -
                      event->size * (piece->from - event->ts) / event->dur;
    if (place->by == NULL || strcmp(place->by, "time_range") == 0)
        return true;
    slow_key(event, place->by, key);
    return strcmp(key, place->key) == 0;
}

static bool in_place(const struct slow_place *place, const struct scene_event *event, struct piece *piece)
{
    return in_layer(place->scene, event, place->layer) && in_row(place, event, piece);
}

static uint32_t process_of(const struct slow_place *place, const struct scene_event *event)
{
    for (uint32_t p = 0; p < place->entities->process_count; p++)
        if (place->entities->processes[p].pid == event->pid) /* a pid is of one host here */
            return p;
    cr_assert_fail("no process %ld", (long)event->pid);
    return 0;
}

static uint32_t group_of(const struct slow_place *place, const struct scene_event *event)
{
    return place->groups->group_of_process[process_of(place, event)];
}

/* ---- sums and unions over single ticks */

enum unit { UNIT_ALL, UNIT_PROCESS, UNIT_GROUP };

/* What is subtracted from a union. */
enum less { LESS_NOTHING, LESS_COMPUTE, LESS_CHILDREN };

static bool is_of_unit(const struct slow_place *place, const struct scene_event *event, enum unit unit,
                       uint32_t index)
{
    return unit == UNIT_ALL ||
           (unit == UNIT_PROCESS ? process_of(place, event) : group_of(place, event)) == index;
}

static bool is_less(const struct slow_place *place, const struct scene_event *event, enum less less)
{
    if (less == LESS_COMPUTE)
        return in_layer(place->scene, event, 1);
    return less == LESS_CHILDREN && in_children(place->scene, event, place->layer);
}

/* @name: of the events; NULL: all. */
static int64_t measure(const struct slow_place *place, const char *name, enum unit unit, uint32_t index,
                       enum less less)
{
    uint8_t ticks[SCENE_HORIZON + 1] = {0};
    const struct scene *scene = place->scene;
    int64_t sum = 0;
    for (size_t i = 0; i < scene->count; i++) {
        const struct scene_event *event = &scene->events[i];
        struct piece piece;
        if (!in_place(place, event, &piece) || !is_of_unit(place, event, unit, index) ||
            (name != NULL && strcmp(names[event->name], name) != 0))
            continue;
        for (int64_t t = piece.from; t < piece.to; t++)
            ticks[t] = 1;
    }
    for (size_t i = 0; less != LESS_NOTHING && i < scene->count; i++) {
        const struct scene_event *event = &scene->events[i];
        if (!is_less(place, event, less) || !is_of_unit(place, event, unit, index))
            continue;
        for (int64_t t = event->ts; t < event->ts + event->dur; t++)
            ticks[t] = 0;
    }
    for (int64_t t = 0; t <= SCENE_HORIZON; t++)
        sum += ticks[t];
    return sum;
}

/* Over the processes or groups that have an event in the place. */
struct over_units {
    int64_t count, min, max, sum;
};

static struct over_units over(const struct slow_place *place, enum unit unit, enum less less)
{
    uint32_t units = unit == UNIT_PROCESS ? place->entities->process_count : place->groups->group_count;
    struct over_units over = {.min = INT64_MAX};
    for (uint32_t u = 0; u < units; u++) {
        bool any = false;
        for (size_t i = 0; i < place->scene->count; i++) {
            struct piece piece;
            const struct scene_event *event = &place->scene->events[i];
            any |= in_place(place, event, &piece) && is_of_unit(place, event, unit, u);
        }
        if (!any)
            continue;
        int64_t busy = measure(place, NULL, unit, u, less);
        over.count++;
        over.min = STA_MIN(over.min, busy);
        over.max = STA_MAX(over.max, busy);
        over.sum += busy;
    }
    return over;
}

struct totals {
    int64_t events, count, time, size, bin_counts[3];
};

/* @name: of the events; NULL: all. */
static struct totals total(const struct slow_place *place, const char *name)
{
    struct totals totals = {0};
    for (size_t i = 0; i < place->scene->count; i++) {
        const struct scene_event *event = &place->scene->events[i];
        struct piece piece;
        if (!in_place(place, event, &piece) || (name != NULL && strcmp(names[event->name], name) != 0))
            continue;
        totals.events++;
        totals.count += piece.starts;
        totals.time += piece.to - piece.from;
        totals.size += piece.size;
        totals.bin_counts[0] += piece.starts && event->size > 0 && event->size <= 4096;
        totals.bin_counts[1] += piece.starts && event->size > 65536 && event->size <= 262144;
        totals.bin_counts[2] += piece.starts && event->size > (1 << 28) && event->size <= (1 << 30);
    }
    return totals;
}

enum distinct { DISTINCT_THREADS, DISTINCT_HOSTS, DISTINCT_FILES };

static int64_t distinct(const struct slow_place *place, enum distinct what)
{
    uint8_t seen[128] = {0};
    int64_t count = 0;
    for (size_t i = 0; i < place->scene->count; i++) {
        const struct scene_event *event = &place->scene->events[i];
        struct piece piece;
        if (!in_place(place, event, &piece) || (what == DISTINCT_FILES && event->file == NOTHING))
            continue;
        int64_t at = what == DISTINCT_THREADS ? event->tid
                     : what == DISTINCT_HOSTS ? event->host + 1
                                              : event->file;
        count += !seen[at];
        seen[at] = 1;
    }
    return count;
}

static double ratio(double a, double b)
{
    return a != 0 && b != 0 ? a / b : NAN;
}

static bool has_exposed(int layer)
{
    return layer > 1; /* compute, and app above it, have none */
}

static double of_groups(const struct slow_place *place, const char *column)
{
    struct over_units busy = over(place, UNIT_GROUP, LESS_NOTHING);
    if (strcmp(column, "busy_group_sum") == 0)
        return (double)busy.sum / 1e6;
    if (strcmp(column, "self_group_sum") == 0)
        return place->layer == 0 || place->layer == 2
                   ? (double)over(place, UNIT_GROUP, LESS_CHILDREN).sum / 1e6
                   : NAN;
    if (!has_exposed(place->layer))
        return NAN;
    struct over_units exposed = over(place, UNIT_GROUP, LESS_COMPUTE);
    if (strcmp(column, "exposed_group_sum") == 0)
        return (double)exposed.sum / 1e6;
    if (strcmp(column, "exposed_group_max") == 0)
        return (double)exposed.max / 1e6;
    return busy.sum > 0 ? 1 - (double)exposed.sum / (double)busy.sum : NAN; /* hidden_share */
}

static double of_metric(const struct slow_place *place, const char *name, const char *column)
{
    struct totals sums = total(place, name);
    if (strcmp(column, "count") == 0)
        return (double)sums.count;
    if (strcmp(column, "time") == 0)
        return (double)sums.time / 1e6;
    if (strcmp(column, "size") == 0)
        return (double)sums.size;
    if (strcmp(column, "bw") == 0)
        return ratio((double)sums.size, (double)sums.time / 1e6);
    return (double)measure(place, name, UNIT_ALL, 0, LESS_NOTHING) / 1e6;
}

static double of_processes(const struct slow_place *place, const char *column)
{
    struct over_units busy = over(place, UNIT_PROCESS, LESS_NOTHING);
    if (strcmp(column, "processes") == 0)
        return (double)busy.count;
    if (strcmp(column, "busy_process_min") == 0)
        return (double)busy.min / 1e6;
    if (strcmp(column, "busy_process_max") == 0)
        return (double)busy.max / 1e6;
    if (strcmp(column, "busy_process_mean") == 0)
        return (double)busy.sum / (double)busy.count / 1e6;
    return (double)busy.sum / 1e6;
}

double slow_value(const struct slow_place *place, const char *column, bool *any)
{
    struct totals sums = total(place, NULL);
    double time = (double)sums.time / 1e6;
    double busy = (double)measure(place, NULL, UNIT_ALL, 0, LESS_NOTHING) / 1e6;
    const struct {
        const char *name;
        double value;
    } plain[] = {{"count", (double)sums.count},
                 {"time", time},
                 {"size", (double)sums.size},
                 {"size_bin_0_4kib", (double)sums.bin_counts[0]},
                 {"size_bin_64kib_256kib", (double)sums.bin_counts[1]},
                 {"size_bin_256mib_1gib", (double)sums.bin_counts[2]},
                 {"bw", ratio((double)sums.size, time)},
                 {"ops", ratio((double)sums.count, time)},
                 {"busy", busy},
                 {"bw_busy", ratio((double)sums.size, busy)},
                 {"threads", (double)distinct(place, DISTINCT_THREADS)},
                 {"hosts", (double)distinct(place, DISTINCT_HOSTS)},
                 {"files", (double)distinct(place, DISTINCT_FILES)}};
    *any = sums.events > 0;
    if (!*any)
        return NAN;
    for (size_t i = 0; i < STA_COUNT_OF(plain); i++)
        if (strcmp(plain[i].name, column) == 0)
            return plain[i].value;
    if (strncmp(column, "read_", 5) == 0)
        return place->layer == 2 ? of_metric(place, "read", column + 5) : NAN;
    if (strncmp(column, "close_", 6) == 0)
        return place->layer == 2 ? of_metric(place, "close", column + 6) : NAN;
    if (strstr(column, "group") != NULL || strcmp(column, "hidden_share") == 0)
        return of_groups(place, column);
    return of_processes(place, column);
}
