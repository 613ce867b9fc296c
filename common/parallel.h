/* parallel.h - the same function on several threads.
 *
 * sta_parallel_run starts threads for one piece of work and joins them: starting costs some 30 us each, which is
 * small beside what is handed to it, and no pool can be exhausted or deadlocked by nesting. */
#ifndef STA_COMMON_PARALLEL_H
#define STA_COMMON_PARALLEL_H

/** Calls @run(context, worker) once for each worker 0 .. @workers - 1, the calling thread being worker 0; returns when all
 * have returned.  A thread that cannot be started is left out, so @run must share out work by itself (an atomic
 * counter), and every worker must be able to finish it all alone.  Context: any thread. */
void sta_parallel_run(unsigned workers, void (*run)(void *context, unsigned worker), void *context);

/** Cores that this process may use: affinity and cgroup quota. */
unsigned sta_usable_cores(void);
/** Bytes of memory that this process may use: machine and cgroup limit. */
unsigned long long sta_usable_memory(void);

#endif
