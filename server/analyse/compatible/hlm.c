/* From what the workers collected to one list of groups in order.
 *
 * DESIGN.  Kinds are brought to one numbering, in the order of their texts.  Groups of all workers are sorted
 * by (key, kind); those that are equal stand side by side then and become one, whoever collected which: the
 * result does not depend on the number of workers. */
#include "analyse/compatible/hlm.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/budget.h"
#include "analyse/compatible/pass.h"
#include "analyse/operators/radix.h"
#include "common/memory.h"

bool sta_layer_has_files(const struct sta_layer *layer)
{
    return strstr(layer->name, "posix") != NULL;
}

/* ---- kinds */

/* A worker's kind on its way to the common numbering. */
struct met_kind {
    struct sta_hlm_kind kind;
    unsigned worker;
    uint32_t number;
};

static int compare_kinds(const struct sta_hlm_kind *a, const struct sta_hlm_kind *b)
{
    int order = sta_text_order(a->cat, b->cat);
    if (order == 0)
        order = (int)a->io_cat - (int)b->io_cat;
    if (order == 0)
        order = sta_text_order(a->func, b->func);
    return order != 0 ? order : memcmp(a->class.members, b->class.members, sizeof a->class.members);
}

static int compare_met(const void *a, const void *b)
{
    return compare_kinds(&((const struct met_kind *)a)->kind, &((const struct met_kind *)b)->kind);
}

static struct sta_hlm_kind describe(const struct sta_hlm *hlm, const struct sta_pass_kind *met)
{
    const struct sta_columns *columns = hlm->bound->columns;
    return (struct sta_hlm_kind){
        .cat = sta_dictionary_text(sta_columns_texts(columns, STA_LOGICAL_cat), met->cat),
        .func = sta_dictionary_text(sta_columns_texts(columns, STA_LOGICAL_func_name), met->name),
        .io_cat = met->io_cat,
        .class = sta_classes_get(hlm->bound->classes, met->class)};
}

/* Makes the common kinds.  @common: by worker and its number of a kind, to be freed each. */
static void unite_kinds(struct sta_hlm *hlm, const struct sta_pass *pass, uint32_t **common)
{
    size_t count = 0, most = 0;
    for (unsigned w = 0; w < pass->worker_count; w++)
        most += pass->workers[w].kind_count;
    struct met_kind *met = sta_alloc_array(most + 1, sizeof *met);
    for (unsigned w = 0; w < pass->worker_count; w++) {
        const struct sta_pass_worker *worker = &pass->workers[w];
        common[w] = sta_alloc_array(worker->kind_count + 1, sizeof *common[w]);
        for (size_t k = 0; k < worker->kind_count; k++)
            if (worker->kinds[k].wanted)
                met[count++] = (struct met_kind){describe(hlm, &worker->kinds[k]), w, (uint32_t)k};
    }
    qsort(met, count, sizeof *met, compare_met);
    hlm->kinds = sta_alloc_array(count + 1, sizeof *hlm->kinds);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_met(&met[i - 1], &met[i]) != 0)
            hlm->kinds[hlm->kind_count++] = met[i].kind;
        common[met[i].worker][met[i].number] = hlm->kind_count - 1;
    }
    free(met);
}

/* ---- what became of the events */

static void count_events(struct sta_hlm *hlm, const struct sta_hlm_wish *wish,
                         const struct sta_pass_kind *kind)
{
    struct sta_class class = sta_classes_get(hlm->bound->classes, kind->class);
    size_t layers = 0;
    bool taken = false;
    if (class.fate == STA_FATE_FILE)
        hlm->counts.filtered_by_file += kind->count;
    if (class.fate == STA_FATE_FUNCTION)
        hlm->counts.filtered_by_function += kind->count;
    if (class.fate != STA_FATE_KEPT)
        return;
    for (size_t l = 0; l < hlm->bound->preset->layer_count; l++) {
        bool has = sta_class_has(&class, sta_classes_layer_bit(hlm->bound->classes, l));
        layers += has;
        hlm->counts.of_layer[l] += has ? kind->count : 0;
        taken |= has && (wish->layer == STA_NO_LAYER || wish->layer == l);
    }
    if (layers == 0)
        hlm->counts.unmatched += kind->count;
    if (taken)
        hlm->counts.taken += kind->count;
    if (layers > 1)
        hlm->counts.multiple += kind->count;
    if (kind->name == STA_NO_CODE || kind->cat == STA_NO_CODE)
        hlm->counts.keyless += kind->count;
}

/* ---- groups */

/* Where the groups of all workers go. */
struct merge {
    struct sta_hlm *hlm;
    const struct sta_pass *pass;
    uint32_t **common;                     /* by worker: numbers of its kinds */
    uint32_t **group_of;                   /* by worker and group: the group of all */
    size_t *first;                         /* by worker: number of its first group among those of all */
    struct sta_word_pair *items, *scratch; /* key; kind and number among the groups of all */
    size_t count;                          /* of items */
};

static void add_sizes(struct sta_hlm *hlm, struct sta_group *to, const struct sta_group_sizes *sizes,
                      size_t *size_count)
{
    if (to->sizes == STA_NO_SIZES) {
        to->sizes = (uint32_t)*size_count;
        hlm->sizes[(*size_count)++] = *sizes;
        return;
    }
    struct sta_group_sizes *sum = &hlm->sizes[to->sizes];
    sum->size = sta_bounded_add(sum->size, sizes->size);
    for (int b = 0; b < STA_SIZE_BINS; b++)
        sum->bins[b] += sizes->bins[b];
}

static void list_groups(struct merge *merge)
{
    size_t n = 0;
    for (unsigned w = 0; w < merge->pass->worker_count; w++) {
        const struct sta_pass_worker *worker = &merge->pass->workers[w];
        merge->first[w] = n;
        for (size_t g = 0; g < worker->group_count; g++, n++)
            merge->items[n] = (struct sta_word_pair){
                worker->groups[g].key, (uint64_t)merge->common[w][worker->groups[g].kind] << 32 | n};
    }
}

#define ITEMS_AT_ONCE 65536 /* between two looks at the budget */

static int unite_groups(struct merge *merge, struct sta_error *err)
{
    struct sta_hlm *hlm = merge->hlm;
    size_t size_count = 0;
    sta_fixed time = 0;
    for (size_t i = 0; i < merge->count; i++) {
        if (i % ITEMS_AT_ONCE == 0 && sta_budget_check(merge->pass->budget, err) != 0)
            return err->status;
        const struct sta_word_pair *item = &merge->items[i];
        const uint32_t number = (uint32_t)item->minor, kind = (uint32_t)(item->minor >> 32);
        unsigned w = merge->pass->worker_count - 1;
        while (number < merge->first[w])
            w--;
        const struct sta_pass_worker *worker = &merge->pass->workers[w];
        const struct sta_pass_group *from = &worker->groups[number - merge->first[w]];
        if (i == 0 || item[-1].major != item->major || item[-1].minor >> 32 != kind) {
            hlm->groups[hlm->count++] =
                (struct sta_group){.key = item->major, .kind = kind, .sizes = STA_NO_SIZES};
            time = 0;
        }
        struct sta_group *to = &hlm->groups[hlm->count - 1];
        time = sta_fixed_add(time, from->time);
        to->time = sta_fixed_number(time);
        to->count += from->count;
        if (from->sizes != STA_NO_SIZES)
            add_sizes(hlm, to, &worker->sizes[from->sizes], &size_count);
        merge->group_of[w][number - merge->first[w]] = (uint32_t)hlm->count - 1;
    }
    return 0;
}

/* A group of which one worker met an event without value has no set. */
static void drop_missing(struct merge *merge, enum sta_axis axis, struct sta_members *members)
{
    members->missing = sta_alloc_array(merge->hlm->count + 1, sizeof *members->missing);
    for (unsigned w = 0; w < merge->pass->worker_count; w++)
        for (size_t g = 0; g < merge->pass->workers[w].group_count; g++)
            if (merge->pass->workers[w].groups[g].last[axis] == STA_LAST_MISSING)
                members->missing[merge->group_of[w][g]] = 1;
}

static int gather_members(struct merge *merge, struct sta_error *err)
{
    struct sta_hlm *hlm = merge->hlm;
    struct sta_pairs *lists = sta_alloc_array(merge->pass->worker_count, sizeof *lists);
    int rc = 0;
    for (int axis = 0; rc == 0 && axis < STA_AXES; axis++) {
        if (hlm->axes->grouped[axis])
            continue;
        for (unsigned w = 0; w < merge->pass->worker_count; w++)
            lists[w] = merge->pass->workers[w].pairs[axis];
        rc = sta_budget_check(merge->pass->budget, err);
        if (rc != 0)
            break;
        rc = sta_members_gather(lists, merge->pass->worker_count, (const uint32_t *const *)merge->group_of,
                                hlm->count, hlm->axes->texts[axis], &hlm->members[axis], err);
        if (rc == 0)
            drop_missing(merge, axis, &hlm->members[axis]);
    }
    free(lists);
    return rc;
}

static void merge_begin(struct merge *merge)
{
    const struct sta_pass *pass = merge->pass;
    struct sta_hlm *hlm = merge->hlm;
    size_t sizes = 0;
    merge->first = sta_alloc_array(pass->worker_count, sizeof *merge->first);
    merge->group_of = sta_alloc_array(pass->worker_count, sizeof *merge->group_of);
    for (unsigned w = 0; w < pass->worker_count; w++) {
        sizes += pass->workers[w].sizes_count;
        merge->group_of[w] = sta_alloc_array(pass->workers[w].group_count + 1, sizeof *merge->group_of[w]);
    }
    merge->items = sta_alloc_array(merge->count + 1, sizeof *merge->items);
    merge->scratch = sta_alloc_array(merge->count + 1, sizeof *merge->scratch);
    hlm->groups = sta_alloc_array(merge->count + 1, sizeof *hlm->groups);
    hlm->sizes = sta_alloc_array(sizes + 1, sizeof *hlm->sizes);
}

static void merge_end(struct merge *merge)
{
    for (unsigned w = 0; w < merge->pass->worker_count; w++)
        free(merge->group_of[w]);
    free(merge->group_of);
    free(merge->first);
}

static int merge_groups(struct sta_hlm *hlm, const struct sta_pass *pass, uint32_t **common,
                        struct sta_error *err)
{
    struct merge merge = {.hlm = hlm, .pass = pass, .common = common};
    for (unsigned w = 0; w < pass->worker_count; w++)
        merge.count += pass->workers[w].group_count;
    double bytes = (double)merge.count * (2 * sizeof *merge.items + sizeof *hlm->groups + sizeof *hlm->sizes +
                                          sizeof **merge.group_of);
    int rc = sta_budget_memory(pass->budget, sta_pass_bytes(pass) + bytes, "the high-level metrics", err);
    if (rc != 0)
        return rc;
    merge_begin(&merge);
    list_groups(&merge);
    rc = sta_radix_failed(sta_radix_sort_pairs(merge.items, merge.scratch, merge.count, pass->budget->cancel),
                          "groups", merge.count, err);
    if (rc == 0)
        rc = unite_groups(&merge, err);
    free(merge.scratch);
    free(merge.items);
    if (rc == 0)
        rc = gather_members(&merge, err);
    merge_end(&merge);
    return rc;
}

/* ---- all of it */

static int finish(struct sta_hlm *hlm, const struct sta_pass *pass, struct sta_error *err)
{
    uint32_t **common = sta_alloc_array(pass->worker_count, sizeof *common);
    unite_kinds(hlm, pass, common);
    for (unsigned w = 0; w < pass->worker_count; w++) {
        for (size_t k = 0; k < pass->workers[w].kind_count; k++)
            count_events(hlm, pass->wish, &pass->workers[w].kinds[k]);
        hlm->counts.keyless += pass->workers[w].no_file;
    }
    int rc = merge_groups(hlm, pass, common, err);
    for (unsigned w = 0; w < pass->worker_count; w++)
        free(common[w]);
    free(common);
    return rc;
}

int sta_hlm_init(struct sta_hlm *hlm, const struct sta_bound_question *bound, const struct sta_axes *axes,
                 const struct sta_hlm_wish *wish, const struct sta_budget *budget, struct sta_error *err)
{
    struct sta_pass pass;
    *hlm = (struct sta_hlm){.bound = bound, .axes = axes};
    int rc = sta_pass_run(&pass, hlm, wish, budget, err);
    if (rc == 0)
        rc = finish(hlm, &pass, err);
    sta_pass_fini(&pass);
    return rc;
}

uint64_t sta_hlm_bytes(const struct sta_hlm *hlm)
{
    uint64_t bytes = hlm->kind_count * sizeof *hlm->kinds + hlm->count * sizeof *hlm->groups;
    for (size_t g = 0; g < hlm->count; g++)
        bytes += hlm->groups[g].sizes != STA_NO_SIZES ? sizeof *hlm->sizes : 0;
    for (int axis = 0; axis < STA_AXES; axis++) {
        const struct sta_members *members = &hlm->members[axis];
        if (members->start != NULL)
            bytes += hlm->count * (sizeof *members->start + sizeof *members->missing) +
                     members->start[hlm->count] * sizeof *members->items +
                     members->value_count * sizeof *members->values;
    }
    return bytes;
}

void sta_hlm_fini(struct sta_hlm *hlm)
{
    for (int axis = 0; axis < STA_AXES; axis++)
        sta_members_fini(&hlm->members[axis]);
    free(hlm->groups);
    free(hlm->sizes);
    free(hlm->kinds);
    *hlm = (struct sta_hlm){0};
}
