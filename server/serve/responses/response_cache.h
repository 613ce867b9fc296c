/* response_cache.h - computed responses, kept by (trace version, presets, request) within a number of bytes,
 * and each computed once however many ask for it at the same time. */
#ifndef STA_SERVE_RESPONSE_CACHE_H
#define STA_SERVE_RESPONSE_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"
#include "serve/http/representation.h"

struct sta_account;
struct sta_response_cache;
struct sta_flight; /* one response being computed, and who waits for it */

/* Someone who waits.  The memory is the waiter's; it must stay until `done` was called or sta_waiter_leave
 * returned true. */
struct sta_waiter {
    struct sta_waiter *next, *previous;
    struct sta_flight *flight;
    /** Called once, on the thread that lands the flight; exactly one of @content (borrowed) and @failure is
     * set. */
    void (*done)(struct sta_waiter *waiter, struct sta_representation *content,
                 const struct sta_error *failure);
};

/** @account: when it is used up nothing more is kept; responses are charged to it by who makes them. */
struct sta_response_cache *sta_response_cache_create(uint64_t limit, struct sta_account *account);
/** Drops what was used longest ago until about so many bytes are free.  Return: how many are. */
size_t sta_response_cache_shrink(struct sta_response_cache *cache, size_t bytes);
/** Drops every cached response whose key has the text in it, such as the id of a trace of which there is a
 * new version.  Flights under way are not touched.  Context: any thread. */
void sta_response_cache_forget(struct sta_response_cache *cache, const char *text);
/** No flight may be under way. */
void sta_response_cache_destroy(struct sta_response_cache *cache);

/** The cached response, retained; NULL when there is none.  Context: any thread. */
struct sta_representation *sta_response_cache_find(struct sta_response_cache *cache, const char *key,
                                                   size_t size);

/**
 * sta_response_cache_join - wait for a response
 * @waiter: NULL: nobody waits, the response is wanted for later; such a flight is not cancelled
 * Return: NULL when all is arranged: a response that was there has been given to the waiter, or it waits for
 * a flight under way.  Else a new flight, which the caller must land, from any thread.
 */
struct sta_flight *sta_response_cache_join(struct sta_response_cache *cache, const char *key, size_t size,
                                           struct sta_waiter *waiter);
/** Becomes true when the last waiter has left; others may set it to end the flight. */
_Atomic bool *sta_flight_cancel(struct sta_flight *flight);
/** Ends the flight: the content (taken over) is kept and given to all who wait, or, when NULL, the failure
 * is. */
void sta_flight_land(struct sta_flight *flight, struct sta_representation *content,
                     const struct sta_error *failure);
/** Stops waiting.  Return: false when `done` has been or is being called. */
bool sta_waiter_leave(struct sta_response_cache *cache, struct sta_waiter *waiter);
/** Cancels every flight. */
void sta_response_cache_cancel(struct sta_response_cache *cache);

/** Cancels every flight that nobody waits for: a response that is made for later gives way.  Return: how many
 * of them have not ended yet. */
size_t sta_response_cache_cancel_prepared(struct sta_response_cache *cache);

struct sta_response_cache_figures {
    uint64_t limit, bytes, entries, hits, misses, joins, dropped;
};
struct sta_response_cache_figures sta_response_cache_figures(struct sta_response_cache *cache);

#endif
