/* Places that no client can take all of. */
#include "serve/http/shares.h"

#include <stdlib.h>
#include <uv.h>

#include "common/memory.h"

struct holder {
    uint64_t client, places;
};

struct sta_shares {
    uv_mutex_t lock; /* guards all below */
    uint64_t places, taken;
    struct holder *holders; /* clients that have a place */
    size_t count, capacity;
};

struct sta_shares *sta_shares_create(uint64_t places)
{
    struct sta_shares *shares = sta_alloc(sizeof *shares);
    shares->places = places;
    uv_mutex_init(&shares->lock);
    return shares;
}

void sta_shares_destroy(struct sta_shares *shares)
{
    STA_ASSERT(shares->taken == 0);
    uv_mutex_destroy(&shares->lock);
    free(shares->holders);
    free(shares);
}

/* Under the lock. */
static struct holder *find(struct sta_shares *shares, uint64_t client)
{
    for (size_t i = 0; i < shares->count; i++)
        if (shares->holders[i].client == client)
            return &shares->holders[i];
    return NULL;
}

bool sta_shares_take(struct sta_shares *shares, uint64_t client)
{
    uv_mutex_lock(&shares->lock);
    struct holder *holder = find(shares, client);
    bool free_one = (holder != NULL ? holder->places : 0) < shares->places - shares->taken;
    if (free_one && holder == NULL) {
        STA_GROW(shares->holders, shares->capacity, shares->count + 1);
        holder = &shares->holders[shares->count++];
        *holder = (struct holder){client, 0};
    }
    if (free_one) {
        holder->places++;
        shares->taken++;
    }
    uv_mutex_unlock(&shares->lock);
    return free_one;
}

void sta_shares_release(struct sta_shares *shares, uint64_t client)
{
    uv_mutex_lock(&shares->lock);
    struct holder *holder = find(shares, client);
    STA_ASSERT(holder != NULL);
    shares->taken--;
    if (--holder->places == 0)
        *holder = shares->holders[--shares->count];
    uv_mutex_unlock(&shares->lock);
}

uint64_t sta_shares_taken(struct sta_shares *shares)
{
    uv_mutex_lock(&shares->lock);
    uint64_t taken = shares->taken;
    uv_mutex_unlock(&shares->lock);
    return taken;
}
