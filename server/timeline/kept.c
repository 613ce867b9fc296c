/* Presets and filters over all events of a timeline, found by one pass each. */
#include "timeline/kept.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/sources/scan.h"
#include "common/memory.h"
#include "timeline/timeline.h"

#define WHAT "the timeline"

/* ---- the timeline */

int sta_timeline_create(struct sta_snapshot *snapshot, struct sta_account *account,
                        const struct sta_budget *budget, struct sta_timeline **timeline,
                        struct sta_error *err)
{
    struct sta_lane_index *index;
    int rc = sta_lane_index_create(snapshot, account, budget, &index, err);
    if (rc != 0)
        return rc;
    struct sta_timeline *made = sta_alloc(sizeof *made);
    atomic_init(&made->references, 1);
    made->account = account;
    made->index = index;
    pthread_mutex_init(&made->lock, NULL);
    pthread_mutex_init(&made->sizes_lock, NULL);
    *timeline = made;
    return 0;
}

struct sta_timeline *sta_timeline_retain(struct sta_timeline *timeline)
{
    atomic_fetch_add(&timeline->references, 1);
    return timeline;
}

void sta_timeline_release(struct sta_timeline *timeline)
{
    if (timeline == NULL || atomic_fetch_sub(&timeline->references, 1) > 1)
        return;
    for (size_t i = 0; i < STA_PRESET_VIEWS; i++)
        sta_preset_view_release(timeline->views[i]);
    for (size_t i = 0; i < STA_MATCH_SETS; i++)
        sta_match_set_release(timeline->matches[i]);
    sta_account_free(timeline->account, atomic_load(&timeline->sizes));
    sta_lane_index_destroy(timeline->index);
    pthread_mutex_destroy(&timeline->sizes_lock);
    pthread_mutex_destroy(&timeline->lock);
    free(timeline);
}

bool sta_timeline_claim_keeping(struct sta_timeline *timeline)
{
    return timeline->index->file == NULL && !atomic_exchange(&timeline->keeping, true);
}

int sta_timeline_keep(struct sta_timeline *timeline, struct sta_presets *presets, const char *preset,
                      const struct sta_budget *budget, struct sta_error *err)
{
    if (timeline->index->file != NULL)
        return 0;
    return sta_lane_index_keep(timeline, presets, preset, budget, err);
}

uint64_t sta_timeline_size_to_make(const struct sta_snapshot *snapshot)
{
    uint64_t events = 0;
    for (size_t i = 0; i < sta_snapshot_row_group_count(snapshot); i++)
        events += sta_snapshot_row_group(snapshot, i)->rows;
    return events * (sizeof(struct sta_lane_event) + sizeof(uint32_t));
}

size_t sta_timeline_bytes(const struct sta_timeline *timeline)
{
    uint64_t events = timeline->index->event_count, bytes = sta_lane_index_bytes(timeline->index);
    for (size_t i = 0; i < STA_PRESET_VIEWS; i++)
        bytes += timeline->views[i] != NULL ? events * sizeof(uint32_t) : 0;
    for (size_t i = 0; i < STA_MATCH_SETS; i++)
        bytes += timeline->matches[i] != NULL ? events / 8 : 0;
    return bytes + (atomic_load(&timeline->sizes) != NULL ? events * sizeof(int64_t) : 0);
}

/* Moves item @at of a list to its front.  @items: of pointers. */
static void to_front(void **items, size_t at)
{
    void *item = items[at];
    memmove(items + 1, items, at * sizeof *items);
    items[0] = item;
}

/* ---- passes over all events */

/* What an accumulator of a pass works on. */
struct pass {
    const struct sta_lane_index *index;
    uint32_t *classes;
    uint64_t *bits;
    const struct sta_classes *kept; /* NULL: all are */
    int64_t *sizes;
};

static uint32_t first_number(const struct pass *pass, const struct sta_scan_rows *rows)
{
    return pass->index->first_number[rows->row_group - sta_snapshot_row_group(pass->index->snapshot, 0)];
}

static int run_pass(struct pass *pass, struct sta_scan *scan,
                    int (*update)(void *self, unsigned worker, const struct sta_scan_rows *rows,
                                  struct sta_error *err),
                    const struct sta_budget *budget, struct sta_error *err)
{
    struct sta_accumulator accumulator = {pass, update};
    scan->accumulators = &accumulator;
    scan->accumulator_count = 1;
    return sta_scan_run(scan, budget, err);
}

/* ---- views of presets */

void sta_preset_view_release(struct sta_preset_view *view)
{
    if (view == NULL || atomic_fetch_sub(&view->references, 1) > 1)
        return;
    sta_bound_query_release(&view->bound);
    sta_account_free(view->account, view->classes);
    sta_account_free(view->account, (void *)atomic_load(&view->has_group));
    sta_account_free(view->account, atomic_load(&view->labels));
    for (size_t i = 0; i < view->former_count; i++)
        sta_account_free(view->account, view->former[i]);
    sta_account_free(view->account, view->former);
    sta_presets_release(view->presets);
    pthread_mutex_destroy(&view->lock);
    free(view->name);
    free(view);
}

static int make_view(const struct sta_timeline *timeline, struct sta_presets *presets, const char *name,
                     struct sta_preset_view **view, struct sta_error *err)
{
    struct sta_preset_view *made = sta_alloc(sizeof *made);
    atomic_init(&made->references, 1);
    pthread_mutex_init(&made->lock, NULL);
    made->account = timeline->account;
    made->presets = sta_presets_retain(presets);
    made->name = sta_strdup(name);
    made->query = (struct sta_view_query){
        .snapshot = timeline->index->snapshot, .presets = made->presets, .preset = made->name};
    int rc = sta_view_query_bind(&made->bound, &made->query, err);
    if (rc != 0)
        sta_preset_view_release(made);
    else
        *view = made;
    return rc;
}

int sta_timeline_view(struct sta_timeline *timeline, struct sta_presets *presets, const char *name,
                      struct sta_preset_view **view, struct sta_error *err)
{
    pthread_mutex_lock(&timeline->lock);
    size_t at = 0;
    int rc = 0;
    while (at < STA_PRESET_VIEWS && timeline->views[at] != NULL &&
           (timeline->views[at]->presets != presets || strcmp(timeline->views[at]->name, name) != 0))
        at++;
    if (at == STA_PRESET_VIEWS || timeline->views[at] == NULL) {
        struct sta_preset_view *made;
        rc = make_view(timeline, presets, name, &made, err);
        at = STA_MIN(at, STA_PRESET_VIEWS - 1);
        if (rc == 0) {
            sta_preset_view_release(timeline->views[at]);
            timeline->views[at] = made;
        }
    }
    if (rc == 0) {
        to_front((void **)timeline->views, at);
        *view = timeline->views[0];
        atomic_fetch_add(&(*view)->references, 1);
    }
    pthread_mutex_unlock(&timeline->lock);
    return rc;
}

static int note_classes(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    const struct pass *pass = self;
    (void)worker;
    (void)err;
    uint32_t *classes = pass->classes + first_number(pass, rows);
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t row = sta_scan_row(rows, i);
        classes[row] = rows->classes[row];
    }
    return 0;
}

static unsigned ancestors(const struct sta_preset *preset, size_t layer)
{
    unsigned count = 0;
    for (const char *parent = preset->layers[layer].parent; parent != NULL && count < preset->layer_count;) {
        size_t at = 0;
        while (at < preset->layer_count && strcmp(preset->layers[at].name, parent) != 0)
            at++;
        parent = at < preset->layer_count ? preset->layers[at].parent : NULL;
        count++;
    }
    return count;
}

/* Of the layers that take the events of a class the one with most ancestors, of several the first. */
static uint32_t deepest_layer(const struct sta_bound_query *bound, const struct sta_class *class,
                              const unsigned *depths)
{
    uint32_t best = STA_NO_LAYER;
    for (size_t l = 0; l < bound->preset->layer_count; l++)
        if (sta_class_has(class, l) && (best == STA_NO_LAYER || depths[l] > depths[best]))
            best = (uint32_t)l;
    return best;
}

/* Labels of all classes that there are by now. */
static int label_classes(struct sta_preset_view *view, struct sta_error *err)
{
    const struct sta_bound_query *bound = &view->bound;
    const uint32_t count = sta_classes_count(bound->classes);
    if (atomic_load(&view->labels) != NULL && count == view->label_count)
        return 0;
    int rc = STA_ACCOUNT_GROW(view->account, view->former, view->former_capacity, view->former_count + 1,
                              WHAT, err);
    if (rc != 0)
        return rc;
    struct sta_class_labels *labels =
        sta_account_alloc(view->account, (size_t)count + 1, sizeof *labels, WHAT, err);
    if (labels == NULL)
        return err->status;
    unsigned *depths = sta_alloc_array(bound->preset->layer_count + 1, sizeof *depths);
    for (size_t l = 0; l < bound->preset->layer_count; l++)
        depths[l] = ancestors(bound->preset, l);
    for (uint32_t code = 0; code < count; code++) {
        struct sta_class class = sta_classes_get(bound->classes, code);
        labels[code] = (struct sta_class_labels){class.cat, deepest_layer(bound, &class, depths)};
    }
    free(depths);
    view->former[view->former_count++] = atomic_exchange(&view->labels, labels);
    view->label_count = count;
    return 0;
}

/* Row groups that are to be classified. */
struct wanted {
    struct sta_preset_view *view;
    const struct sta_row_group *first;
    const uint8_t *groups; /* NULL: all */
};

static bool is_wanted(const struct wanted *wanted, size_t group)
{
    return (wanted->groups == NULL || wanted->groups[group]) &&
           !sta_preset_view_has_group(wanted->view, group);
}

static bool skip_group(void *context, const struct sta_row_group *row_group)
{
    const struct wanted *wanted = context;
    return !is_wanted(wanted, (size_t)(row_group - wanted->first));
}

static int reserve_space(struct sta_preset_view *view, const struct sta_timeline *timeline,
                         struct sta_error *err)
{
    if (view->classes != NULL)
        return 0;
    uint32_t *classes =
        sta_account_alloc(view->account, timeline->index->event_count + 1, sizeof *classes, WHAT, err);
    _Atomic uint8_t *groups =
        sta_account_calloc(view->account, sta_snapshot_row_group_count(timeline->index->snapshot) + 1,
                           sizeof *groups, WHAT, err);
    if (classes == NULL || groups == NULL) {
        sta_account_free(view->account, classes);
        sta_account_free(view->account, (void *)groups);
        return err->status;
    }
    view->classes = classes;
    atomic_store(&view->has_group, groups);
    return 0;
}

/* Context: the view's lock is held. */
static int classify(struct sta_preset_view *view, const struct sta_timeline *timeline, const uint8_t *groups,
                    const struct sta_budget *budget, struct sta_error *err)
{
    const size_t count = sta_snapshot_row_group_count(timeline->index->snapshot);
    int rc = reserve_space(view, timeline, err);
    if (rc != 0 || count == 0)
        return rc;
    struct wanted wanted = {view, sta_snapshot_row_group(timeline->index->snapshot, 0), groups};
    size_t group = 0;
    while (group < count && !is_wanted(&wanted, group))
        group++;
    if (group == count)
        return 0;
    struct pass pass = {.index = timeline->index, .classes = view->classes};
    struct sta_scan scan = sta_bound_query_scan(&view->bound);
    scan.skip = skip_group;
    scan.skip_context = &wanted;
    rc = run_pass(&pass, &scan, note_classes, budget, err);
    if (rc == 0)
        rc = label_classes(view, err);
    for (; rc == 0 && group < count; group++)
        if (is_wanted(&wanted, group))
            atomic_store(&atomic_load(&view->has_group)[group], 1);
    return rc;
}

int sta_preset_view_classify(struct sta_preset_view *view, const struct sta_timeline *timeline,
                             const uint8_t *groups, const struct sta_budget *budget, struct sta_error *err)
{
    pthread_mutex_lock(&view->lock);
    int rc = classify(view, timeline, groups, budget, err);
    pthread_mutex_unlock(&view->lock);
    return rc;
}

/* ---- matching events */

void sta_match_set_release(struct sta_match_set *matches)
{
    if (matches == NULL || atomic_fetch_sub(&matches->references, 1) > 1)
        return;
    sta_account_free(matches->account, matches->bits);
    free(matches->key);
    free(matches);
}

/* Row groups share words at their borders, so words are changed atomically. */
static int note_matches(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    const struct pass *pass = self;
    (void)worker;
    (void)err;
    const uint32_t first = first_number(pass, rows);
    uint64_t word = 0;
    size_t at = first / 64;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t row = sta_scan_row(rows, i), number = first + row;
        if (pass->kept != NULL && sta_classes_get(pass->kept, rows->classes[row]).fate != STA_FATE_KEPT)
            continue;
        if (number / 64 != at) {
            __atomic_fetch_or(&pass->bits[at], word, __ATOMIC_RELAXED);
            word = 0;
            at = number / 64;
        }
        word |= UINT64_C(1) << (number % 64);
    }
    __atomic_fetch_or(&pass->bits[at], word, __ATOMIC_RELAXED);
    return 0;
}

static int find_matches(const struct sta_timeline *timeline, const struct sta_preset_view *view,
                        const char *filter, bool filters, const struct sta_budget *budget, uint64_t *bits,
                        struct sta_error *err)
{
    struct sta_view_query query = view->query;
    struct sta_bound_query bound;
    query.filter = filter;
    query.filters = filters;
    int rc = sta_view_query_bind(&bound, &query, err);
    struct pass pass = {.index = timeline->index, .bits = bits, .kept = filters ? bound.classes : NULL};
    struct sta_scan scan = sta_bound_query_scan(&bound);
    if (!filters)
        scan.classes = NULL;
    if (rc == 0)
        rc = run_pass(&pass, &scan, note_matches, budget, err);
    sta_bound_query_release(&bound);
    return rc;
}

/* The set of that key, moved to the front and held; NULL: it is not there. */
static struct sta_match_set *get(struct sta_timeline *timeline, const char *key)
{
    for (size_t i = 0; i < STA_MATCH_SETS && timeline->matches[i] != NULL; i++)
        if (strcmp(timeline->matches[i]->key, key) == 0) {
            to_front((void **)timeline->matches, i);
            atomic_fetch_add(&timeline->matches[0]->references, 1);
            return timeline->matches[0];
        }
    return NULL;
}

static void put(struct sta_timeline *timeline, struct sta_match_set *matches)
{
    pthread_mutex_lock(&timeline->lock);
    struct sta_match_set *there = get(timeline, matches->key);
    if (there == NULL) {
        sta_match_set_release(timeline->matches[STA_MATCH_SETS - 1]);
        timeline->matches[STA_MATCH_SETS - 1] = NULL;
        atomic_fetch_add(&matches->references, 1);
        to_front((void **)timeline->matches, STA_MATCH_SETS - 1);
        timeline->matches[0] = matches;
    }
    pthread_mutex_unlock(&timeline->lock);
    sta_match_set_release(there);
}

int sta_timeline_matches(struct sta_timeline *timeline, const struct sta_preset_view *view,
                         const char *filter, bool filters, const struct sta_budget *budget,
                         struct sta_match_set **matches, struct sta_error *err)
{
    char *key = sta_sprintf("%p %s %d %s", (const void *)view->presets, view->name, (int)filters,
                            filter != NULL ? filter : "");
    pthread_mutex_lock(&timeline->lock);
    *matches = get(timeline, key);
    pthread_mutex_unlock(&timeline->lock);
    if (*matches != NULL) {
        free(key);
        return 0;
    }
    struct sta_match_set *made = sta_alloc(sizeof *made);
    atomic_init(&made->references, 1);
    made->account = timeline->account;
    made->key = key;
    made->bits = sta_account_calloc(made->account, timeline->index->event_count / 64 + 1, sizeof *made->bits,
                                    WHAT, err);
    int rc = made->bits == NULL ? err->status
                                : find_matches(timeline, view, filter, filters, budget, made->bits, err);
    if (rc != 0) {
        sta_match_set_release(made);
        return rc;
    }
    put(timeline, made);
    *matches = made;
    return 0;
}

/* ---- sizes */

static int note_sizes(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    const struct pass *pass = self;
    (void)worker;
    struct sta_vector vector;
    int rc = sta_column_reader_get(rows->reader, STA_LOGICAL_size, &vector, err);
    if (rc != 0)
        return rc;
    int64_t *sizes = pass->sizes + first_number(pass, rows);
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t row = sta_scan_row(rows, i), at = vector.constant ? 0 : row;
        bool missing = vector.missing != NULL && vector.missing[at];
        sizes[row] = missing ? 0 : vector.integers[at];
    }
    return 0;
}

int sta_timeline_sizes(struct sta_timeline *timeline, const struct sta_preset_view *view,
                       const struct sta_budget *budget, const int64_t **sizes, struct sta_error *err)
{
    pthread_mutex_lock(&timeline->sizes_lock);
    int rc = 0;
    if (atomic_load(&timeline->sizes) == NULL) {
        struct pass pass = {.index = timeline->index};
        pass.sizes = sta_account_alloc(timeline->account, timeline->index->event_count + 1,
                                       sizeof *pass.sizes, WHAT, err);
        struct sta_scan scan = sta_bound_query_scan(&view->bound);
        scan.classes = NULL;
        rc = pass.sizes == NULL ? err->status : run_pass(&pass, &scan, note_sizes, budget, err);
        if (rc == 0)
            atomic_store(&timeline->sizes, pass.sizes);
        else
            sta_account_free(timeline->account, pass.sizes);
    }
    *sizes = atomic_load(&timeline->sizes);
    pthread_mutex_unlock(&timeline->sizes_lock);
    return rc;
}
