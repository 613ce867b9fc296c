/* The pass: tasks that read a row group or go through a slice.
 *
 * DESIGN.  There are as many tasks as row groups and slices; what one does is chosen when it begins: a slice
 * that is ready rather than another row group to read, so what is held stays near what the open slices need.
 * One mutex guards that; it is taken once per row group and a few times per slice.  Slices are handed out in
 * order; each waits for its turn to carry and to settle, which are short, and since the worker of an earlier
 * slice is always at work on it, turns never deadlock.  Who is between two tasks holds neither a row group
 * nor a slice, so nobody waits for a worker that finds the request cancelled there. */
#include <stdatomic.h>
#include <stdlib.h>
#include <uv.h>

#include "analyse/exec/tasks.h"
#include "analyse/operators/ordered/ordered_private.h"
#include "common/memory.h"

/* A row group. */
struct held {
    uint32_t uses; /* slices that still need it */
    bool read;
};

enum turn { TO_CARRY, TO_SETTLE, TURNS };

struct pass {
    const struct sta_ordered_pass *spec;
    const struct sta_budget *budget;
    bool settles; /* whether a consumer does */
    struct sta_slice_plan plan;
    struct held *held;                        /* by row group */
    struct sta_ordered_memory *memories;      /* by row group, then consumer */
    struct sta_ordered_end *ends;             /* by row group, then consumer, then use of the row group */
    struct sta_ordered_placing *placings;     /* by worker */
    struct sta_ordered_gathering *gatherings; /* by worker, then consumer */

    uv_mutex_t lock; /* guards what follows, and held */
    uv_cond_t changed;
    size_t next_row_group; /* in plan.order */
    size_t read_prefix;    /* plan.order[0 .. read_prefix) have been read */
    size_t next_slice;
    size_t turns[TURNS];                  /* the slice that may carry, settle now */
    struct sta_ordered_memory *free_list; /* at most one for each row group and consumer */
    size_t free_count;
    _Atomic bool stop;
};

static void stop_pass(struct pass *pass)
{
    uv_mutex_lock(&pass->lock);
    pass->stop = true;
    uv_cond_broadcast(&pass->changed);
    uv_mutex_unlock(&pass->lock);
}

/* ---- row groups */

static struct sta_ordered_memory *memories_of(const struct pass *pass, uint32_t row_group)
{
    return pass->memories + row_group * pass->spec->consumer_count;
}

static struct sta_ordered_end *ends_of(const struct pass *pass, uint32_t row_group, size_t consumer)
{
    const struct sta_slice_plan *plan = &pass->plan;
    return pass->ends + plan->first_use[row_group] * pass->spec->consumer_count +
           consumer * plan->uses[row_group];
}

static struct sta_ordered_memory take_free(struct pass *pass)
{
    struct sta_ordered_memory memory = {0};
    uv_mutex_lock(&pass->lock);
    if (pass->free_count > 0)
        memory = pass->free_list[--pass->free_count];
    uv_mutex_unlock(&pass->lock);
    return memory;
}

/* Under the lock. */
static void put_free(struct pass *pass, struct sta_ordered_memory *memory)
{
    if (memory->records != NULL || memory->groups != NULL)
        pass->free_list[pass->free_count++] = *memory;
    *memory = (struct sta_ordered_memory){0};
}

static void note_read(struct pass *pass, uint32_t row_group)
{
    uv_mutex_lock(&pass->lock);
    pass->held[row_group].read = true;
    while (pass->read_prefix < pass->spec->row_group_count &&
           pass->held[pass->plan.order[pass->read_prefix]].read)
        pass->read_prefix++;
    uv_cond_broadcast(&pass->changed);
    uv_mutex_unlock(&pass->lock);
}

static int take_block(struct pass *pass, unsigned worker, uint32_t row_group, size_t number, const void *rows,
                      struct sta_error *err)
{
    const struct sta_ordered_consumer *consumer = &pass->spec->consumers[number];
    struct sta_ordered_memory *memory = &memories_of(pass, row_group)[number];
    *memory = take_free(pass);
    struct sta_ordered_out out = {.record = consumer->record,
                                  .cuts = pass->plan.bounds + pass->plan.first_slice[row_group] + 1,
                                  .cut_count = pass->plan.uses[row_group],
                                  .ends = ends_of(pass, row_group, number),
                                  .memory = memory,
                                  .placing = &pass->placings[worker],
                                  .account = pass->budget->account};
    int rc = consumer->take(consumer->self, worker, rows, &out, err);
    if (rc == 0 && out.group_count == 0) {
        uv_mutex_lock(&pass->lock);
        put_free(pass, memory);
        uv_mutex_unlock(&pass->lock);
    }
    return rc;
}

static int read_row_group(struct pass *pass, unsigned worker, uint32_t row_group, struct sta_error *err)
{
    const struct sta_ordered_pass *spec = pass->spec;
    const void *rows = NULL;
    int rc = spec->read(spec->context, worker, row_group, &rows, err);
    for (size_t c = 0; c < spec->consumer_count && rc == 0 && rows != NULL; c++)
        rc = take_block(pass, worker, row_group, c, rows, err);
    if (rc == 0)
        note_read(pass, row_group);
    return rc;
}

/* ---- slices */

static int gather(const struct pass *pass, struct sta_ordered_gathering *gathering, size_t number,
                  size_t consumer, struct sta_slice *slice, struct sta_error *err)
{
    const struct sta_slice_plan *plan = &pass->plan;
    const size_t record = pass->spec->consumers[consumer].record;
    int rc = 0;
    sta_ordered_gather_begin(gathering);
    for (size_t m = plan->first_member[number]; m < plan->first_member[number + 1] && rc == 0; m++) {
        const uint32_t row_group = plan->members[m];
        const size_t use = number - plan->first_slice[row_group];
        const struct sta_ordered_end *ends = ends_of(pass, row_group, consumer);
        const struct sta_ordered_end from = use > 0 ? ends[use - 1] : (struct sta_ordered_end){0};
        const struct sta_ordered_memory *memory = &memories_of(pass, row_group)[consumer];
        if (ends[use].groups <= from.groups)
            continue;
        struct sta_ordered_piece piece = {memory->groups + from.groups, ends[use].groups - from.groups,
                                          memory->records + from.records * record};
        rc = sta_ordered_gather(gathering, &piece, record, pass->budget->account, err);
    }
    if (rc == 0)
        rc = sta_ordered_gather_end(gathering, record, pass->budget, err);
    *slice = (struct sta_slice){.number = number,
                                .from = plan->bounds[number],
                                .to = plan->bounds[number + 1],
                                .units = gathering->units,
                                .unit_count = gathering->unit_count};
    return rc;
}

/* The row groups that no later slice needs give up their memory. */
static void let_go(struct pass *pass, size_t slice)
{
    const struct sta_slice_plan *plan = &pass->plan;
    uv_mutex_lock(&pass->lock);
    for (size_t i = plan->first_member[slice]; i < plan->first_member[slice + 1]; i++)
        if (--pass->held[plan->members[i]].uses == 0)
            for (size_t c = 0; c < pass->spec->consumer_count; c++)
                put_free(pass, &memories_of(pass, plan->members[i])[c]);
    uv_mutex_unlock(&pass->lock);
}

/* Waits until all earlier slices have had their turn.  Return: false when the pass has stopped. */
static bool await_turn(struct pass *pass, enum turn turn, size_t slice)
{
    uv_mutex_lock(&pass->lock);
    while (pass->turns[turn] != slice && !pass->stop)
        uv_cond_wait(&pass->changed, &pass->lock);
    bool mine = pass->turns[turn] == slice && !pass->stop;
    uv_mutex_unlock(&pass->lock);
    return mine;
}

static void end_turn(struct pass *pass, enum turn turn)
{
    uv_mutex_lock(&pass->lock);
    pass->turns[turn]++;
    uv_cond_broadcast(&pass->changed);
    uv_mutex_unlock(&pass->lock);
}

enum step { PREPARE, CARRY, MEASURE, SETTLE };

static sta_ordered_step step_of(const struct sta_ordered_consumer *consumer, enum step step)
{
    const sta_ordered_step steps[] = {consumer->prepare, consumer->carry, consumer->measure,
                                      consumer->finalize};
    return steps[step];
}

/* A step of all consumers.  @slices: by consumer. */
static int take_step(const struct pass *pass, enum step step, unsigned worker, const struct sta_slice *slices,
                     struct sta_error *err)
{
    int rc = 0;
    for (size_t c = 0; c < pass->spec->consumer_count && rc == 0; c++) {
        const struct sta_ordered_consumer *consumer = &pass->spec->consumers[c];
        if (step_of(consumer, step) != NULL)
            rc = step_of(consumer, step)(consumer->self, worker, &slices[c], err);
    }
    return rc;
}

static int take_turn(struct pass *pass, enum turn turn, unsigned worker, const struct sta_slice *slices,
                     struct sta_error *err)
{
    if (!await_turn(pass, turn, slices->number))
        return 0;
    int rc = take_step(pass, turn == TO_CARRY ? CARRY : SETTLE, worker, slices, err);
    if (rc == 0)
        end_turn(pass, turn);
    return rc;
}

static int do_slice(struct pass *pass, unsigned worker, size_t number, struct sta_error *err)
{
    struct sta_slice slices[STA_ORDERED_CONSUMERS];
    int rc = 0;
    for (size_t c = 0; c < pass->spec->consumer_count && rc == 0; c++)
        rc = gather(pass, &pass->gatherings[worker * pass->spec->consumer_count + c], number, c, &slices[c],
                    err);
    if (rc == 0)
        rc = take_step(pass, PREPARE, worker, slices, err);
    if (rc == 0)
        rc = take_turn(pass, TO_CARRY, worker, slices, err);
    if (rc == 0 && !pass->stop)
        rc = take_step(pass, MEASURE, worker, slices, err);
    if (rc == 0 && pass->settles)
        rc = take_turn(pass, TO_SETTLE, worker, slices, err);
    if (rc == 0)
        let_go(pass, number);
    return rc;
}

/* ---- who does what next */

enum task_kind { TASK_NONE, TASK_ROW_GROUP, TASK_SLICE };

struct task {
    enum task_kind kind;
    size_t number; /* row group or slice */
};

static struct task next_task(struct pass *pass)
{
    const struct sta_slice_plan *plan = &pass->plan;
    struct task task = {.kind = TASK_NONE};
    uv_mutex_lock(&pass->lock);
    while (!pass->stop && task.kind == TASK_NONE && pass->next_slice < plan->slice_count) {
        if (pass->read_prefix >= plan->reads[pass->next_slice])
            task = (struct task){TASK_SLICE, pass->next_slice++};
        else if (pass->next_row_group < pass->spec->row_group_count)
            task = (struct task){TASK_ROW_GROUP, plan->order[pass->next_row_group++]};
        else
            uv_cond_wait(&pass->changed, &pass->lock);
    }
    uv_mutex_unlock(&pass->lock);
    return task;
}

static int run_task(void *context, unsigned worker, size_t number, struct sta_error *err)
{
    struct pass *pass = context;
    const struct task task = next_task(pass);
    int rc = STA_OK;
    if (task.kind == TASK_ROW_GROUP)
        rc = read_row_group(pass, worker, (uint32_t)task.number, err);
    else if (task.kind == TASK_SLICE)
        rc = do_slice(pass, worker, task.number, err);
    if (rc != 0)
        stop_pass(pass);
    return rc;
}

/* ---- start and end */

static int pass_init(struct pass *pass, struct sta_error *err)
{
    struct sta_account *account = pass->budget->account;
    static const char what[] = "the row groups of a pass";
    const struct sta_ordered_pass *spec = pass->spec;
    const size_t consumers = spec->consumer_count, workers = sta_budget_workers(pass->budget);
    STA_ASSERT(consumers >= 1 && consumers <= STA_ORDERED_CONSUMERS);
    STA_ASSERT(uv_mutex_init(&pass->lock) == 0 && uv_cond_init(&pass->changed) == 0);
    pass->placings = sta_alloc_array(workers, sizeof *pass->placings);
    pass->gatherings = sta_alloc_array(workers * consumers, sizeof *pass->gatherings);
    for (size_t c = 0; c < consumers; c++)
        pass->settles |= spec->consumers[c].finalize != NULL;
    int rc = sta_slice_plan_init(&pass->plan, spec->row_groups, spec->row_group_count, spec->slice_rows,
                                 pass->budget, err);
    if (rc != 0)
        return rc;
    const size_t row_groups = spec->row_group_count + 1;
    const size_t uses = pass->plan.first_use[spec->row_group_count] + 1;
    pass->held = sta_account_calloc(account, row_groups, sizeof *pass->held, what, err);
    pass->memories = sta_account_calloc(account, row_groups * consumers, sizeof *pass->memories, what, err);
    pass->free_list = sta_account_calloc(account, row_groups * consumers, sizeof *pass->free_list, what, err);
    pass->ends = sta_account_calloc(account, uses * consumers, sizeof *pass->ends, what, err);
    if (pass->held == NULL || pass->memories == NULL || pass->free_list == NULL || pass->ends == NULL)
        return err->status;
    for (size_t i = 0; i < spec->row_group_count; i++)
        pass->held[i].uses = pass->plan.uses[i];
    return 0;
}

static void free_memories(struct sta_account *account, struct sta_ordered_memory *memories, size_t count)
{
    for (size_t i = 0; memories != NULL && i < count; i++) {
        sta_account_free(account, memories[i].records);
        sta_account_free(account, memories[i].groups);
    }
    sta_account_free(account, memories);
}

static void pass_fini(struct pass *pass)
{
    struct sta_account *account = pass->budget->account;
    const size_t consumers = pass->spec->consumer_count, workers = sta_budget_workers(pass->budget);
    for (size_t w = 0; w < workers; w++)
        sta_ordered_placing_fini(&pass->placings[w], account);
    for (size_t g = 0; g < workers * consumers; g++)
        sta_ordered_gathering_fini(&pass->gatherings[g], account);
    free(pass->placings);
    free(pass->gatherings);
    free_memories(account, pass->memories, pass->spec->row_group_count * consumers);
    free_memories(account, pass->free_list, pass->free_count);
    sta_account_free(account, pass->held);
    sta_account_free(account, pass->ends);
    sta_slice_plan_fini(&pass->plan, account);
    uv_cond_destroy(&pass->changed);
    uv_mutex_destroy(&pass->lock);
}

int sta_ordered_run(const struct sta_ordered_pass *spec, const struct sta_budget *budget,
                    struct sta_error *err)
{
    struct pass pass = {.spec = spec, .budget = budget};
    int rc = pass_init(&pass, err);
    if (rc == 0)
        rc = sta_tasks_run(budget, spec->row_group_count + pass.plan.slice_count, run_task, &pass, err);
    pass_fini(&pass);
    return rc;
}
