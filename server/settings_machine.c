/* Settings whose default depends on the machine: its cores and memory, and where the program lies. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/parallel.h"
#include "server/settings_private.h"

static void set_text(char **field, char *value)
{
    free(*field);
    *field = value;
}

/* The first of the two places, seen from the program's own, that is there: where the build puts it, where
 * install puts it. */
static char *beside_program(const char *in_build, const char *installed)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash != NULL)
        *slash = '\0';
    char *path = sta_sprintf("%s/%s", program, in_build);
    if (access(path, F_OK) != 0) {
        free(path);
        path = sta_sprintf("%s/%s", program, installed);
    }
    return path;
}

static char *default_store(void)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    if (state != NULL && state[0] == '/')
        return sta_sprintf("%s/strata", state);
    return sta_sprintf("%s/.local/state/strata", home ? home : "");
}

void sta_settings_resolve(struct sta_settings *settings)
{
    if (settings->store[0] == '\0')
        set_text(&settings->store, default_store());
    if (settings->web[0] == '\0')
        set_text(&settings->web, beside_program("../web/site", "../share/strata/web"));
    if (settings->config_dir[0] == '\0')
        set_text(&settings->config_dir, beside_program("../config", "../share/strata/config"));
    if (settings->workers == 0)
        settings->workers = sta_usable_cores();
    if (settings->memory == 0)
        settings->memory = STA_MAX(sta_usable_memory() / 4, UINT64_C(256) << 20);
    if (settings->cache == 0)
        settings->cache = settings->memory / 8;
    if (settings->columns == 0)
        settings->columns = settings->memory / 4;
    if (settings->spill[0] == '\0')
        set_text(&settings->spill, sta_strdup(settings->store));
    if (settings->query_memory == 0)
        settings->query_memory = settings->memory / 3;
}
