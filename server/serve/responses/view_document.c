/* What a request says: its document, by a JSON body or by query parameters; its page; its order. */
#include <ctype.h>
#include <string.h>

#include "serve/formats/document_json.h"
#include "serve/formats/negotiation.h"
#include "serve/responses/views.h"

/* ---- parameters as members */

static bool is_name(const char *text, size_t length)
{
    if (length > 0 && *text == '-')
        text++, length--;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '.')
            return false;
    return length > 0;
}

/* Whether a text is names with commas between, which is no expression of the language. */
static bool is_name_list(const char *text)
{
    for (;; text += strcspn(text, ",") + 1) {
        size_t length = strcspn(text, ",");
        if (!is_name(text, length))
            return false;
        if (text[length] == '\0')
            return true;
    }
}

static void append_texts(struct sta_arena *arena, struct sta_document *list, const char *text)
{
    bool several = is_name_list(text);
    for (const char *at = text;; at++) {
        size_t length = several ? strcspn(at, ",") : strlen(at);
        sta_document_append(arena, list, NULL, sta_document_text(arena, at, length));
        at += length;
        if (*at == '\0')
            return;
    }
}

static int append_pair(struct sta_arena *arena, struct sta_document *object, const char *text,
                       struct sta_error *err)
{
    const char *colon = strchr(text, ':');
    const char *name = sta_arena_copy(arena, text, (size_t)(colon - text));
    if (sta_document_member(object, name) != NULL)
        return sta_fail(err, STA_EINPUT, "The name \"%.60s\" is given twice", name);
    sta_document_add_text(arena, object, name, colon + 1);
    return STA_OK;
}

static struct sta_document *document_of_number(struct sta_arena *arena, double number)
{
    bool whole = number == (double)(int64_t)number && number < 1e15 && number > -1e15;
    struct sta_document *value = sta_document_create(arena, whole ? STA_DOCUMENT_INT : STA_DOCUMENT_FLOAT);
    if (whole)
        value->integer = (int64_t)number;
    else
        value->number = number;
    return value;
}

/* A choice between true and false is a truth value. */
static struct sta_document *document_of_choice(struct sta_arena *arena, const struct sta_parameter *parameter,
                                               const char *text)
{
    if (strcmp(parameter->words, "true|false") != 0)
        return sta_document_text(arena, text, strlen(text));
    struct sta_document *value = sta_document_create(arena, STA_DOCUMENT_BOOL);
    value->truth = strcmp(text, "true") == 0;
    return value;
}

/* The member that a parameter gives; most have its name. */
static const char *member_of(unsigned parameter)
{
    if (parameter == STA_PARAMETER_SORT)
        return "order_by";
    return parameter == STA_PARAMETER_SETS ? "sets" : sta_parameters[parameter].name;
}

static int repeated(const struct sta_call *call, unsigned parameter, struct sta_arena *arena,
                    struct sta_document **value, struct sta_error *err)
{
    bool pairs = sta_parameters[parameter].type == STA_PARAMETER_PAIRS;
    *value = sta_document_create(arena, pairs ? STA_DOCUMENT_OBJECT : STA_DOCUMENT_LIST);
    for (size_t i = 0; i < call->repeats.count; i++) {
        const char *text = call->repeats.items[i].text;
        if (call->repeats.items[i].parameter != parameter)
            continue;
        if (!pairs)
            append_texts(arena, *value, text);
        else if (append_pair(arena, *value, text, err) != STA_OK)
            return err->status;
    }
    return STA_OK;
}

static int value_of(const struct sta_call *call, unsigned parameter, struct sta_arena *arena,
                    struct sta_document **value, struct sta_error *err)
{
    const struct sta_parameter_value *given = &call->values[parameter];
    switch (sta_parameters[parameter].type) {
    case STA_PARAMETER_LIST:
    case STA_PARAMETER_PAIRS:
        return repeated(call, parameter, arena, value, err);
    case STA_PARAMETER_SECONDS:
    case STA_PARAMETER_NUMBER:
        *value = document_of_number(arena, given->number);
        return STA_OK;
    case STA_PARAMETER_WIDTH:
        *value = document_of_number(arena, (double)given->integer / 1e6);
        return STA_OK;
    case STA_PARAMETER_COUNT:
    case STA_PARAMETER_ROWS:
        *value = document_of_number(arena, (double)given->integer);
        return STA_OK;
    case STA_PARAMETER_CHOICE:
        *value = document_of_choice(arena, &sta_parameters[parameter], given->text);
        return STA_OK;
    default:
        *value = sta_document_text(arena, given->text, strlen(given->text));
        return STA_OK;
    }
}

static int fail_parameter(const char *name, struct sta_error *err)
{
    char pointer[sizeof err->parameter];
    snprintf(pointer, sizeof pointer, "/%.200s", name);
    return sta_at(err, pointer, err->position);
}

static int check_order(const struct sta_call *call, struct sta_error *err)
{
    if (!call->values[STA_PARAMETER_SORT].given || !call->values[STA_PARAMETER_ORDER_BY].given)
        return STA_OK;
    return sta_fail_at(err, STA_EINPUT, "/order_by", "sort and order_by are two names of the same; give one");
}

static int add_parameters(struct sta_view *view, const struct sta_call *call, struct sta_error *err)
{
    if (check_order(call, err) != STA_OK)
        return err->status;
    for (unsigned i = 0; i < STA_PARAMETERS; i++) {
        const bool whole = i == STA_PARAMETER_QUERY || i == STA_PARAMETER_WHATIF_QUERY; /* read before */
        if (!(view->kind->document_values >> i & 1) || !call->values[i].given || whole)
            continue;
        const char *name = member_of(i);
        struct sta_document *value;
        if (value_of(call, i, &view->memory, &value, err) != STA_OK)
            return fail_parameter(sta_parameters[i].name, err);
        sta_document_take(view->document, name);
        sta_document_append(&view->memory, view->document, name, value);
        view->plain |= (sta_parameter_set)1 << i;
    }
    return STA_OK;
}

/* ---- what the document says of pages */

static int read_format(struct sta_view *view, const struct sta_call *call, struct sta_error *err)
{
    const struct sta_document *member = sta_document_take(view->document, "format");
    const struct sta_parameter_value *parameter = &call->values[STA_PARAMETER_FORMAT];
    const char *words = sta_parameters[STA_PARAMETER_FORMAT].words, *others = view->kind->text_forms;
    const char *chosen = sta_negotiation_format(call);
    view->page.format = parameter->text != NULL            ? sta_format_of(parameter->text)
                        : member == NULL && chosen != NULL ? sta_format_of(chosen)
                                                           : STA_FORMAT_JSON;
    if (member == NULL || parameter->given)
        return STA_OK;
    if (others != NULL && member->type == STA_DOCUMENT_TEXT && sta_word_listed(member->text.bytes, others)) {
        view->text_form = member->text.bytes;
        return STA_OK;
    }
    if (member->type != STA_DOCUMENT_TEXT || !sta_word_listed(member->text.bytes, words))
        return sta_fail_at(err, STA_EINPUT, "/format", "format must be one of %s%s%s", words,
                           others != NULL ? "|" : "", others != NULL ? others : "");
    view->page.format = sta_format_of(member->text.bytes);
    return STA_OK;
}

static int read_cursor(struct sta_view *view, const struct sta_call *call, struct sta_error *err)
{
    const struct sta_document *member = sta_document_take(view->document, "cursor");
    view->page.cursor = call->values[STA_PARAMETER_CURSOR].text;
    if (member == NULL || view->page.cursor != NULL || member->type == STA_DOCUMENT_NULL)
        return STA_OK;
    if (member->type != STA_DOCUMENT_TEXT)
        return sta_fail_at(err, STA_EINPUT, "/cursor",
                           "cursor must be a text: the member next of the page before");
    view->page.cursor = member->text.bytes;
    return STA_OK;
}

static int check_start(const struct sta_page *page, struct sta_error *err)
{
    if (page->offset == 0 || page->cursor == NULL)
        return STA_OK;
    return sta_fail_at(err, STA_EINPUT, "/offset",
                       "A page begins at an offset or behind a cursor; give one of them");
}

static int read_offset(struct sta_view *view, const struct sta_call *call, struct sta_error *err)
{
    const struct sta_document *member = sta_document_take(view->document, "offset");
    const struct sta_parameter_value *value = &call->values[STA_PARAMETER_ROW_OFFSET];
    const bool good = member != NULL && member->type == STA_DOCUMENT_INT && member->integer >= 0;
    if (member != NULL && !good && !value->given)
        return sta_fail_at(err, STA_EINPUT, "/offset", "offset must be a whole number of rows");
    view->page.offset = value->given ? (uint64_t)value->integer : good ? (uint64_t)member->integer : 0;
    return check_start(&view->page, err);
}

/* Where a kind's responses explain themselves, explain stays a member of the document. */
static int read_explain(struct sta_view *view, const struct sta_call *call, struct sta_error *err)
{
    if (view->kind->explain == NULL)
        return STA_OK;
    const struct sta_document *member = sta_document_take(view->document, "explain");
    const struct sta_parameter_value *value = &call->values[STA_PARAMETER_EXPLAIN];
    if (member != NULL && member->type != STA_DOCUMENT_BOOL)
        return sta_fail_at(err, STA_EINPUT, "/explain", "explain must be true or false");
    view->explain = value->given ? strcmp(value->text, "true") == 0 : member != NULL && member->truth;
    if (!view->explain || view->page.format == STA_FORMAT_JSON)
        return STA_OK;
    return sta_fail_at(err, STA_EINPUT, "/explain",
                       "explain needs format=json: the other forms hold the table alone");
}

static int check_limit(const struct sta_view *view, uint64_t limit, struct sta_error *err)
{
    uint64_t rows = view->server->options.rows;
    if (limit <= rows)
        return STA_OK;
    return sta_fail_at(err, STA_ELIMIT, "/limit",
                       "limit is %llu, more than %llu rows (setting rows); ask page by page",
                       (unsigned long long)limit, (unsigned long long)rows);
}

/* The limit of a page stands in the last stage.  One that is none stays in the document where the analysis
 * checks that in its turn. */
static int read_limit(struct sta_view *view, const struct sta_call *call, struct sta_error *err)
{
    struct sta_document *stage = view->document;
    for (const struct sta_document *then;
         (then = sta_document_member(stage, "then")) != NULL && then->type == STA_DOCUMENT_OBJECT;)
        stage = (struct sta_document *)(uintptr_t)then;
    const struct sta_parameter_value *value = &call->values[STA_PARAMETER_LIMIT];
    const struct sta_document *member = sta_document_member(stage, "limit");
    bool good = member != NULL && member->type == STA_DOCUMENT_INT && member->integer >= 0;
    if (member != NULL && !good && !value->given && view->kind->checks_limit)
        return STA_OK;
    if (member != NULL && !good && !value->given)
        return sta_fail_at(err, STA_EINPUT, "/limit", "limit must be a whole number of rows");
    sta_document_take(stage, "limit");
    view->page.has_limit = value->given || good;
    view->page.limit = value->given ? (uint64_t)value->integer : good ? (uint64_t)member->integer : 0;
    return check_limit(view, view->page.limit, err);
}

/* A form that the kind writes by itself has no pages; what a limit means there is for the kind to say. */
static int keep_limit(struct sta_view *view, const struct sta_call *call, struct sta_error *err)
{
    const struct sta_parameter_value *limit = &call->values[STA_PARAMETER_LIMIT];
    const bool offset = call->values[STA_PARAMETER_ROW_OFFSET].given;
    if (offset || call->values[STA_PARAMETER_CURSOR].given)
        return sta_fail_at(err, STA_EINPUT, offset ? "/offset" : "/cursor", "format=%s has no pages",
                           view->text_form);
    if (limit->given) {
        sta_document_take(view->document, "limit");
        sta_document_append(&view->memory, view->document, "limit",
                            document_of_number(&view->memory, (double)limit->integer));
    }
    return STA_OK;
}

static bool is_absolute(const struct sta_call *call)
{
    const char *base = call->values[STA_PARAMETER_TIME_BASE].text;
    return base != NULL && strcmp(base, "absolute") == 0;
}

int sta_view_read_page(struct sta_view *view, const struct sta_call *call, struct sta_error *err)
{
    view->page.absolute = is_absolute(call);
    if (view->document == NULL) {
        const struct sta_parameter_value *limit = &call->values[STA_PARAMETER_LIMIT];
        view->page = (struct sta_page){.format = sta_format_of(call->values[STA_PARAMETER_FORMAT].text),
                                       .has_limit = limit->given,
                                       .limit = (uint64_t)limit->integer,
                                       .offset = (uint64_t)call->values[STA_PARAMETER_ROW_OFFSET].integer,
                                       .cursor = call->values[STA_PARAMETER_CURSOR].text,
                                       .absolute = is_absolute(call)};
        const int status = check_start(&view->page, err);
        return status == STA_OK ? check_limit(view, view->page.limit, err) : status;
    }
    int status = read_format(view, call, err);
    if (status == STA_OK && view->text_form != NULL)
        return keep_limit(view, call, err);
    if (status == STA_OK)
        status = read_cursor(view, call, err);
    if (status == STA_OK)
        status = read_offset(view, call, err);
    if (status == STA_OK)
        status = read_explain(view, call, err);
    return status == STA_OK ? read_limit(view, call, err) : status;
}

/* ---- order and columns of tables */

static void take_names(struct sta_view *view, const struct sta_call *call, enum sta_parameter_id parameter,
                       struct sta_name_list *list)
{
    const struct sta_repeats *repeats = &call->repeats;
    size_t count = 0;
    for (size_t i = 0; i < repeats->count; i++)
        for (const char *at = repeats->items[i].text; at != NULL; at = strchr(at + 1, ','))
            count++;
    const char **names = sta_arena_alloc(&view->memory, (count + 1) * sizeof *names, _Alignof(char *));
    *list = (struct sta_name_list){.names = names};
    for (size_t i = 0; i < repeats->count; i++)
        for (const char *at = repeats->items[i].text; at != NULL && repeats->items[i].parameter == parameter;
             at = strchr(at, ',')) {
            at += *at == ',';
            names[list->count++] = sta_arena_copy(&view->memory, at, strcspn(at, ","));
        }
}

int sta_view_read_order(struct sta_view *view, const struct sta_call *call, struct sta_error *err)
{
    bool sort = call->values[STA_PARAMETER_SORT].given;
    if (check_order(call, err) != STA_OK)
        return err->status;
    take_names(view, call, sort ? STA_PARAMETER_SORT : STA_PARAMETER_ORDER_BY, &view->order);
    view->order.parameter = sort ? "/sort" : "/order_by";
    take_names(view, call, STA_PARAMETER_COLUMNS, &view->columns);
    view->columns.parameter = "/columns";
    return STA_OK;
}

/* ---- the whole */

/* Without a preset there are no filters that could apply. */
static int check_filters(const struct sta_view *view, struct sta_error *err)
{
    const struct sta_document *filters = sta_document_member(view->document, "filters");
    bool on = filters != NULL && filters->type == STA_DOCUMENT_TEXT && strcmp(filters->text.bytes, "on") == 0;
    if (!on || view->kind->has_own_preset || sta_document_member(view->document, "preset") != NULL)
        return STA_OK;
    return sta_fail_at(err, STA_EINPUT, "/filters",
                       "filters=on needs preset: the filters are those of a preset");
}

static int parse_document(struct sta_view *view, const char *bytes, size_t size, const char *what,
                          struct sta_error *err)
{
    int status = sta_document_parse(bytes, size, what, &view->memory, &view->document, err);
    if (status == STA_OK && view->document->type != STA_DOCUMENT_OBJECT)
        status = sta_fail(err, STA_EINPUT, "%s must be a JSON object", what);
    return status;
}

/* By query parameters: the document in q, and the plain ones over it. */
static int read_parameters(struct sta_view *view, const struct sta_call *call, struct sta_error *err)
{
    const char *query = call->values[STA_PARAMETER_QUERY].text;
    if (query == NULL)
        query = call->values[STA_PARAMETER_WHATIF_QUERY].text;
    view->from_parameters = true;
    view->document = sta_document_create(&view->memory, STA_DOCUMENT_OBJECT);
    if (query != NULL && parse_document(view, query, strlen(query), "q", err) != STA_OK)
        return sta_at(err, "/q", err->position);
    return add_parameters(view, call, err);
}

int sta_view_read_document(struct sta_view *view, const struct sta_call *call, struct sta_error *err)
{
    const struct sta_buffer *body = sta_exchange_body(call->exchange);
    int status;
    if (call->route->method != STA_POST)
        status = read_parameters(view, call, err);
    else if (body->size > 0)
        status = parse_document(view, body->data, body->size, "The body", err);
    else
        status = sta_fail(err, STA_EINPUT, "The request needs a body: a JSON object");
    return status == STA_OK ? check_filters(view, err) : status;
}

int sta_view_blame(const struct sta_view *view, struct sta_error *err)
{
    for (unsigned i = 0; i < STA_PARAMETERS; i++) {
        const char *name = member_of(i);
        size_t length = strlen(name);
        if (view->plain >> i & 1 && err->parameter[0] == '/' &&
            strncmp(err->parameter + 1, name, length) == 0 &&
            (err->parameter[1 + length] == '/' || err->parameter[1 + length] == '\0'))
            return fail_parameter(sta_parameters[i].name, err);
    }
    return err->status;
}
