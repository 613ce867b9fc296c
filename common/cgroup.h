/* cgroup.h - the limits of the control group that this process runs in, such as a service's MemoryMax=. */
#ifndef STA_COMMON_CGROUP_H
#define STA_COMMON_CGROUP_H

#include <stdint.h>

struct sta_cgroup_limits {
    uint64_t memory; /* bytes; UINT64_MAX: no limit */
    double cores;    /* of processor time per time; 0: no limit */
};

/**
 * sta_cgroup_limits_read - the least limits of the process's group and of all groups above it
 * Knows cgroup v2 and v1, also side by side.  What cannot be read is no limit.
 * @root: where /proc and /sys/fs/cgroup are looked for: "" but in tests
 */
struct sta_cgroup_limits sta_cgroup_limits_read(const char *root);

#endif
