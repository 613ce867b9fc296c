/* Limits from the files of control groups.
 *
 * /proc/self/cgroup names the group in each hierarchy; a limit may stand there or at any group above.  In a
 * container the names may begin above what is mounted: levels that are not there are skipped on the way up.
 */
#include "common/cgroup.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* Reads up to two numbers of a file; "max" counts as absent.  Return: how many. */
static int read_numbers(const char *folder, const char *name, long long numbers[2])
{
    char *path = sta_sprintf("%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    free(path);
    if (file == NULL)
        return 0;
    int count = fscanf(file, "%lld %lld", &numbers[0], &numbers[1]);
    fclose(file);
    return count < 0 ? 0 : count;
}

static void limit_memory(struct sta_cgroup_limits *limits, const char *folder, const char *name)
{
    long long bytes[2];
    if (read_numbers(folder, name, bytes) > 0 && bytes[0] > 0)
        limits->memory = STA_MIN(limits->memory, (uint64_t)bytes[0]);
}

static void limit_cores(struct sta_cgroup_limits *limits, long long quota, long long period)
{
    double cores = (double)quota / (double)period;
    if (limits->cores == 0 || cores < limits->cores)
        limits->cores = cores;
}

static void read_v2(struct sta_cgroup_limits *limits, const char *folder)
{
    long long both[2];
    limit_memory(limits, folder, "memory.max");
    if (read_numbers(folder, "cpu.max", both) == 2 && both[0] > 0 && both[1] > 0)
        limit_cores(limits, both[0], both[1]);
}

static void read_v1_memory(struct sta_cgroup_limits *limits, const char *folder)
{
    limit_memory(limits, folder, "memory.limit_in_bytes");
}

static void read_v1_cpu(struct sta_cgroup_limits *limits, const char *folder)
{
    long long quota[2], period[2];
    if (read_numbers(folder, "cpu.cfs_quota_us", quota) > 0 && quota[0] > 0 &&
        read_numbers(folder, "cpu.cfs_period_us", period) > 0 && period[0] > 0)
        limit_cores(limits, quota[0], period[0]);
}

/* The group and all above it, up to the mount. */
static void walk_up(struct sta_cgroup_limits *limits, const char *root, const char *mount, const char *group,
                    void (*read)(struct sta_cgroup_limits *limits, const char *folder))
{
    char *folder = sta_sprintf("%s%s%s", root, mount, group);
    size_t end = strlen(root) + strlen(mount);
    for (;;) {
        read(limits, folder);
        char *slash = strrchr(folder, '/');
        if (slash == NULL || slash < folder + end)
            break;
        *slash = '\0';
    }
    free(folder);
}

/* Whether a list such as "cpu,cpuacct" has the controller. */
static bool has_controller(const char *list, const char *controller)
{
    size_t length = strlen(controller);
    for (const char *at = list; *at != '\0';) {
        size_t here = strcspn(at, ",");
        if (here == length && strncmp(at, controller, length) == 0)
            return true;
        at += here + (at[here] == ',');
    }
    return false;
}

/* A line is "number:controllers:/group"; the one of version 2 has no controllers. */
static void read_line(struct sta_cgroup_limits *limits, const char *root, char *line)
{
    char *controllers = strchr(line, ':');
    char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (group == NULL)
        return;
    *group++ = '\0';
    controllers++;
    group[strcspn(group, "\n")] = '\0';
    if (controllers[0] == '\0') {
        walk_up(limits, root, "/sys/fs/cgroup", group, read_v2);
        walk_up(limits, root, "/sys/fs/cgroup/unified", group, read_v2);
    }
    if (has_controller(controllers, "memory"))
        walk_up(limits, root, "/sys/fs/cgroup/memory", group, read_v1_memory);
    if (has_controller(controllers, "cpu"))
        walk_up(limits, root, "/sys/fs/cgroup/cpu", group, read_v1_cpu);
}

struct sta_cgroup_limits sta_cgroup_limits_read(const char *root)
{
    struct sta_cgroup_limits limits = {.memory = UINT64_MAX};
    char line[PATH_MAX + 256];
    char *path = sta_sprintf("%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    free(path);
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        read_line(&limits, root, line);
    if (file != NULL)
        fclose(file);
    return limits;
}
