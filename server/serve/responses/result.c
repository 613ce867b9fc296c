/* Rows, whatever holds them. */
#include "serve/responses/result.h"

#include <stdlib.h>

#include "common/account.h"
#include "common/memory.h"

#define DISK_SHARE 8 /* bytes on disk that weigh as much as one of memory: kept results must not fill it */

struct sta_result *sta_result_create(const struct sta_result_class *class, void *self)
{
    struct sta_result *result = sta_alloc(sizeof *result);
    result->references = 1;
    result->class = class;
    result->self = self;
    sta_buffer_init(&result->head);
    return result;
}

void sta_result_count_in(struct sta_result *result, struct sta_account *account)
{
    if (result->account != NULL)
        return;
    result->account = account;
    result->counted = sta_result_bytes(result);
    sta_account_overdraw(account, result->counted);
}

struct sta_result *sta_result_retain(struct sta_result *result)
{
    atomic_fetch_add(&result->references, 1);
    return result;
}

void sta_result_release(struct sta_result *result)
{
    if (result == NULL || atomic_fetch_sub(&result->references, 1) != 1)
        return;
    result->class->destroy(result->self);
    sta_account_release(result->account, result->counted);
    sta_buffer_fini(&result->head);
    free(result);
}

uint64_t sta_result_bytes(const struct sta_result *result)
{
    return sizeof *result + result->head.capacity + result->class->bytes(result->self);
}

uint64_t sta_result_weight(const struct sta_result *result)
{
    uint64_t disk = result->class->disk != NULL ? result->class->disk(result->self) : 0;
    return sta_result_bytes(result) + disk / DISK_SHARE;
}
