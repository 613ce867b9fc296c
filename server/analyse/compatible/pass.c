/* One pass over the events; see pass.h. */
#include "analyse/compatible/pass.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/budget.h"
#include "common/memory.h"

#define FIRST_SLOTS 4096
#define COMPACT_FROM ((size_t)1 << 18) /* pairs, below which repetitions are no burden */

/* ---- kinds */

static bool takes(const struct sta_pass *pass, const struct sta_class *class)
{
    const struct sta_preset *preset = pass->hlm->bound->preset;
    if (class->fate != STA_FATE_KEPT)
        return false;
    if (pass->wish->layer != STA_NO_LAYER)
        return sta_class_has(class, sta_classes_layer_bit(pass->hlm->bound->classes, pass->wish->layer));
    for (size_t l = 0; l < preset->layer_count; l++)
        if (sta_class_has(class, sta_classes_layer_bit(pass->hlm->bound->classes, l)))
            return true;
    return pass->wish->unmatched;
}

/* Whether someone looks at the files of a class. */
static bool shows_files(const struct sta_pass *pass, const struct sta_class *class)
{
    const struct sta_preset *preset = pass->hlm->bound->preset;
    if (pass->wish->all_members)
        return true;
    for (size_t l = 0; l < preset->layer_count; l++)
        if (sta_layer_has_files(&preset->layers[l]) &&
            (pass->wish->layer == STA_NO_LAYER || pass->wish->layer == l) &&
            sta_class_has(class, sta_classes_layer_bit(pass->hlm->bound->classes, l)))
            return true;
    return false;
}

static uint8_t io_cat_of(const struct sta_pass *pass, uint32_t name, uint32_t cat)
{
    const struct sta_question *question = pass->hlm->bound->question;
    const struct sta_tables *tables = sta_snapshot_tables(question->snapshot);
    if (name == STA_NO_CODE || cat == STA_NO_CODE)
        return STA_IO_OTHER;
    struct sta_text cat_text = sta_dictionary_text(sta_tables_cats(tables), cat);
    struct sta_text name_text = sta_dictionary_text(sta_tables_names(tables), name);
    if (!sta_presets_is_io_category(question->presets, cat_text.bytes, cat_text.length))
        return STA_IO_OTHER;
    return (uint8_t)sta_presets_io_cat(question->presets, name_text.bytes, name_text.length);
}

static uint32_t meet_kind(const struct sta_pass *pass, struct sta_pass_worker *worker, uint32_t name,
                          uint32_t cat, uint32_t code)
{
    struct sta_class class = sta_classes_get(pass->hlm->bound->classes, code);
    const bool *grouped = pass->hlm->axes->grouped;
    STA_GROW(worker->kinds, worker->kind_capacity, worker->kind_count + 1);
    struct sta_pass_kind *kind = &worker->kinds[worker->kind_count];
    *kind = (struct sta_pass_kind){
        .class = code, .name = name, .cat = class.cat, .io_cat = io_cat_of(pass, name, cat)};
    kind->wanted = name != STA_NO_CODE && class.cat != STA_NO_CODE && takes(pass, &class);
    kind->with[STA_AXIS_TIME] = !grouped[STA_AXIS_TIME];
    kind->with[STA_AXIS_FILE] = !grouped[STA_AXIS_FILE] && shows_files(pass, &class);
    sta_combos_add(&worker->combos, name, cat, code, (uint32_t)worker->kind_count);
    return (uint32_t)worker->kind_count++;
}

/* ---- groups */

static size_t slot_of(uint64_t key, uint32_t kind, size_t slot_count)
{
    uint64_t hash = (key ^ (uint64_t)kind << 32) * UINT64_C(0x9e3779b97f4a7c15) + kind;
    hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(hash >> 32) & (slot_count - 1);
}

static void enlarge(struct sta_pass_worker *worker)
{
    free(worker->slots);
    worker->slot_count = worker->slot_count > 0 ? worker->slot_count * 2 : FIRST_SLOTS;
    worker->slots = sta_alloc_array(worker->slot_count, sizeof *worker->slots);
    for (size_t g = 0; g < worker->group_count; g++) {
        const struct sta_pass_group *group = &worker->groups[g];
        size_t slot = slot_of(group->key, group->kind, worker->slot_count);
        while (worker->slots[slot] != 0)
            slot = (slot + 1) & (worker->slot_count - 1);
        worker->slots[slot] = (uint32_t)g + 1;
    }
}

static uint32_t add_group(struct sta_pass_worker *worker, uint64_t key, uint32_t kind)
{
    STA_GROW(worker->groups, worker->group_capacity, worker->group_count + 1);
    worker->groups[worker->group_count] =
        (struct sta_pass_group){.key = key,
                                .kind = kind,
                                .sizes = STA_NO_SIZES,
                                .last = {STA_LAST_NONE, STA_LAST_NONE, STA_LAST_NONE}};
    return (uint32_t)worker->group_count++;
}

static inline uint32_t find_group(struct sta_pass_worker *worker, uint64_t key, uint32_t kind)
{
    size_t slot = slot_of(key, kind, worker->slot_count);
    for (; worker->slots[slot] != 0; slot = (slot + 1) & (worker->slot_count - 1)) {
        const struct sta_pass_group *group = &worker->groups[worker->slots[slot] - 1];
        if (group->key == key && group->kind == kind)
            return worker->slots[slot] - 1;
    }
    uint32_t group = add_group(worker, key, kind);
    worker->slots[slot] = group + 1;
    if (worker->group_count * 2 > worker->slot_count)
        enlarge(worker);
    return group;
}

static void add_size(struct sta_pass_worker *worker, struct sta_pass_group *group, int64_t size)
{
    if (group->sizes == STA_NO_SIZES) {
        STA_GROW(worker->sizes, worker->sizes_capacity, worker->sizes_count + 1);
        worker->sizes[worker->sizes_count] = (struct sta_group_sizes){0};
        group->sizes = (uint32_t)worker->sizes_count++;
    }
    struct sta_group_sizes *sizes = &worker->sizes[group->sizes];
    sizes->size = sta_bounded_add(sizes->size, size);
    sizes->bins[sta_size_bin(size)]++;
}

static inline void note_value(struct sta_pass_worker *worker, enum sta_axis axis, uint32_t group,
                              uint32_t value)
{
    uint32_t *last = &worker->groups[group].last[axis];
    if (*last == value || *last == STA_LAST_MISSING)
        return;
    *last = value == STA_NO_CODE ? STA_LAST_MISSING : value;
    if (value == STA_NO_CODE)
        return;
    struct sta_pairs *pairs = &worker->pairs[axis];
    STA_GROW(pairs->items, pairs->capacity, pairs->count + 1);
    pairs->items[pairs->count++] = (uint64_t)group << 32 | value;
}

/* ---- rows of a block */

struct block_rows {
    const uint32_t *names, *cats, *procs, *files; /* files NULL: none has one, or nobody asks */
    const int64_t *ts, *dur, *sizes;
    const uint8_t *no_size;
    double ticks_per_second;
};

static int read_codes(struct sta_column_reader *reader, uint32_t column, const uint32_t **codes,
                      struct sta_error *err)
{
    struct sta_vector vector;
    int rc = sta_column_reader_get(reader, column, &vector, err);
    if (rc == 0)
        *codes = vector.constant ? NULL : vector.codes;
    return rc;
}

static int read_rows(struct sta_column_reader *reader, struct block_rows *rows, struct sta_error *err)
{
    const struct sta_column_values *names, *cats, *ts, *dur;
    struct sta_vector sizes;
    int rc = sta_column_reader_physical(reader, STA_COLUMN_NAME, &names, err);
    if (rc == 0)
        rc = sta_column_reader_physical(reader, STA_COLUMN_CAT, &cats, err);
    if (rc == 0)
        rc = sta_column_reader_physical(reader, STA_COLUMN_TS, &ts, err);
    if (rc == 0)
        rc = sta_column_reader_physical(reader, STA_COLUMN_DUR, &dur, err);
    if (rc == 0)
        rc = read_codes(reader, STA_LOGICAL_proc_name, &rows->procs, err);
    if (rc == 0)
        rc = read_codes(reader, STA_LOGICAL_file_name, &rows->files, err);
    if (rc == 0)
        rc = sta_column_reader_get(reader, STA_LOGICAL_size, &sizes, err);
    if (rc != 0)
        return rc;
    if (rows->procs == NULL)
        return sta_fail(err, STA_ECORRUPT, "a block of the store has no threads");
    rows->names = names->codes;
    rows->cats = cats->codes;
    rows->ts = ts->integers;
    rows->dur = dur->integers;
    rows->sizes = sizes.constant ? NULL : sizes.integers; /* constant: missing everywhere */
    rows->no_size = sizes.missing;
    return 0;
}

/* Bins of ascending times: divides only where a bin ends. */
struct bin_walk {
    int64_t ticks, from, to; /* width; the present bin's time */
    uint32_t bin;
};

static inline uint32_t bin_of(struct bin_walk *walk, int64_t ts)
{
    if (ts < walk->from || ts >= walk->to) {
        walk->bin = (uint32_t)(ts / walk->ticks);
        walk->from = (int64_t)walk->bin * walk->ticks;
        walk->to = walk->from + walk->ticks;
    }
    return walk->bin;
}

static inline uint64_t key_of(const struct sta_axes *axes, uint32_t file, uint32_t proc, uint32_t bin)
{
    uint64_t key = (uint64_t)axes->rank_of_code[STA_AXIS_PROC][proc] << axes->shift[STA_AXIS_PROC];
    if (axes->grouped[STA_AXIS_TIME])
        key |= (uint64_t)bin << axes->shift[STA_AXIS_TIME];
    if (axes->grouped[STA_AXIS_FILE])
        key |= (uint64_t)axes->rank_of_code[STA_AXIS_FILE][file] << axes->shift[STA_AXIS_FILE];
    return key;
}

static inline void take_row(const struct sta_axes *axes, struct sta_pass_worker *worker,
                            const struct block_rows *rows, uint32_t row, uint32_t kind, uint32_t bin)
{
    const struct sta_pass_kind *meant = &worker->kinds[kind];
    uint32_t file = rows->files != NULL ? rows->files[row] : STA_NO_CODE;
    if (axes->grouped[STA_AXIS_FILE] && file == STA_NO_CODE) {
        worker->no_file++;
        return;
    }
    uint32_t at = find_group(worker, key_of(axes, file, rows->procs[row], bin), kind);
    struct sta_pass_group *group = &worker->groups[at];
    group->count++;
    group->time = sta_fixed_add(group->time, sta_fixed_of((double)rows->dur[row] / rows->ticks_per_second));
    if (rows->sizes != NULL && (rows->no_size == NULL || !rows->no_size[row]))
        add_size(worker, group, rows->sizes[row]);
    if (meant->with[STA_AXIS_FILE])
        note_value(worker, STA_AXIS_FILE, at, file);
    if (meant->with[STA_AXIS_TIME])
        note_value(worker, STA_AXIS_TIME, at, bin);
}

/* Removes repeated pairs once the list has doubled. */
static int compact(struct sta_pass_worker *worker, enum sta_axis axis, struct sta_error *err)
{
    struct sta_pairs *pairs = &worker->pairs[axis];
    bool doubled = pairs->count >= COMPACT_FROM && pairs->count >= 2 * pairs->distinct;
    return doubled ? sta_pairs_compact(pairs, err) : 0;
}

static double bytes_of(const struct sta_pass_worker *worker)
{
    double bytes = (double)worker->slot_count * sizeof *worker->slots +
                   (double)worker->group_capacity * sizeof *worker->groups +
                   (double)worker->sizes_capacity * sizeof *worker->sizes;
    for (int axis = 0; axis < STA_AXES; axis++)
        bytes += (double)worker->pairs[axis].capacity * sizeof *worker->pairs[axis].items;
    return bytes;
}

double sta_pass_bytes(const struct sta_pass *pass)
{
    double bytes = 0;
    for (unsigned w = 0; w < pass->worker_count; w++)
        bytes += bytes_of(&pass->workers[w]);
    return bytes;
}

static int take_rows(void *self, unsigned number, const struct sta_scan_rows *from, struct sta_error *err)
{
    struct sta_pass *pass = self;
    struct sta_pass_worker *worker = &pass->workers[number];
    const struct sta_axes *axes = pass->hlm->axes;
    struct bin_walk walk = {.ticks = axes->bin_ticks};
    struct block_rows rows = {.ticks_per_second = 1e6 * (double)pass->hlm->bound->ticks_per_us};
    int rc = read_rows(from->reader, &rows, err);
    for (uint32_t i = 0; rc == 0 && i < from->count; i++) {
        uint32_t row = sta_scan_row(from, i);
        uint32_t name = rows.names[row], cat = rows.cats[row], class = from->classes[row];
        uint32_t kind = sta_combos_find(&worker->combos, name, cat, class);
        if (kind == STA_NO_CODE)
            kind = meet_kind(pass, worker, name, cat, class);
        worker->kinds[kind].count++;
        if (worker->kinds[kind].wanted)
            take_row(axes, worker, &rows, row, kind, bin_of(&walk, rows.ts[row]));
    }
    for (int axis = 0; rc == 0 && axis < STA_AXES; axis++)
        rc = compact(worker, axis, err);
    if (rc != 0)
        return rc;
    return sta_budget_memory(pass->budget, bytes_of(worker) * pass->worker_count, "the high-level metrics",
                             err);
}

/* ---- all of it */

int sta_pass_run(struct sta_pass *pass, struct sta_hlm *hlm, const struct sta_hlm_wish *wish,
                 const struct sta_budget *budget, struct sta_error *err)
{
    *pass = (struct sta_pass){
        .hlm = hlm, .wish = wish, .budget = budget, .worker_count = sta_budget_workers(budget)};
    pass->workers = sta_alloc_array(pass->worker_count, sizeof *pass->workers);
    for (unsigned w = 0; w < pass->worker_count; w++) {
        sta_combos_init(&pass->workers[w].combos);
        enlarge(&pass->workers[w]);
    }
    struct sta_accumulator accumulator = {pass, take_rows};
    struct sta_scan scan = sta_question_scan(hlm->bound);
    scan.accumulators = &accumulator;
    scan.accumulator_count = 1;
    return sta_scan_run(&scan, budget, err);
}

void sta_pass_fini(struct sta_pass *pass)
{
    for (unsigned w = 0; w < pass->worker_count; w++) {
        struct sta_pass_worker *worker = &pass->workers[w];
        sta_combos_fini(&worker->combos);
        free(worker->kinds);
        free(worker->slots);
        free(worker->groups);
        free(worker->sizes);
        for (int axis = 0; axis < STA_AXES; axis++)
            free(worker->pairs[axis].items);
    }
    free(pass->workers);
    *pass = (struct sta_pass){0};
}
