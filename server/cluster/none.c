/* A build without MPI: there are no ranks. */
#include "cluster/cluster.h"

bool sta_cluster_is_rank(void)
{
    return false;
}

/* So these are never called. */

int sta_cluster_join(const struct sta_cluster_options *options, struct sta_cluster **cluster,
                     struct sta_error *err)
{
    STA_ASSERT(options == NULL);
    return STA_EUNSUPPORTED;
}

unsigned sta_cluster_rank(const struct sta_cluster *cluster)
{
    STA_ASSERT(cluster == NULL);
    return 0;
}

int sta_cluster_work(struct sta_cluster *cluster, struct sta_error *err)
{
    STA_ASSERT(cluster == NULL);
    return STA_EUNSUPPORTED;
}

void sta_cluster_leave(struct sta_cluster *cluster)
{
    STA_ASSERT(cluster == NULL);
}

const struct sta_peers *sta_cluster_peers(const struct sta_cluster *cluster)
{
    STA_ASSERT(cluster == NULL);
    return NULL;
}

int sta_cluster_announce(const struct sta_cluster *cluster, const char *address, struct sta_error *err)
{
    STA_ASSERT(cluster == NULL);
    return STA_EUNSUPPORTED;
}

int sta_cluster_put_ranks(struct sta_cluster *cluster, struct sta_buffer *out)
{
    STA_ASSERT(cluster == NULL);
    return -1;
}

void sta_cluster_put_metrics(struct sta_cluster *cluster, struct sta_buffer *out)
{
    STA_ASSERT(cluster == NULL);
}

const struct sta_fellow_readers *sta_cluster_readers(const struct sta_cluster *cluster)
{
    STA_ASSERT(cluster == NULL);
    return NULL;
}
