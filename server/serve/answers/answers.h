/* answers.h - computed answers, kept by (trace version, presets, request) within a number of bytes, and each
 * computed once however many ask for it at the same time. */
#ifndef STA_SERVE_ANSWERS_H
#define STA_SERVE_ANSWERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"
#include "serve/http/content.h"

struct sta_account;
struct sta_answers;
struct sta_flight; /* one answer being computed, and who waits for it */

/* Someone who waits.  The memory is the waiter's; it must stay until `done` was called or sta_waiter_leave
 * returned true. */
struct sta_waiter {
    struct sta_waiter *next, *previous;
    struct sta_flight *flight;
    /** Called once, on the thread that lands the flight; exactly one of @content (borrowed) and @failure is
     * set. */
    void (*done)(struct sta_waiter *waiter, struct sta_content *content, const struct sta_error *failure);
};

/** @account: when it has no room nothing more is kept; answers are charged to it by who makes them. */
struct sta_answers *sta_answers_create(uint64_t limit, struct sta_account *account);
/** Drops what was used longest ago until about so many bytes are free.  Return: how many are. */
size_t sta_answers_shrink(struct sta_answers *answers, size_t bytes);
/** No flight may be under way. */
void sta_answers_destroy(struct sta_answers *answers);

/** The kept answer, retained; NULL when there is none.  Context: any thread. */
struct sta_content *sta_answers_find(struct sta_answers *answers, const char *key, size_t size);

/**
 * sta_answers_join - wait for an answer
 * @waiter: NULL: nobody waits, the answer is wanted for later; such a flight is not cancelled
 * Return: NULL when all is arranged: an answer that was there has been given to the waiter, or it waits for a
 * flight under way.  Else a new flight, which the caller must land, from any thread.
 */
struct sta_flight *sta_answers_join(struct sta_answers *answers, const char *key, size_t size,
                                    struct sta_waiter *waiter);
/** Becomes true when the last waiter has left; others may set it to end the flight. */
_Atomic bool *sta_flight_cancel(struct sta_flight *flight);
/** Ends the flight: the content (taken over) is kept and given to all who wait, or, when NULL, the failure
 * is. */
void sta_flight_land(struct sta_flight *flight, struct sta_content *content, const struct sta_error *failure);
/** Stops waiting.  Return: false when `done` has been or is being called. */
bool sta_waiter_leave(struct sta_answers *answers, struct sta_waiter *waiter);
/** Cancels every flight. */
void sta_answers_cancel(struct sta_answers *answers);

/** Cancels every flight that nobody waits for: an answer that is made for later gives way.  Return: how many
 * of them have not ended yet. */
size_t sta_answers_cancel_prepared(struct sta_answers *answers);

struct sta_answers_figures {
    uint64_t limit, bytes, entries, hits, misses, joins, dropped;
};
struct sta_answers_figures sta_answers_figures(struct sta_answers *answers);

#endif
