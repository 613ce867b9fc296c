/* shares.h - places that no client can take all of: of those that are free, each may have half at most, so
 * that there is always one for who has none. */
#ifndef STA_SERVE_SHARES_H
#define STA_SERVE_SHARES_H

#include <stdbool.h>
#include <stdint.h>

struct sta_shares;

struct sta_shares *sta_shares_create(uint64_t places);
/** All places must have been released. */
void sta_shares_destroy(struct sta_shares *shares);
/** A place for a client, by its number; false: it has its share, or all are taken.  Context: any thread, like
 * all. */
bool sta_shares_take(struct sta_shares *shares, uint64_t client);
void sta_shares_release(struct sta_shares *shares, uint64_t client);
/** How many places are taken. */
uint64_t sta_shares_taken(struct sta_shares *shares);

#endif
