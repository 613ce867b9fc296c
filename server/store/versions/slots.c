/* Pieces of huge pages.  The head of a page says which of them are free; since pages are aligned, the page of
 * a piece is known by its address. */
#include "store/versions/slots.h"

#include <stdint.h>
#include "common/memory.h"

#define LINE ((size_t)64)

struct free_piece {
    struct free_piece *next;
};

struct sta_slot_page {
    struct sta_slot_page *next, *previous; /* among those that have a free piece */
    struct free_piece *given_back;
    size_t taken;
    size_t fresh; /* pieces from this one on were never taken */
};

static size_t pieces_of_page(const struct sta_slots *slots)
{
    return (STA_HUGE_PAGE - LINE) / slots->size;
}

void sta_slots_init(struct sta_slots *slots, size_t size, struct sta_account *account)
{
    _Static_assert(sizeof(struct sta_slot_page) <= LINE, "the head of a page is a line");
    *slots = (struct sta_slots){.account = account, .size = (size + LINE - 1) / LINE * LINE};
    STA_ASSERT(slots->size <= STA_HUGE_PAGE / 4 && pthread_mutex_init(&slots->lock, NULL) == 0);
}

void sta_slots_fini(struct sta_slots *slots)
{
    STA_ASSERT(slots->pages == 0);
    pthread_mutex_destroy(&slots->lock);
}

/* ---- with the lock held */

static void put_in(struct sta_slots *slots, struct sta_slot_page *page)
{
    page->previous = NULL;
    page->next = slots->open;
    if (page->next != NULL)
        page->next->previous = page;
    slots->open = page;
}

static void take_out(struct sta_slots *slots, struct sta_slot_page *page)
{
    *(page->previous != NULL ? &page->previous->next : &slots->open) = page->next;
    if (page->next != NULL)
        page->next->previous = page->previous;
}

static void *take_piece(struct sta_slots *slots, struct sta_slot_page *page)
{
    struct free_piece *piece = page->given_back;
    if (piece != NULL)
        page->given_back = piece->next;
    else
        piece = (struct free_piece *)((char *)page + LINE + page->fresh++ * slots->size);
    if (++page->taken == pieces_of_page(slots))
        take_out(slots, page);
    return piece;
}

/* ---- pieces */

/* Not under the lock: the system clears a huge page when it is first written to. */
static struct sta_slot_page *make_page(struct sta_slots *slots)
{
    if (!sta_account_try_charge(slots->account, STA_HUGE_PAGE))
        return NULL;
    struct sta_slot_page *page = sta_try_alloc(STA_HUGE_PAGE);
    if (page == NULL)
        sta_account_release(slots->account, STA_HUGE_PAGE);
    else
        *page = (struct sta_slot_page){.taken = 0};
    return page;
}

void *sta_slots_take(struct sta_slots *slots)
{
    pthread_mutex_lock(&slots->lock);
    if (slots->open == NULL) {
        pthread_mutex_unlock(&slots->lock);
        struct sta_slot_page *page = make_page(slots);
        pthread_mutex_lock(&slots->lock);
        if (page != NULL)
            put_in(slots, page);
        slots->pages += page != NULL;
    }
    void *piece = slots->open != NULL ? take_piece(slots, slots->open) : NULL;
    pthread_mutex_unlock(&slots->lock);
    return piece;
}

void sta_slots_free(struct sta_slots *slots, void *memory)
{
    struct sta_slot_page *page = (struct sta_slot_page *)((uintptr_t)memory & ~(STA_HUGE_PAGE - 1));
    struct free_piece *piece = memory;
    pthread_mutex_lock(&slots->lock);
    if (page->taken == pieces_of_page(slots))
        put_in(slots, page);
    piece->next = page->given_back;
    page->given_back = piece;
    const bool empty = --page->taken == 0;
    if (empty) {
        take_out(slots, page);
        slots->pages--;
    }
    pthread_mutex_unlock(&slots->lock);
    if (!empty)
        return;
    sta_free(page);
    sta_account_release(slots->account, STA_HUGE_PAGE);
}

size_t sta_slots_bytes(struct sta_slots *slots)
{
    pthread_mutex_lock(&slots->lock);
    const size_t bytes = slots->pages * STA_HUGE_PAGE;
    pthread_mutex_unlock(&slots->lock);
    return bytes;
}
