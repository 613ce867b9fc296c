/* Jobs: they run, fail, can be cancelled, wait in a bounded queue, and always release what they were
 * given. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "server/jobs.h"

struct task {
    _Atomic bool hold; /* runs until this is false or the job is cancelled */
    int status;
    _Atomic int released;
};

static int run(void *context, struct sta_job *job, struct sta_error *err)
{
    struct task *task = context;
    while (atomic_load(&task->hold)) {
        if (atomic_load(sta_job_cancel_flag(job)))
            return sta_fail(err, STA_ECANCELLED, "cancelled");
        usleep(1000);
    }
    sta_job_progress(job, 0.5, 10, 20, 30);
    return task->status == STA_OK ? STA_OK : sta_fail(err, task->status, "as asked");
}

static void release(void *context)
{
    atomic_fetch_add(&((struct task *)context)->released, 1);
}

static int submit(struct sta_jobs *jobs, struct task *task, char id[STA_JOB_ID_SIZE])
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_job_request request = {
        .kind = "test", .trace = "t", .run = run, .release = release, .context = task};
    return sta_jobs_submit(jobs, &request, id, &err);
}

static struct sta_job_view outcome(struct sta_jobs *jobs, const char *id)
{
    struct sta_job_view view;
    sta_jobs_wait(jobs, id);
    cr_assert(sta_jobs_view(jobs, id, &view));
    return view;
}

static void quiet(void)
{
    sta_log_configure(STA_LOG_ERROR, STA_LOG_JSON);
}

Test(jobs, a_job_runs_and_tells_its_figures, .init = quiet)
{
    struct sta_jobs *jobs = sta_jobs_create(1, 10);
    struct task task = {0};
    char id[STA_JOB_ID_SIZE];
    cr_assert_eq(submit(jobs, &task, id), STA_OK);
    struct sta_job_view view = outcome(jobs, id);
    cr_assert_eq(view.state, STA_JOB_DONE);
    cr_assert(view.progress == 1 && view.events == 30 && view.total_bytes == 20);
    cr_assert(view.finished_us >= view.started_us && view.started_us >= view.queued_us);
    cr_assert_eq(atomic_load(&task.released), 1);
    sta_jobs_destroy(jobs);
}

Test(jobs, a_failure_keeps_its_cause, .init = quiet)
{
    struct sta_jobs *jobs = sta_jobs_create(1, 10);
    struct task task = {.status = STA_ENOSPC};
    char id[STA_JOB_ID_SIZE];
    cr_assert_eq(submit(jobs, &task, id), STA_OK);
    struct sta_job_view view = outcome(jobs, id);
    cr_assert_eq(view.state, STA_JOB_FAILED);
    cr_assert_eq(view.error.status, STA_ENOSPC);
    cr_assert_str_eq(view.error.text, "as asked");
    sta_jobs_destroy(jobs);
}

Test(jobs, running_and_waiting_jobs_can_be_cancelled, .init = quiet)
{
    struct sta_jobs *jobs = sta_jobs_create(1, 10);
    struct sta_error err = STA_ERROR_INIT;
    struct task first = {.hold = true};
    struct task second = {.hold = true};
    char ids[2][STA_JOB_ID_SIZE];
    struct sta_job_view view;
    cr_assert_eq(submit(jobs, &first, ids[0]), STA_OK);
    cr_assert_eq(submit(jobs, &second, ids[1]), STA_OK);
    cr_assert(sta_jobs_of_trace(jobs, "t", &view));
    cr_assert_eq(sta_jobs_cancel(jobs, ids[1], &err), STA_OK);
    cr_assert_eq(outcome(jobs, ids[1]).state, STA_JOB_CANCELLED, "a waiting one ends at once");
    cr_assert_eq(sta_jobs_cancel(jobs, ids[0], &err), STA_OK);
    cr_assert_eq(outcome(jobs, ids[0]).state, STA_JOB_CANCELLED);
    cr_assert_not(sta_jobs_of_trace(jobs, "t", &view));
    cr_assert_eq(sta_jobs_cancel(jobs, "0000000000000000", &err), STA_ENOTFOUND);
    cr_assert(atomic_load(&first.released) == 1 && atomic_load(&second.released) == 1);
    sta_jobs_destroy(jobs);
}

Test(jobs, the_queue_is_bounded, .init = quiet)
{
    struct sta_jobs *jobs = sta_jobs_create(1, 1);
    struct task tasks[3] = {{.hold = true}, {.hold = true}, {.hold = true}};
    struct sta_job_view view = {0};
    char ids[3][STA_JOB_ID_SIZE];
    cr_assert_eq(submit(jobs, &tasks[0], ids[0]), STA_OK);
    while (view.state != STA_JOB_RUNNING) {
        cr_assert(sta_jobs_view(jobs, ids[0], &view));
        usleep(1000);
    }
    cr_assert_eq(submit(jobs, &tasks[1], ids[1]), STA_OK);
    cr_assert_eq(submit(jobs, &tasks[2], ids[2]), STA_EBUSY);
    cr_assert_eq(atomic_load(&tasks[2].released), 1, "what was refused is released");
    sta_jobs_destroy(jobs);
    cr_assert(atomic_load(&tasks[0].released) == 1 && atomic_load(&tasks[1].released) == 1);
}

static void count_change(void *context)
{
    atomic_fetch_add((_Atomic int *)context, 1);
}

Test(jobs, a_listener_hears_of_changes, .init = quiet)
{
    struct sta_jobs *jobs = sta_jobs_create(2, 10);
    static _Atomic int changes;
    struct task task = {0};
    char id[STA_JOB_ID_SIZE];
    sta_jobs_on_change(jobs, count_change, &changes);
    cr_assert_eq(submit(jobs, &task, id), STA_OK);
    sta_jobs_wait(jobs, id);
    sta_jobs_destroy(jobs);
    cr_assert_geq(atomic_load(&changes), 3, "queued, started, ended");
}

Test(jobs, work_that_runs_elsewhere_is_seen_and_can_be_cancelled, .init = quiet)
{
    struct sta_jobs *jobs = sta_jobs_create(1, 10);
    struct sta_job_view view;
    struct sta_error err = STA_ERROR_INIT;
    size_t count;
    _Atomic bool cancel = false;
    struct sta_job *job = sta_jobs_adopt(jobs, "query", "t", &cancel, 2000000000);
    struct sta_job_view *views = sta_jobs_list(jobs, &count);
    cr_assert_eq(count, 1);
    view = views[0];
    free(views);
    cr_expect(view.state == STA_JOB_RUNNING && strcmp(view.kind, "query") == 0);
    cr_expect_not(sta_jobs_of_trace(jobs, "t", &(struct sta_job_view){0}), "it is no ingest");
    sta_job_progress(job, 0, 100, 0, 7);
    cr_expect(sta_jobs_view(jobs, view.id, &view) && view.events == 7 && view.rate < 7 / 1.9);
    cr_expect_eq(sta_jobs_cancel(jobs, view.id, &err), STA_OK);
    cr_expect(atomic_load(&cancel));
    sta_jobs_release(job, sta_fail(&err, STA_ECANCELLED, "as asked"), &err);
    cr_expect(sta_jobs_view(jobs, view.id, &view) && view.state == STA_JOB_CANCELLED);
    sta_jobs_destroy(jobs);
}

Test(jobs, a_long_job_outlives_the_memory_of_short_ones, .init = quiet)
{
    struct sta_jobs *jobs = sta_jobs_create(1, 10);
    struct sta_job_view view;
    struct sta_error err = STA_ERROR_INIT;
    size_t count;
    _Atomic bool cancel = false;
    struct sta_job *first = sta_jobs_adopt(jobs, "query", NULL, &cancel, 0);
    for (unsigned i = 0; i < 1500; i++)
        sta_jobs_release(sta_jobs_adopt(jobs, "query", NULL, &cancel, 0), STA_OK, &err);
    struct sta_job_view *views = sta_jobs_list(jobs, &count);
    view = views[count - 1];
    free(views);
    cr_expect(count < 1100 && view.state == STA_JOB_RUNNING);
    sta_jobs_release(first, STA_OK, &err);
    cr_expect(sta_jobs_view(jobs, view.id, &view) && view.state == STA_JOB_DONE);
    sta_jobs_destroy(jobs);
}

/* ---- the small slot */

struct sized_task {
    struct task task;
    bool large;
    _Atomic bool ran_small;
    _Atomic int runs;
};

static int run_sized(void *context, struct sta_job *job, struct sta_error *err)
{
    struct sized_task *sized = context;
    atomic_fetch_add(&sized->runs, 1);
    if (sta_job_in_small_slot(job))
        atomic_store(&sized->ran_small, true);
    if (sized->large && sta_job_in_small_slot(job))
        return sta_job_leave_small_slot(job, err);
    return run(&sized->task, job, err);
}

static void release_sized(void *context)
{
    release(&((struct sized_task *)context)->task);
}

static void submit_sized(struct sta_jobs *jobs, struct sized_task *sized, char id[STA_JOB_ID_SIZE])
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_job_request request = {
        .kind = "test", .run = run_sized, .release = release_sized, .context = sized, .may_be_small = true};
    cr_assert_eq(sta_jobs_submit(jobs, &request, id, &err), STA_OK);
}

static void wait_for_run(const struct sized_task *sized)
{
    while (atomic_load(&sized->runs) == 0)
        usleep(1000);
}

Test(jobs, a_small_job_passes_a_long_one_and_a_large_one_waits, .init = quiet)
{
    struct sta_jobs *jobs = sta_jobs_create(1, 10);
    struct sized_task long_one = {.task.hold = true};
    struct sized_task large = {.large = true};
    struct sized_task small = {0};
    struct sta_job_view view;
    char ids[3][STA_JOB_ID_SIZE];
    submit_sized(jobs, &long_one, ids[0]);
    wait_for_run(&long_one);
    cr_expect_not(atomic_load(&long_one.ran_small), "a runner was free");
    submit_sized(jobs, &large, ids[1]);
    submit_sized(jobs, &small, ids[2]);
    cr_expect_eq(outcome(jobs, ids[2]).state, STA_JOB_DONE);
    cr_expect(atomic_load(&small.ran_small));
    wait_for_run(&large);
    while (sta_jobs_view(jobs, ids[1], &view) && view.state != STA_JOB_QUEUED)
        usleep(1000);
    cr_expect_eq(atomic_load(&large.task.released), 0);
    atomic_store(&long_one.task.hold, false);
    cr_expect_eq(outcome(jobs, ids[1]).state, STA_JOB_DONE);
    cr_expect_eq(atomic_load(&large.runs), 2, "tried once in the small slot, then run");
    sta_jobs_destroy(jobs);
    cr_expect(atomic_load(&large.task.released) == 1 && atomic_load(&small.task.released) == 1);
}

Test(jobs, a_large_job_that_waits_can_be_cancelled, .init = quiet)
{
    struct sta_jobs *jobs = sta_jobs_create(1, 10);
    struct sta_error err = STA_ERROR_INIT;
    struct sized_task long_one = {.task.hold = true};
    struct sized_task large[20];
    char id[STA_JOB_ID_SIZE], ids[20][STA_JOB_ID_SIZE];
    submit_sized(jobs, &long_one, id);
    wait_for_run(&long_one);
    for (size_t i = 0; i < 20; i++) { /* before, while and after it is in the small slot */
        large[i] = (struct sized_task){.large = true};
        if (i % 10 == 0 && i > 0)
            outcome(jobs, ids[i - 1]);
        submit_sized(jobs, &large[i], ids[i]);
        cr_assert_eq(sta_jobs_cancel(jobs, ids[i], &err), STA_OK);
    }
    for (size_t i = 0; i < 20; i++) {
        cr_expect_eq(outcome(jobs, ids[i]).state, STA_JOB_CANCELLED);
        while (atomic_load(&large[i].task.released) == 0)
            usleep(1000);
    }
    sta_jobs_destroy(jobs);
    for (size_t i = 0; i < 20; i++)
        cr_expect_eq(atomic_load(&large[i].task.released), 1);
}
