/* parallel.h - the same function on several threads.
 *
 * sta_parallel_run starts threads for one piece of work and joins them: starting costs some 30 us each, which
 * is small beside what is handed to it, and no pool can be exhausted or deadlocked by nesting.  They begin on
 * other cores than the caller's, if it may use others, and may run on all of its cores from then on. */
#ifndef STA_COMMON_PARALLEL_H
#define STA_COMMON_PARALLEL_H

#include <stddef.h>

/** Calls @run(context, worker) once for each worker 0 .. @workers - 1, the calling thread being worker 0;
 * returns when all have returned.  A thread that cannot be started is left out, so @run must share out work
 * by itself (an atomic counter), and every worker must be able to finish it all alone.  Context: any
 * thread. */
void sta_parallel_run(unsigned workers, void (*run)(void *context, unsigned worker), void *context);

/** Zeroes memory: of what is large some threads each a part, since pages that were never touched cost far
 * more than the zeros. */
void *sta_parallel_zero(void *memory, size_t size);

/**
 * sta_thread_set_time_slice - have the calling thread, and those it starts from now on, get a core soon after
 * they wake.  For threads that do little at a time while others compute: they ask the scheduler for short
 * turns, which come earlier and are no more in sum.  Needs no privilege; does nothing where the kernel
 * (before Linux 6.12) has one length of turn for all.
 */
void sta_thread_set_time_slice(void);

/** Has the calling thread, and those it starts from now on, get less of a core that threads of usual priority
 * want too: for what nobody waits for.  It cannot be taken back.  @by: 1 .. 19, as nice(1) has it: with 5 a
 * third of their time, with 10 a tenth. */
void sta_thread_lower_priority(int by);

/** Cores that this process may use: affinity, and the quotas of its control group and those above it, as they
 * were when this was first asked. */
unsigned sta_usable_cores(void);
/** Bytes of memory that this process may use: the machine's, and the limits of its control group and those
 * above it. */
unsigned long long sta_usable_memory(void);

#endif
