/* Work for another process, by what kind of query it is. */
#include "analyse/facade/share.h"

#include "analyse/exact/share.h"
#include "analyse/overlap/partial.h"
#include "analyse/query/rows/share.h"
#include "analyse/sources/shared.h"

int sta_share_work(const struct sta_share_host *host, struct sta_cursor *query,
                   const struct sta_stripe *stripe, const struct sta_budget *budget, struct sta_buffer *state,
                   struct sta_error *err)
{
    const uint32_t kind = sta_get_u32(query);
    if (query->failed)
        return sta_shared_fail(err);
    switch (kind) {
    case STA_SHARED_GROUPS:
    case STA_SHARED_ROWS:
        return sta_share_query_work(host, kind == STA_SHARED_ROWS, query, stripe, budget, state, err);
    case STA_SHARED_EXACT:
        return sta_exact_share_work(host, query, stripe, budget, state, err);
    case STA_SHARED_OVERLAP:
        return sta_overlap_share_work(host, query, stripe, budget, state, err);
    default:
        return sta_shared_fail(err);
    }
}
