/* mapped.c - see mapped.h.
 *
 * DESIGN: segments are mapped, not kept open: a descriptor each would be thousands for a large trace, more
 * than many machines allow, and a mapping outlives the file's name as a descriptor does.  The handler jumps
 * out of memcpy only, which holds nothing. */
#include "store/format/mapped.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include "common/error.h"

static _Thread_local sigjmp_buf *volatile copying; /* where the copy of this thread fails to; NULL: none */
static struct sigaction before;

/* A signal that no copy is the cause of goes to whoever had it: the access that caused it is repeated. */
static void on_bus_error(int number)
{
    if (copying != NULL)
        siglongjmp(*copying, 1);
    sigaction(number, &before, NULL);
}

static void install(void)
{
    struct sigaction action = {.sa_handler = on_bus_error,
                               .sa_flags = SA_NODEFER}; /* a jump unblocks nothing */
    STA_ASSERT(sigaction(SIGBUS, &action, &before) == 0);
}

bool sta_copy_mapped(void *to, const void *from, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    sigjmp_buf failed;
    pthread_once(&once, install);
    if (sigsetjmp(failed, 0) != 0) {
        copying = NULL;
        return false;
    }
    copying = &failed;
    memcpy(to, from, size);
    copying = NULL;
    return true;
}
