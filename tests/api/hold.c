/* hold.c - loaded into a daemon before the C library: the first call of a kind, on a path, waits.
 *
 * The folder that STRATA_HOLD names has a file `armed` while one is wanted: "CALL TEXT", a call below and a
 * part of the path.  The first such call renames it to `held`, and goes on once there is a file `go`.  So a
 * test stops one request in the middle of its work, has another one come in, and lets it go on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Calls of this file's own, past its wrappers. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int is_there(const char *file)
{
    return access(file, F_OK) == 0;
}

static void hold(const char *call, const char *path)
{
    static __thread int inside;
    const char *folder = getenv("STRATA_HOLD");
    char armed[256], held[256], go[256], wanted[256] = "", kind[32] = "", part[200] = "";
    if (folder == NULL || path == NULL || inside)
        return;
    inside = 1;
    snprintf(armed, sizeof armed, "%s/armed", folder);
    snprintf(held, sizeof held, "%s/held", folder);
    snprintf(go, sizeof go, "%s/go", folder);
    int fd = is_there(armed) ? REAL(open64)(armed, O_RDONLY) : -1;
    if (fd >= 0) {
        ssize_t size = read(fd, wanted, sizeof wanted - 1);
        close(fd);
        if (size > 0 && sscanf(wanted, "%31s %199s", kind, part) == 2 && strcmp(kind, call) == 0 &&
            strstr(path, part) != NULL && rename(armed, held) == 0)
            while (!is_there(go))
                usleep(1000);
    }
    inside = 0;
}

int open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = va_arg(arguments, mode_t);
    va_end(arguments);
    hold("open", path);
    return REAL(open64)(path, flags, mode);
}

int mkdir(const char *path, mode_t mode)
{
    hold("mkdir", path);
    return REAL(mkdir)(path, mode);
}

int unlink(const char *path)
{
    hold("unlink", path);
    return REAL(unlink)(path);
}
