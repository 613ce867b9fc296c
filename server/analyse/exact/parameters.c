/* Layers by name, widths of bins. */
#include "analyse/exact/parameters.h"

#include <string.h>

#include "common/buffer.h"

int sta_exact_layer(const struct sta_bound_query *bound, const char *name, uint32_t *layer,
                    struct sta_error *err)
{
    const struct sta_preset *preset = bound->preset;
    for (size_t l = 0; l < preset->layer_count; l++)
        if (strcmp(preset->layers[l].name, name) == 0) {
            *layer = (uint32_t)l;
            return 0;
        }
    struct sta_buffer names;
    sta_buffer_init(&names);
    for (size_t l = 0; l < preset->layer_count; l++)
        sta_put_format(&names, "%s%s", l > 0 ? ", " : "", preset->layers[l].name);
    sta_put_char(&names, '\0');
    sta_fail(err, STA_EINPUT, "preset %s has no layer \"%.100s\"; it has %.900s", preset->name, name,
             names.data);
    sta_buffer_fini(&names);
    return sta_at(err, "/layer", -1);
}

int sta_exact_granularity(const struct sta_bound_query *bound, int64_t granularity_us, int64_t *ticks,
                          struct sta_error *err)
{
    const int64_t most = STA_TIME_LIMIT / 1000;
    *ticks = granularity_us * bound->ticks_per_us;
    if (granularity_us >= 1 && granularity_us <= most)
        return 0;
    sta_fail(err, STA_EINPUT, "granularity must be from 1 microsecond to %lld seconds",
             (long long)(most / 1000000));
    return sta_at(err, "/granularity", -1);
}
