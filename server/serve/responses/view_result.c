/* Rows of views, kept apart from their pages. */
#include "serve/responses/views.h"

#include "common/account.h"

#define PIECE_ROWS 4096 /* that are written at a time */

struct sta_result *sta_view_result(const struct sta_view *view, struct sta_table *table,
                                   const struct sta_facts *facts)
{
    struct sta_response_names names = sta_view_names(view);
    struct sta_result *result = sta_result_of_table(table, NULL, NULL);
    sta_put_names(&result->head, &names, facts);
    return result;
}

static int base_result(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                       struct sta_error *err)
{
    struct sta_result_cache *kept = view->server->results;
    struct sta_result_claim *claim;
    int status = sta_result_cache_claim(kept, view->key.data, view->rows_size, budget, result, &claim, err);
    if (claim == NULL)
        return status;
    status = view->kind->result(view, budget, result, err);
    if (status == STA_OK && sta_account_failure(budget->account, err) != STA_OK) {
        status = err->status;
        sta_result_release(*result);
        *result = NULL;
    }
    if (status == STA_OK)
        sta_result_count_in(*result, view->server->options.account);
    sta_result_cache_resolve(claim, *result);
    return status == STA_OK ? STA_OK : sta_view_blame(view, err);
}

static int arranged_result(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                           struct sta_error *err)
{
    struct sta_result_cache *kept = view->server->results;
    struct sta_result_claim *claim;
    struct sta_result *base;
    int status = sta_result_cache_claim(kept, view->key.data, view->order_size, budget, result, &claim, err);
    if (claim == NULL)
        return status;
    status = base_result(view, budget, &base, err);
    if (status == STA_OK) {
        status = sta_result_arrange(base, &view->order, &view->columns, budget, result, err);
        sta_result_release(base);
    }
    sta_result_cache_resolve(claim, *result);
    return status;
}

int sta_view_find_result(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                         struct sta_error *err)
{
    if (view->order.count > 0 || view->columns.count > 0)
        return arranged_result(view, budget, result, err);
    return base_result(view, budget, result, err);
}

int sta_view_compute_page(struct sta_view *view, const struct sta_budget *budget,
                          struct sta_response *response, struct sta_error *err)
{
    struct sta_result *result;
    struct sta_page_writer *writer = NULL;
    bool ended = false;
    int status = sta_view_find_result(view, budget, &result, err);
    if (status != STA_OK)
        return status;
    response->content_type = sta_format_content_type(view->page.format);
    status = sta_page_writer_create(result, &view->page, budget, &writer, err);
    while (status == STA_OK && !ended && !response->body.failed)
        status = sta_page_write(writer, PIECE_ROWS, &response->body, &ended, err);
    if (status == STA_OK)
        response->next = sta_page_take_next(writer);
    sta_page_writer_destroy(writer);
    sta_result_release(result);
    return status;
}
