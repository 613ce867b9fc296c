/* Sentences, empty as a rule. */
#include "analyse/overlap/tables.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/layers/categories.h"
#include "common/account.h"
#include "common/buffer.h"
#include "common/memory.h"

#define NAMES_SHOWN 20

static void warn(struct sta_overlap_result *result, char *sentence)
{
    result->warnings = sta_realloc_array(result->warnings, result->warning_count + 1, sizeof(char *));
    result->warnings[result->warning_count++] = sentence;
}

/* "a, b, c and 5 more", in order: the first NAMES_SHOWN are picked one by one, so that many categories take
 * no memory.  @used: by code, those that are names. */
static char *list_names(const struct sta_dictionary *dictionary, const uint8_t *used)
{
    const uint32_t codes = sta_dictionary_count(dictionary);
    const char *before = NULL;
    uint32_t count = 0;
    struct sta_buffer list;
    sta_buffer_init(&list);
    for (uint32_t code = 0; code < codes; code++)
        count += used[code];
    for (uint32_t i = 0; i < count && i < NAMES_SHOWN; i++) {
        const char *least = NULL;
        for (uint32_t code = 0; code < codes; code++) {
            const char *name = sta_dictionary_text(dictionary, code).bytes;
            if (used[code] && (before == NULL || strcmp(name, before) > 0) &&
                (least == NULL || strcmp(name, least) < 0))
                least = name;
        }
        if (least == NULL)
            break; /* names that differ behind a zero byte */
        sta_put_format(&list, "%s%s", i > 0 ? ", " : "", least);
        before = least;
    }
    if (count > NAMES_SHOWN)
        sta_put_format(&list, " and %u more", count - NAMES_SHOWN);
    return sta_buffer_take_text(&list);
}

static int list_categories(const struct sta_overlap_request *request, const struct sta_budget *budget,
                           char **list, struct sta_error *err)
{
    const struct sta_snapshot *snapshot = request->query->snapshot;
    const struct sta_dictionary *cats = sta_tables_cats(sta_snapshot_tables(snapshot));
    const uint32_t count = sta_dictionary_count(cats);
    uint8_t *used = sta_account_calloc(budget->account, (size_t)count + 1, 1, "the categories", err);
    int rc = used != NULL ? sta_categories_used(snapshot, used, count, err) : err->status;
    if (rc == 0)
        *list = list_names(cats, used);
    sta_account_free(budget->account, used);
    return rc;
}

static int warn_of_empty_sets(const struct sta_overlap_request *request,
                              const struct sta_overlap_results *results, const struct sta_budget *budget,
                              struct sta_overlap_result *result, struct sta_error *err)
{
    char *cats = NULL;
    int rc = 0;
    for (uint32_t s = 0; rc == 0 && s < request->set_count && results->unit_count > 0; s++) {
        if (results->sets[s].events > 0)
            continue;
        if (cats == NULL)
            rc = list_categories(request, budget, &cats, err);
        if (rc == 0)
            warn(result, sta_sprintf("No event is in the set %s. The categories of this trace are %s.",
                                     request->sets[s].name, cats));
    }
    free(cats);
    return rc;
}

static void warn_of_layers(const struct sta_overlap_request *request, struct sta_overlap_result *result)
{
    if (request->layers_left_out > 0)
        warn(result,
             sta_sprintf(
                 "These are the first %u layers; %u more do not fit into one result. Pick some with layers.",
                 request->set_count, request->layers_left_out));
}

static void warn_of_single_group(const struct sta_overlap_request *request,
                                 const struct sta_overlap_results *results, struct sta_overlap_result *result)
{
    if (request->scope.kind == STA_SCOPE_RANK_GROUP && results->unit_count == 1 &&
        results->processes[results->units[0]] == 1)
        warn(result,
             sta_strdup("There is one rank group, of one process without worker processes: the result "
                        "is that of scope process."));
}

/* ---- hosts whose spans do not meet */

struct host {
    const char *name;
    struct sta_host_span span;
};

static int compare_hosts(const void *a, const void *b)
{
    const struct host *x = a;
    const struct host *y = b;
    if (x->span.start != y->span.start)
        return x->span.start < y->span.start ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void warn_of_clocks(const struct sta_overlap_request *request,
                           const struct sta_overlap_results *results, struct sta_overlap_result *result)
{
    const struct sta_dictionary *names = sta_snapshot_entities(request->query->snapshot)->hosts;
    uint32_t limit = sta_dictionary_count(names);
    struct host *hosts = sta_alloc_array((size_t)limit + 1, sizeof *hosts);
    size_t count = 0;
    for (uint32_t h = 0; h <= limit; h++)
        if (results->hosts[h].start <= results->hosts[h].end)
            hosts[count++] = (struct host){h < limit ? sta_dictionary_text(names, h).bytes : "(no host name)",
                                           results->hosts[h]};
    qsort(hosts, count, sizeof *hosts, compare_hosts);
    int64_t end = count > 0 ? hosts[0].span.end : 0;
    for (size_t h = 1; h < count; h++) {
        if (hosts[h].span.start > end) {
            warn(result,
                 sta_sprintf("The events of host %s begin %.6f s after those of the hosts before it have "
                             "ended; their clocks may differ.",
                             hosts[h].name, sta_overlap_seconds(request, hosts[h].span.start - end)));
            break;
        }
        end = STA_MAX(end, hosts[h].span.end);
    }
    free(hosts);
}

int sta_overlap_warn(const struct sta_overlap_request *request, const struct sta_overlap_results *results,
                     const struct sta_budget *budget, struct sta_overlap_result *result,
                     struct sta_error *err)
{
    warn_of_layers(request, result);
    int rc = warn_of_empty_sets(request, results, budget, result, err);
    warn_of_single_group(request, results, result);
    warn_of_clocks(request, results, result);
    return rc;
}
