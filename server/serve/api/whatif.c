/* What if: scenarios of a training's data loading, and alignments of its fetches. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "serve/formats/document_json.h"
#include "serve/responses/views.h"
#include "simulate/simulate.h"

#define ALIGN_VALUES                                                                                         \
    (STA_HAS(WHATIF_QUERY) | STA_HAS(FETCH_ALIGN) | STA_HAS(START_ALIGN) | STA_HAS(EPOCH) | STA_HAS(SKIP))

static enum sta_format format_of(const struct sta_view *view)
{
    return sta_format_of(view->values[STA_PARAMETER_FORMAT].text);
}

static int get_model(struct sta_view *view, const struct sta_budget *budget, struct sta_model **model,
                     struct sta_error *err)
{
    struct sta_assumption assumed;
    int status = sta_whatif_assumption(view->document, &assumed, err);
    if (status != STA_OK)
        return status;
    return sta_models_get(view->server->models, view->traces[0].id, view->snapshot, view->presets, &assumed,
                          budget, model, err);
}

/* ---- writing */

static int check_rows(const struct sta_view *view, const struct sta_table *table, struct sta_error *err)
{
    if (format_of(view) != STA_FORMAT_JSON || table->rows <= view->server->options.rows)
        return STA_OK;
    return sta_fail(err, STA_ELIMIT,
                    "The response has a table of %zu rows, more than %llu (setting rows); ask for it as csv, "
                    "ndjson or arrow",
                    table->rows, (unsigned long long)view->server->options.rows);
}

static void put_contention(struct sta_buffer *out, const struct sta_contention *contention)
{
    sta_begin_object(out, "contention");
    sta_put_member_double(out, "growth", contention->measured ? contention->growth : NAN);
    sta_put_member_bool(out, "significant", contention->significant);
    sta_put_char(out, '}');
}

static void put_model(struct sta_buffer *out, const struct sta_whatif_result *whatif)
{
    const struct sta_model_summary *model = &whatif->model;
    sta_begin_object(out, "model");
    sta_put_member_text(out, "loader", model->loader);
    sta_put_member_uint(out, "ranks", (uint64_t)model->ranks);
    sta_put_member_uint(out, "epochs", (uint64_t)model->epochs);
    sta_put_member_uint(out, "steps", (uint64_t)model->steps);
    sta_put_member_uint(out, "workers", (uint64_t)model->workers);
    sta_put_member_uint_or_null(out, "batch", model->batch > 0, (uint64_t)model->batch);
    sta_put_member_uint_or_null(out, "prefetch", model->prefetch > 0, (uint64_t)model->prefetch);
    sta_put_member_text(out, "prefetch_source", model->prefetch_source);
    sta_put_member_bool(out, "barrier", model->barrier);
    sta_put_member_rows(out, "overheads", &model->overheads);
    sta_begin_object(out, "work");
    sta_put_row_members(out, &model->work, 0);
    sta_put_char(out, '}');
    put_contention(out, &whatif->contention);
    sta_put_char(out, '}');
}

static void put_check(struct sta_buffer *out, const struct sta_whatif_check *check)
{
    sta_begin_object(out, "check");
    sta_put_member_double(out, "train_time_traced", check->train_time_traced);
    sta_put_member_double(out, "train_time_modelled", check->train_time_modelled);
    sta_put_member_double(out, "train_error", check->train_error);
    sta_put_member_double(out, "epoch_error_mean", check->epoch_error_mean);
    sta_put_member_double(out, "epoch_error_max", check->epoch_error_max);
    sta_put_member_double(out, "step_error_median", check->step_error_median);
    sta_put_member_double(out, "step_error_p90", check->step_error_p90);
    sta_put_member_double(out, "stall_traced", check->stall_traced);
    sta_put_member_double(out, "stall_modelled", check->stall_modelled);
    sta_put_member_uint(out, "predicted_steps", (uint64_t)check->predicted_steps);
    if (check->tested)
        sta_put_member_bool(out, "reproduced", check->reproduced);
    else
        sta_put_member_null(out, "reproduced");
    sta_put_char(out, '}');
}

static int put_result(const struct sta_view *view, const struct sta_whatif_result *whatif,
                      struct sta_buffer *out, struct sta_error *err)
{
    sta_put_char(out, '{');
    put_model(out, whatif);
    put_check(out, &whatif->check);
    sta_put_member_texts(out, "notes", (const char *const *)whatif->notes, whatif->note_count);
    for (unsigned t = 0; t < STA_WHATIF_TABLES; t++) {
        if (whatif->tables[t].column_count == 0)
            continue;
        if (check_rows(view, &whatif->tables[t], err) != STA_OK)
            return err->status;
        sta_put_member_table(out, sta_whatif_table_name(t), &whatif->tables[t]);
    }
    if (whatif->knee.column_count > 0)
        sta_put_member_rows(out, "knee", &whatif->knee);
    sta_put_char(out, '}');
    return STA_OK;
}

/* One table of the response; the parameter has the name of one. */
static int put_one(const struct sta_view *view, const struct sta_whatif_result *whatif,
                   struct sta_response *response, struct sta_error *err)
{
    const char *name = view->values[STA_PARAMETER_WHATIF_TABLE].text;
    unsigned t = 0;
    while (strcmp(sta_whatif_table_name(t), name) != 0)
        t++;
    if (whatif->tables[t].column_count == 0)
        return sta_fail_at(err, STA_EINPUT, "/table", "The request does not ask for the table %s", name);
    sta_put_whole_table(&response->body, format_of(view), &whatif->tables[t]);
    response->content_type = sta_format_content_type(format_of(view));
    return STA_OK;
}

/* ---- scenarios */

static int check_whatif(struct sta_view *view, struct sta_error *err)
{
    return sta_whatif_check_request(view->document, err);
}

static bool is_log(const struct sta_view *view)
{
    struct sta_trace_entry entry;
    struct sta_error ignored = STA_ERROR_INIT;
    if (sta_store_find(view->server->options.store, view->traces[0].id, &entry, &ignored) != STA_OK)
        return false;
    bool log = entry.kind == STA_TRACE_DATALOAD;
    sta_trace_entry_fini(&entry);
    return log;
}

static int run_whatif(struct sta_view *view, const struct sta_budget *budget, struct sta_response *response,
                      struct sta_error *err)
{
    struct sta_model *model;
    struct sta_whatif_result whatif;
    if (is_log(view))
        return sta_fail(
            err, STA_EINPUT,
            "This trace is a training log, which does not say what workers did between fetches: it "
            "answers whatif/align alone");
    int status = get_model(view, budget, &model, err);
    if (status != STA_OK)
        return status;
    status = sta_whatif_run(model, view->document, budget, &whatif, err);
    if (status == STA_OK) {
        status = format_of(view) == STA_FORMAT_JSON ? put_result(view, &whatif, &response->body, err)
                                                    : put_one(view, &whatif, response, err);
        sta_whatif_result_fini(&whatif);
    }
    sta_model_release(model);
    return status;
}

const struct sta_view_kind sta_view_whatif = {.name = "whatif",
                                              .key_values = STA_HAS(FORMAT) | STA_HAS(WHATIF_TABLE),
                                              .document_values = STA_HAS(WHATIF_QUERY),
                                              .check = check_whatif,
                                              .compute = run_whatif};

/* ---- alignments */

static int check_align(struct sta_view *view, struct sta_error *err)
{
    struct sta_align_request request;
    return sta_align_request_read(view->document, &request, err);
}

static int align_events(struct sta_view *view, const struct sta_budget *budget, struct sta_table *table,
                        struct sta_error *err)
{
    struct sta_align_request request;
    struct sta_align_input input;
    struct sta_model *model;
    int status = sta_align_request_read(view->document, &request, err);
    if (status == STA_OK && strcmp(view->values[STA_PARAMETER_ALIGN_TABLE].text, "alignments") != 0)
        return sta_fail_at(err, STA_EINPUT, "/table",
                           "The files of the published simulation are of imported training logs alone");
    if (status == STA_OK)
        status = get_model(view, budget, &model, err);
    if (status != STA_OK)
        return status;
    status = sta_align_of_model(model, request.epoch, budget, &input, err);
    sta_model_release(model);
    if (status != STA_OK)
        return status;
    status = sta_align_table(&input, &request.alignments, request.skip, budget, table, err);
    sta_align_input_fini(&input);
    return status;
}

/* A log's own configuration, and what the request says instead. */
static int read_conf(struct sta_view *view, const char *text, size_t length,
                     const struct sta_align_request *request, struct sta_align_conf *conf,
                     struct sta_error *err)
{
    struct sta_document *document;
    *conf = (struct sta_align_conf){.alignments = sta_alignments_all()};
    if (text != NULL) {
        int status = sta_document_parse(text, length, "sim_conf.json", &view->memory, &document, err);
        if (status == STA_OK)
            status = sta_align_conf_read(document, conf, err);
        if (status == STA_EINPUT) { /* the trace is at fault, not the request */
            err->status = status = STA_EUNFIT;
            err->reason = "configuration";
            sta_at(err, "", -1);
            sta_error_wrap(err, "The trace's configuration cannot be used");
        }
        if (status != STA_OK)
            return status;
    }
    sta_align_request_apply(request, &conf->alignments);
    return STA_OK;
}

static enum sta_align_file file_named(const char *name)
{
    unsigned file = 0;
    while (file < STA_ALIGN_FILES && strcmp(sta_align_file_name(file), name) != 0)
        file++;
    return file;
}

static int table_of_log(const struct sta_align_input *input, const struct sta_align_request *request,
                        const struct sta_align_conf *conf, const char *name, const struct sta_budget *budget,
                        struct sta_table *table, struct sta_error *err)
{
    const int64_t skip = request->has_skip ? request->skip : STA_ALIGN_LOG_SKIP;
    const enum sta_align_file file = file_named(name);
    return file == STA_ALIGN_FILES
               ? sta_align_table(input, &conf->alignments, skip, budget, table, err)
               : sta_align_file(input, &conf->alignments, file, conf->name, budget, table, err);
}

static int align_log(struct sta_view *view, const struct sta_budget *budget, struct sta_table *table,
                     struct sta_error *err)
{
    struct sta_align_request request;
    struct sta_align_conf conf;
    struct sta_align_input input;
    size_t length = 0;
    const char *text = sta_align_conf_text(view->snapshot, &length);
    int status = sta_align_request_read(view->document, &request, err);
    if (status == STA_OK)
        status = read_conf(view, text, length, &request, &conf, err);
    if (status == STA_OK)
        status =
            sta_align_of_trace(view->snapshot, view->presets,
                               request.has_epoch ? request.epoch : STA_ALIGN_LOG_EPOCH, budget, &input, err);
    if (status != STA_OK)
        return status;
    status = table_of_log(&input, &request, &conf, view->values[STA_PARAMETER_ALIGN_TABLE].text, budget,
                          table, err);
    sta_align_input_fini(&input);
    return status;
}

static int run_align(struct sta_view *view, const struct sta_budget *budget, struct sta_response *response,
                     struct sta_error *err)
{
    struct sta_table table;
    int status =
        is_log(view) ? align_log(view, budget, &table, err) : align_events(view, budget, &table, err);
    if (status != STA_OK)
        return status;
    const enum sta_format format = format_of(view);
    status = check_rows(view, &table, err);
    if (status == STA_OK) {
        sta_put_text(&response->body, format == STA_FORMAT_JSON ? "{" : "");
        sta_put_whole_table(&response->body, format, &table);
        sta_put_text(&response->body, format == STA_FORMAT_JSON ? "}" : "");
        response->content_type = sta_format_content_type(format);
    }
    sta_table_fini(&table);
    return status;
}

/* ---- a log that is no trace */

static int read_log(const struct sta_document *document, struct sta_training_log *log,
                    struct sta_source *source, struct sta_error *err)
{
    const struct sta_document *text = sta_document_member(document, "log");
    if (text == NULL || text->type != STA_DOCUMENT_TEXT)
        return sta_fail_at(err, STA_EINPUT, "/log", "log must be the text of a training log");
    return sta_training_log_add(log, text->text.bytes, text->text.length, source, err);
}

/* @source: counts its lines; sta_source_fini it in any case. */
static int check_members(const struct sta_document *document, struct sta_error *err)
{
    if (document->type != STA_DOCUMENT_OBJECT)
        return sta_fail(err, STA_EINPUT, "The body must be a JSON object");
    for (const struct sta_document *member = document->first; member != NULL; member = member->next)
        if (strcmp(member->name, "log") != 0 && strcmp(member->name, "conf") != 0) {
            char pointer[64];
            snprintf(pointer, sizeof pointer, "/%.60s", member->name);
            return sta_fail_at(err, STA_EINPUT, pointer, "There is no member \"%.60s\"; allowed: log, conf",
                               member->name);
        }
    return STA_OK;
}

static int align_text(const struct sta_document *document, const struct sta_budget *budget,
                      struct sta_source *source, struct sta_table *table, struct sta_error *err)
{
    const struct sta_document *conf = sta_document_member(document, "conf");
    struct sta_align_conf read = {.alignments = sta_alignments_all()};
    struct sta_align_input input;
    struct sta_training_log log;
    sta_training_log_init(&log, budget->account);
    int status = check_members(document, err);
    if (status == STA_OK)
        status = read_log(document, &log, source, err);
    if (status == STA_OK && conf != NULL)
        status = sta_align_conf_read(conf, &read, err);
    if (status == STA_OK)
        status = sta_align_of_log(&log, STA_ALIGN_LOG_EPOCH, budget, &input, err);
    sta_training_log_fini(&log);
    if (status != STA_OK)
        return status;
    status = sta_align_table(&input, &read.alignments, STA_ALIGN_LOG_SKIP, budget, table, err);
    sta_align_input_fini(&input);
    return status;
}

static void put_lines(struct sta_buffer *out, const struct sta_source *source)
{
    const struct sta_ledger_counts *counts = &source->counts;
    sta_begin_object(out, "report");
    sta_put_member_uint(out, "lines", counts->lines);
    sta_put_member_uint(out, "events", counts->events);
    sta_put_member_uint(out, "metadata", counts->metadata);
    sta_put_member_uint(out, "other", counts->other);
    sta_put_member_uint(out, "blank", counts->blank);
    sta_put_member_uint(out, "malformed", counts->malformed);
    if (source->malformed.count > 0) {
        char text[200];
        const struct sta_line_note *first = &source->malformed.items[0];
        snprintf(text, sizeof text, "line %llu: %s", (unsigned long long)first->line, first->reason);
        sta_put_member_text(out, "first_malformed", text);
    }
    sta_put_char(out, '}');
}

int sta_api_align_log(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    const struct sta_server_options *options = &call->server->options;
    const struct sta_buffer *body = sta_exchange_body(call->exchange);
    struct sta_account account;
    struct sta_arena memory = {.account = &account};
    struct sta_document *document;
    struct sta_table table;
    struct sta_source source = {0};
    sta_account_init(&account, options->query_memory, "query_memory", options->account);
    const struct sta_budget budget = {.workers = 1, .memory = options->query_memory, .account = &account};
    int status = sta_document_parse(body->data, body->size, "The body", &memory, &document, err);
    if (status == STA_OK)
        status = align_text(document, &budget, &source, &table, err);
    if (status == STA_OK) {
        sta_put_char(&response->body, '{');
        sta_put_whole_table(&response->body, STA_FORMAT_JSON, &table);
        put_lines(&response->body, &source);
        sta_put_char(&response->body, '}');
        sta_table_fini(&table);
    }
    sta_source_fini(&source);
    sta_arena_fini(&memory);
    sta_account_close(&account);
    return status;
}

const struct sta_view_kind sta_view_align = {.name = "align",
                                             .key_values = STA_HAS(FORMAT) | STA_HAS(ALIGN_TABLE),
                                             .document_values = ALIGN_VALUES,
                                             .check = check_align,
                                             .compute = run_align};
