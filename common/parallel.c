/* The same function on several threads; how many of them this process may use; and threads
 * with a short time slice. */
#include "common/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uv.h>

#include "common/cgroup.h"
#include "common/memory.h"

/* Where helpers may run.  Some schedulers put a new thread behind the one that makes it, though another core
 * is idle, and leave it there for milliseconds: so helpers begin on other cores. */
struct cores {
    cpu_set_t allowed, others; /* without the caller's */
    bool several;
};

struct helper {
    pthread_t thread;
    void (*run)(void *context, unsigned worker);
    void *context;
    unsigned worker;
    const struct cores *cores;
    bool started;
};

static void find_cores(struct cores *cores)
{
    const int here = sched_getcpu();
    cores->several = here >= 0 && sched_getaffinity(0, sizeof cores->allowed, &cores->allowed) == 0;
    if (!cores->several)
        return;
    cores->others = cores->allowed;
    CPU_CLR((size_t)here, &cores->others);
    cores->several = CPU_COUNT(&cores->others) > 0;
}

static void *helper_main(void *argument)
{
    struct helper *helper = argument;
    if (helper->cores->several)
        (void)sched_setaffinity(0, sizeof helper->cores->allowed, &helper->cores->allowed);
    helper->run(helper->context, helper->worker);
    return NULL;
}

static void start(struct helper *helper)
{
    pthread_attr_t attributes;
    const cpu_set_t *others = &helper->cores->others;
    if (helper->cores->several && pthread_attr_init(&attributes) == 0) {
        helper->started = pthread_attr_setaffinity_np(&attributes, sizeof *others, others) == 0 &&
                          pthread_create(&helper->thread, &attributes, helper_main, helper) == 0;
        pthread_attr_destroy(&attributes);
    }
    if (!helper->started)
        helper->started = pthread_create(&helper->thread, NULL, helper_main, helper) == 0;
}

void sta_parallel_run(unsigned workers, void (*run)(void *context, unsigned worker), void *context)
{
    struct cores cores = {.several = false};
    struct helper *helpers = sta_alloc_array(workers, sizeof *helpers);
    const bool alone = workers == 1 || sta_memory_is_short(); /* a thread takes a stack */
    if (!alone)
        find_cores(&cores);
    for (unsigned i = 1; i < workers && !alone; i++) {
        helpers[i] = (struct helper){.run = run, .context = context, .worker = i, .cores = &cores};
        start(&helpers[i]);
    }
    run(context, 0);
    for (unsigned i = 1; i < workers; i++)
        if (helpers[i].started)
            pthread_join(helpers[i].thread, NULL);
    free(helpers);
}

#define ZEROED_PART ((size_t)4 << 20)

struct zeroing {
    char *memory;
    size_t size;
    _Atomic size_t next;
};

static void zero_some(void *context, unsigned worker)
{
    struct zeroing *zeroing = context;
    (void)worker;
    for (size_t at; (at = atomic_fetch_add(&zeroing->next, ZEROED_PART)) < zeroing->size;)
        memset(zeroing->memory + at, 0, STA_MIN(zeroing->size - at, ZEROED_PART));
}

void *sta_parallel_zero(void *memory, size_t size)
{
    struct zeroing zeroing = {.memory = memory, .size = size};
    sta_parallel_run(size < 2 * ZEROED_PART ? 1 : sta_usable_cores(), zero_some, &zeroing);
    return memory;
}

#define SHORT_TURN_NS 200000

/* What the system call takes, which has no function in the C library: sched_setattr(2). */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t turn_ns, deadline_ns, period_ns;
};

void sta_thread_set_time_slice(void)
{
    struct scheduling own = {.size = sizeof own};
    if (syscall(SYS_sched_getattr, 0, &own, sizeof own, 0) != 0)
        return;
    own.turn_ns = SHORT_TURN_NS;
    (void)syscall(SYS_sched_setattr, 0, &own, 0);
}

void sta_thread_lower_priority(int by)
{
    /* Of the thread alone: Linux keeps this by thread. */
    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), by);
}

static unsigned usable_cores;

static void find_usable_cores(void)
{
    cpu_set_t set;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        cores = CPU_COUNT(&set);
    double quota = sta_cgroup_limits_read("").cores;
    if (quota > 0 && quota < (double)cores)
        cores = (long)(quota + 0.999);
    usable_cores = cores < 1 ? 1 : (unsigned)cores;
}

unsigned sta_usable_cores(void)
{
    static uv_once_t once = UV_ONCE_INIT;
    uv_once(&once, find_usable_cores);
    return usable_cores;
}

unsigned long long sta_usable_memory(void)
{
    unsigned long long bytes =
        (unsigned long long)sysconf(_SC_PHYS_PAGES) * (unsigned long long)sysconf(_SC_PAGESIZE);
    return STA_MIN(bytes, sta_cgroup_limits_read("").memory);
}
