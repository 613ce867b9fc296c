/* Limits of control groups, from made-up files. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cgroup.h"
#include "common/memory.h"

static char *root;

static void make_root(void)
{
    root = sta_strdup("/tmp/strata-cgroup-XXXXXX");
    cr_assert_not_null(mkdtemp(root));
}

static void remove_root(void)
{
    char *command = sta_sprintf("rm -rf '%s'", root);
    cr_assert_eq(system(command), 0);
    free(command);
    free(root);
}

static void put(const char *name, const char *text)
{
    char *path = sta_sprintf("%s%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    fputs(text, file);
    fclose(file);
    free(path);
}

Test(cgroup, no_files_are_no_limits, .init = make_root, .fini = remove_root)
{
    struct sta_cgroup_limits limits = sta_cgroup_limits_read(root);
    cr_assert_eq(limits.memory, UINT64_MAX);
    cr_assert(limits.cores == 0);
}

Test(cgroup, version_2_has_the_limits_of_the_service, .init = make_root, .fini = remove_root)
{
    put("/proc/self/cgroup", "0::/system.slice/strata.service\n");
    put("/sys/fs/cgroup/system.slice/strata.service/memory.max", "1073741824\n");
    put("/sys/fs/cgroup/system.slice/strata.service/cpu.max", "150000 100000\n");
    put("/sys/fs/cgroup/system.slice/memory.max", "max\n");
    struct sta_cgroup_limits limits = sta_cgroup_limits_read(root);
    cr_assert_eq(limits.memory, UINT64_C(1) << 30);
    cr_assert(fabs(limits.cores - 1.5) < 1e-9);
}

Test(cgroup, a_limit_further_up_counts_too, .init = make_root, .fini = remove_root)
{
    put("/proc/self/cgroup", "0::/user.slice/job/step\n");
    put("/sys/fs/cgroup/user.slice/job/step/memory.max", "max\n");
    put("/sys/fs/cgroup/user.slice/job/memory.max", "8589934592\n");
    put("/sys/fs/cgroup/user.slice/memory.max", "4294967296\n");
    put("/sys/fs/cgroup/user.slice/job/step/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/user.slice/cpu.max", "400000 100000\n");
    struct sta_cgroup_limits limits = sta_cgroup_limits_read(root);
    cr_assert_eq(limits.memory, UINT64_C(4) << 30);
    cr_assert(fabs(limits.cores - 4) < 1e-9);
}

Test(cgroup, version_1_has_a_hierarchy_for_each_controller, .init = make_root, .fini = remove_root)
{
    put("/proc/self/cgroup", "4:cpu,cpuacct:/batch/7\n3:cpuset:/other\n2:memory:/batch/8\n0::/\n");
    put("/sys/fs/cgroup/memory/batch/8/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/batch/memory.limit_in_bytes", "536870912\n");
    put("/sys/fs/cgroup/cpu/batch/7/cpu.cfs_quota_us", "200000\n");
    put("/sys/fs/cgroup/cpu/batch/7/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu/batch/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/batch/cpu.cfs_period_us", "100000\n");
    struct sta_cgroup_limits limits = sta_cgroup_limits_read(root);
    cr_assert_eq(limits.memory, UINT64_C(512) << 20);
    cr_assert(fabs(limits.cores - 2) < 1e-9);
}

Test(cgroup, in_a_container_the_limits_lie_at_the_mount, .init = make_root, .fini = remove_root)
{
    put("/proc/self/cgroup", "0::/docker/0123\n");
    put("/sys/fs/cgroup/memory.max", "268435456\n");
    struct sta_cgroup_limits limits = sta_cgroup_limits_read(root);
    cr_assert_eq(limits.memory, UINT64_C(256) << 20);
}
