/* Kept timelines that give way while somebody waits for one. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>

#include "analyse/analyse.h"
#include "common/account.h"
#include "serve/responses/timelines.h"
#include "../../analyse/decoded_trace.h"

#define MEMORY ((size_t)1 << 20)

static const char LINES[] =
    "{\"id\":1,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":5,\"ph\":\"X\"}\n"
    "{\"id\":2,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,\"ts\":9,\"dur\":5,\"ph\":\"X\"}\n";

/* One thread makes the timeline until the other, which waits for it, has found its account short. */
struct scene {
    struct decoded_trace trace;
    struct sta_account kept, waiting; /* of the timelines; of the request that waits */
    struct sta_timelines *timelines;
    pthread_t waiter;
    _Atomic bool started;
    sem_t shrunk;
    int status; /* of the one that waits */
};

static void *wait_for_it(void *context)
{
    struct scene *scene = context;
    const struct sta_budget budget = {.account = &scene->waiting};
    struct sta_timeline *timeline = NULL;
    struct sta_error err = STA_ERROR_INIT;
    scene->status = sta_timelines_get(scene->timelines, "0123456789abcdef", scene->trace.snapshot, NULL,
                                      &budget, &timeline, &err);
    return NULL;
}

/* The one that makes it lacks memory: by then the other is started, and this one goes on when it has come so
 * far that it waits. */
static bool let_wait(void *context, size_t bytes, bool yields)
{
    struct scene *scene = context;
    if (!atomic_exchange(&scene->started, true)) {
        cr_assert_eq(pthread_create(&scene->waiter, NULL, wait_for_it, scene), 0);
        sem_wait(&scene->shrunk);
    }
    return false;
}

static bool shrink(void *context, size_t bytes, bool yields)
{
    struct scene *scene = context;
    sta_timelines_shrink(scene->timelines, MEMORY);
    sem_post(&scene->shrunk);
    return false;
}

Test(timelines, one_that_waits_can_make_them_give_way, .timeout = 240)
{
    static struct scene scene;
    const struct sta_budget budget = {.workers = 1};
    struct sta_timeline *timeline = NULL;
    struct sta_error err = STA_ERROR_INIT;
    decoded_trace_init(&scene.trace, LINES);
    sta_account_init(&scene.kept, MEMORY, "memory", NULL);
    sta_account_init(&scene.waiting, MEMORY, "query_memory", NULL);
    scene.kept.reclaim = let_wait;
    scene.waiting.reclaim = shrink;
    scene.kept.reclaim_context = scene.waiting.reclaim_context = &scene;
    sta_account_overdraw(&scene.kept, MEMORY + 1);
    sta_account_overdraw(&scene.waiting, MEMORY + 1);
    sem_init(&scene.shrunk, 0, 0);
    scene.timelines = sta_timelines_create(&scene.kept);
    cr_assert_eq(sta_timelines_get(scene.timelines, "0123456789abcdef", scene.trace.snapshot, NULL, &budget,
                                   &timeline, &err),
                 STA_ELIMIT, "%s", err.text);
    cr_assert(scene.started);
    pthread_join(scene.waiter, NULL);
    cr_assert_eq(scene.status, STA_ELIMIT);
    sta_timelines_destroy(scene.timelines);
    sem_destroy(&scene.shrunk);
    sta_account_close(&scene.kept);
    sta_account_close(&scene.waiting);
    decoded_trace_fini(&scene.trace);
}
