/* calls.h - calls of the C library and allocations that fail at a chosen one, for programs that are linked
 * with
 * --wrap (meson.build lists what is wrapped). */
#ifndef STA_TESTS_FAULTS_CALLS_H
#define STA_TESTS_FAULTS_CALLS_H

#include <stdbool.h>

/** The (n + 1)-th wrapped call from now on fails with @errno_value, once or (@for_good) with all after it. */
void calls_fail_from(unsigned long n, int errno_value, bool for_good);
/** No call fails any more.  Return: whether one did. */
bool calls_work_again(void);

#endif
