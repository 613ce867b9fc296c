/* Reads a request: members in the order of the contract, so that the first mistake is reported. */
#include "analyse/overlap/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/views/members.h"
#include "analyse/views/bound_query.h"
#include "analyse/sources/ranges.h"
#include "common/buffer.h"

#define ORDER_COLUMNS 16
#define GRANULARITY_LIMIT 1e9 /* seconds */
#define LONGEST_LIMIT 1000000
#define EVENTS_LIMIT 1000

static const char *const semantics_words[] = {"exact", "compatible"};
static const char *const variant_words[] = {"approximate", "intervals"};
static const char *const switch_words[] = {"on", "off"};
const char *const sta_scope_words[] = {"thread", "process", "rank_group", "host", "job"};

/* ---- which members there are */

enum {
    IN_TOTALS = 1 << STA_OVERLAP_TOTALS,
    IN_INTERVALS = 1 << STA_OVERLAP_INTERVALS,
    IN_COMPATIBLE = 1 << STA_OVERLAP_COMPATIBLE
};
#define IN_EXACT (IN_TOTALS | IN_INTERVALS)

static const struct {
    const char *name;
    unsigned calls;
} members[] = {{"sets", IN_EXACT | IN_COMPATIBLE},
               {"scope", IN_EXACT},
               {"from", IN_EXACT},
               {"to", IN_EXACT},
               {"filter", IN_EXACT},
               {"preset", IN_EXACT},
               {"filters", IN_EXACT},
               {"rank_groups", IN_EXACT},
               {"semantics", IN_EXACT | IN_COMPATIBLE},
               {"exposure", IN_EXACT},
               {"explain", IN_TOTALS},
               {"granularity", IN_TOTALS | IN_COMPATIBLE},
               {"variant", IN_COMPATIBLE},
               {"where", IN_INTERVALS},
               {"order_by", IN_INTERVALS},
               {"longest", IN_INTERVALS},
               {"events", IN_INTERVALS},
               {"layers", IN_EXACT}};

static int check_members(const struct sta_overlap_request *request, struct sta_error *err)
{
    const char *known[STA_COUNT_OF(members)];
    size_t count = 0;
    for (size_t i = 0; i < STA_COUNT_OF(members); i++)
        if (members[i].calls >> request->call & 1)
            known[count++] = members[i].name;
    return sta_document_check(request->document,
                              request->call == STA_OVERLAP_COMPATIBLE ? "under semantics compatible" : "here",
                              known, count, err);
}

static int read_semantics(struct sta_overlap_request *request, bool listing, struct sta_error *err)
{
    size_t word = 0;
    int rc = sta_member_word(request->document, "semantics", semantics_words, listing ? 1 : 2, &word, err);
    request->call = listing ? STA_OVERLAP_INTERVALS : word == 1 ? STA_OVERLAP_COMPATIBLE : STA_OVERLAP_TOTALS;
    request->first_only = request->call == STA_OVERLAP_COMPATIBLE;
    return rc;
}

/* ---- scope */

static int read_key(struct sta_overlap_request *request, const struct sta_document *key, size_t number,
                    struct sta_error *err)
{
    char place[24];
    snprintf(place, sizeof place, "%zu", number);
    if (key->type != STA_DOCUMENT_TEXT)
        return sta_fail_member(err, STA_EINPUT, "scope", place, "expected an expression, not %s",
                               sta_document_kind(key));
    int rc = sta_expression_parse(key->text.bytes, key->text.length, sta_columns_schema(request->columns),
                                  &request->scope.keys[number], err);
    if (rc != 0)
        return sta_at_member(err, "scope", place, err->position);
    request->scope.key_names[number] = key->text.bytes;
    request->scope.key_count++;
    return 0;
}

static int read_keys(struct sta_overlap_request *request, const struct sta_document *keys,
                     struct sta_error *err)
{
    if (keys->count == 0)
        return sta_fail_member(err, STA_EINPUT, "scope", NULL, "expected at least one expression");
    if (keys->count > STA_KEY_COLUMNS)
        return sta_fail_member(err, STA_ELIMIT, "scope", NULL,
                               "a scope of %zu expressions; at most %d are allowed", keys->count,
                               STA_KEY_COLUMNS);
    request->scope.kind = STA_SCOPE_KEYS;
    request->scope.keys = sta_alloc_array(keys->count + 1, sizeof(struct sta_expression *));
    request->scope.key_names = sta_alloc_array(keys->count + 1, sizeof(const char *));
    size_t number = 0;
    int rc = 0;
    for (const struct sta_document *key = keys->first; rc == 0 && key != NULL; key = key->next)
        rc = read_key(request, key, number++, err);
    return rc;
}

static int read_scope(struct sta_overlap_request *request, struct sta_error *err)
{
    const struct sta_document *scope = sta_member_given(request->document, "scope");
    const struct sta_document *groups = sta_member_given(request->document, "rank_groups");
    request->scope.kind = STA_SCOPE_RANK_GROUP;
    if (scope != NULL && scope->type == STA_DOCUMENT_LIST)
        return read_keys(request, scope, err);
    if (scope != NULL && scope->type != STA_DOCUMENT_TEXT)
        return sta_fail_member(
            err, STA_EINPUT, "scope", NULL,
            "expected thread, process, rank_group, host, job or a list of expressions, not %s",
            sta_document_kind(scope));
    size_t word = STA_SCOPE_RANK_GROUP;
    int rc = sta_member_word(request->document, "scope", sta_scope_words, STA_COUNT_OF(sta_scope_words),
                             &word, err);
    request->scope.kind = (enum sta_scope_kind)word;
    request->scope.rank_groups = groups;
    return rc == 0 && groups != NULL ? sta_given_groups_check(groups, err) : rc;
}

/* ---- filter, window, widths */

/* *condition: left alone when the member is not there. */
static int read_condition(const struct sta_overlap_request *request, const char *name,
                          const struct sta_schema *schema, struct sta_expression **condition,
                          struct sta_error *err)
{
    const char *text = NULL;
    int rc = sta_member_text(request->document, name, &text, err);
    if (rc != 0 || text == NULL)
        return rc;
    rc = sta_condition_parse(text, strlen(text), schema, condition, err);
    return rc == 0 ? 0 : sta_at_member(err, name, NULL, err->position);
}

static int read_filter(struct sta_overlap_request *request, struct sta_error *err)
{
    return read_condition(request, "filter", sta_columns_schema(request->columns), &request->filter, err);
}

static int read_end(const struct sta_overlap_request *request, const char *name, int64_t *ticks,
                    struct sta_error *err)
{
    double seconds = 0;
    bool given = false;
    int rc = sta_member_number(request->document, name, &seconds, &given, err);
    if (rc == 0 && given)
        *ticks = sta_ticks(seconds, request->ticks_per_us);
    return rc;
}

static int read_window(struct sta_overlap_request *request, struct sta_error *err)
{
    request->from = INT64_MIN;
    request->to = INT64_MAX;
    int rc = read_end(request, "from", &request->from, err);
    if (rc == 0)
        rc = read_end(request, "to", &request->to, err);
    if (rc != 0 || request->from <= request->to)
        return rc;
    return sta_fail_member(err, STA_EINPUT, "to", NULL, "to (%g s) lies before from (%g s)",
                           sta_overlap_seconds(request, request->to),
                           sta_overlap_seconds(request, request->from));
}

static int read_granularity(struct sta_overlap_request *request, struct sta_error *err)
{
    double seconds = 1;
    bool given = request->call == STA_OVERLAP_COMPATIBLE;
    int rc = sta_member_number(request->document, "granularity", &seconds, &given, err);
    if (rc != 0 || !given)
        return rc;
    if (!(seconds >= 0.5e-6 && seconds <= GRANULARITY_LIMIT))
        return sta_fail_member(err, STA_EINPUT, "granularity", NULL,
                               "expected a width of bins in seconds, from 0.000001 to 1000000000");
    request->granularity = sta_ticks(seconds, request->ticks_per_us);
    if (request->call == STA_OVERLAP_COMPATIBLE)
        request->scope = (struct sta_scope_request){.kind = STA_SCOPE_BIN, .bin = request->granularity};
    return 0;
}

/* ---- intervals */

static int read_where(struct sta_overlap_request *request, struct sta_error *err)
{
    if (request->call != STA_OVERLAP_INTERVALS)
        return 0;
    struct sta_schema_column columns[STA_OVERLAP_MASK_BITS + 1];
    for (uint32_t s = 0; s < request->set_count; s++)
        columns[s] = (struct sta_schema_column){.name = request->sets[s].name, .type = STA_TYPE_BOOL};
    columns[request->set_count] = (struct sta_schema_column){.name = "idle", .type = STA_TYPE_BOOL};
    const struct sta_schema schema = {.columns = columns, .count = request->set_count + 1};
    int rc = read_condition(request, "where", &schema, &request->where, err);
    if (rc != 0 || request->where != NULL)
        return rc;
    return sta_fail_member(err, STA_EINPUT, "where", NULL,
                           "expected a condition on the sets, such as \"io and not compute\", or \"idle\"");
}

/* STA_INTERVAL_START .., or STA_INTERVAL_KEYS and as many as there are keys: there is none of that name. */
static size_t interval_column(const struct sta_overlap_request *request, const char *name)
{
    static const char *const times[] = {"start", "end", "time"};
    size_t count, k = 0;
    const char *const *keys = sta_scope_names(&request->scope, &count);
    for (size_t i = 0; i < STA_COUNT_OF(times); i++)
        if (strcmp(name, times[i]) == 0)
            return i;
    while (k < count && strcmp(name, keys[k]) != 0)
        k++;
    return STA_INTERVAL_KEYS + k;
}

static int fail_order(const struct sta_overlap_request *request, const char *name, const char *place,
                      struct sta_error *err)
{
    struct sta_buffer list;
    size_t count;
    const char *const *keys = sta_scope_names(&request->scope, &count);
    sta_buffer_init(&list);
    for (size_t i = 0; i < count; i++)
        sta_put_format(&list, "%s, ", keys[i]);
    sta_put_char(&list, '\0');
    sta_fail(err, STA_EINPUT, "there is no column \"%.60s\"; there are %.600sstart, end, time", name,
             list.data);
    sta_buffer_fini(&list);
    return sta_at_member(err, "order_by", place, -1);
}

static int read_order_column(struct sta_overlap_request *request, const struct sta_document *column,
                             struct sta_error *err)
{
    char place[24];
    snprintf(place, sizeof place, "%zu", request->order_count);
    if (column->type != STA_DOCUMENT_TEXT)
        return sta_fail_member(err, STA_EINPUT, "order_by", place, "expected the name of a column, not %s",
                               sta_document_kind(column));
    bool descending = column->text.bytes[0] == '-';
    const size_t number = interval_column(request, column->text.bytes + descending);
    size_t keys;
    sta_scope_names(&request->scope, &keys);
    if (number == STA_INTERVAL_KEYS + keys)
        return fail_order(request, column->text.bytes + descending, place, err);
    request->order[request->order_count++] = (struct sta_overlap_order){number, descending};
    return 0;
}

static int read_order(struct sta_overlap_request *request, struct sta_error *err)
{
    const struct sta_document *order = sta_member_given(request->document, "order_by");
    if (order == NULL)
        return 0;
    if (order->type != STA_DOCUMENT_LIST || order->count > ORDER_COLUMNS)
        return sta_fail_member(err, STA_EINPUT, "order_by", NULL,
                               "expected a list of at most %d columns, such as [\"-time\"]", ORDER_COLUMNS);
    request->order = sta_alloc_array(order->count + 1, sizeof *request->order);
    int rc = 0;
    for (const struct sta_document *column = order->first; rc == 0 && column != NULL; column = column->next)
        rc = read_order_column(request, column, err);
    return rc;
}

static int read_count(const struct sta_overlap_request *request, const char *name, int64_t most,
                      uint32_t *value, struct sta_error *err)
{
    const struct sta_document *member = sta_member_given(request->document, name);
    if (member == NULL)
        return 0;
    if (member->type != STA_DOCUMENT_INT || member->integer < 1 || member->integer > most)
        return sta_fail_member(err, STA_EINPUT, name, NULL, "expected a whole number from 1 to %lld",
                               (long long)most);
    *value = (uint32_t)member->integer;
    return 0;
}

/* ---- the whole */

static int read_variant(struct sta_overlap_request *request, struct sta_error *err)
{
    size_t word = 0;
    int rc =
        sta_member_word(request->document, "variant", variant_words, STA_COUNT_OF(variant_words), &word, err);
    request->intervals = word == 1;
    return rc;
}

static int read_switches(struct sta_overlap_request *request, struct sta_error *err)
{
    int rc = sta_member_bool(request->document, "exposure", &request->exposure, err);
    return rc == 0 ? sta_member_bool(request->document, "explain", &request->explain, err) : rc;
}

static int read_counts(struct sta_overlap_request *request, struct sta_error *err)
{
    int rc = read_count(request, "longest", LONGEST_LIMIT, &request->longest, err);
    return rc == 0 ? read_count(request, "events", EVENTS_LIMIT, &request->events, err) : rc;
}

static int read_rest(struct sta_overlap_request *request, struct sta_error *err)
{
    static int (*const steps[])(struct sta_overlap_request *, struct sta_error *) = {
        read_scope,   read_filter, read_window, read_switches, read_granularity,
        read_variant, read_where,  read_order,  read_counts};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < STA_COUNT_OF(steps); i++)
        rc = steps[i](request, err);
    return rc;
}

int sta_overlap_request_read(struct sta_overlap_request *request, const struct sta_overlap_query *query,
                             bool listing, struct sta_error *err)
{
    *request = (struct sta_overlap_request){
        .query = query,
        .document = query->request,
        .ticks_per_us = sta_snapshot_info(query->snapshot)->ticks_per_us,
    };
    size_t filters = 0;
    int rc = read_semantics(request, listing, err);
    if (rc == 0)
        rc = check_members(request, err);
    if (rc == 0)
        rc = sta_member_word(request->document, "filters", switch_words, STA_COUNT_OF(switch_words), &filters,
                             err);
    if (rc == 0)
        rc = sta_overlap_bind(request, filters == 0, err);
    return rc == 0 ? read_rest(request, err) : rc;
}

void sta_overlap_request_release(struct sta_overlap_request *request)
{
    for (uint32_t s = 0; s < request->set_count; s++)
        sta_expression_destroy(request->sets[s].expression);
    for (size_t k = 0; k < request->scope.key_count; k++)
        sta_expression_destroy(request->scope.keys[k]);
    sta_expression_destroy(request->filter);
    sta_expression_destroy(request->where);
    free(request->scope.keys);
    free(request->scope.key_names);
    free(request->order);
    sta_set_signatures_destroy(request->signatures);
    if (!request->borrows) {
        sta_classes_destroy(request->classes);
        sta_columns_destroy(request->columns);
    }
    sta_arena_fini(&request->memory);
    *request = (struct sta_overlap_request){0};
}

/* Row groups of which nothing lies in the window. */
static bool is_outside(void *context, const struct sta_row_group *row_group)
{
    const struct sta_overlap_request *request = context;
    return !sta_time_range_meets(&(struct sta_time_range){request->from, request->to}, row_group);
}

struct sta_scan sta_overlap_scan(const struct sta_overlap_request *request)
{
    return (struct sta_scan){.columns = request->columns,
                             .classes = request->classes,
                             .filter = request->filter,
                             .from = INT64_MIN, /* events that began before the window reach into it */
                             .to = INT64_MAX,
                             .skip = is_outside,
                             .skip_context = (void *)(uintptr_t)request};
}

double sta_overlap_seconds(const struct sta_overlap_request *request, __int128 ticks)
{
    if (ticks == (int64_t)ticks)
        return sta_seconds((int64_t)ticks, request->ticks_per_us);
    return (double)ticks / ((double)request->ticks_per_us * 1e6);
}
