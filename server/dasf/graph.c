/* The task graph: nodes in the order of their first mention, each edge once.
 *
 * The lists of keys that records name are read in parallel; numbering nodes and placing edges goes through
 * them once, in the order of the stream. */
#include <stdlib.h>
#include <string.h>

#include "dasf/stream.h"
#include "analyse/exec/tasks.h"
#include "common/memory.h"

#define MORSEL_TASKS 8192

static const char WHAT[] = "the task graph";

/* What some tasks name: of each its inputs, then its users. */
struct lists {
    uint32_t *nodes;
    size_t count, capacity;
    struct named {
        struct sta_text *names; /* until they are looked up, all together */
        uint32_t *places;       /* among the nodes */
        size_t count, names_capacity, places_capacity;
    } named;
    uint32_t *inputs, *users;   /* by task of the morsel: how many of each */
    struct sta_arena unescaped; /* names without their escapes */
};

struct building {
    struct sta_dasf *dasf;
    const struct sta_budget *budget;
    struct texts {
        uint32_t key;                       /* code; STA_NO_CODE: there is none */
        const struct sta_dictionary *texts; /* NULL: there are none */
    } inputs, users;
    uint32_t task_key;   /* whose values are the nodes; STA_NO_CODE: they are not */
    struct lists *lists; /* by morsel */
    size_t morsels;
};

/* ---- lists of keys, as decode wrote them: compact JSON */

/* Reads what follows a backslash.  Return: what follows that. */
static const char *unescape(const char *at, const char *end, char **out)
{
    static const char plain[] = "b\bf\fn\nr\rt\t";
    const char *pair = at < end ? strchr(plain, *at) : NULL;
    if (at == end)
        return end;
    if (*at == 'u' && end - at >= 5) { /* only control characters are written so */
        char digits[5] = {at[1], at[2], at[3], at[4], '\0'};
        *(*out)++ = (char)strtoul(digits, NULL, 16);
        return at + 5;
    }
    *(*out)++ = pair != NULL && (pair - plain) % 2 == 0 ? pair[1] : *at;
    return at + 1;
}

/* The text behind an opening quote: in place, or without its escapes in @arena.  Return: its closing quote.
 */
static const char *read_text(const char *at, const char *end, struct sta_arena *arena, struct sta_text *text)
{
    const char *begin = at;
    while (at < end && *at != '"' && *at != '\\')
        at++;
    *text = (struct sta_text){begin, (uint32_t)(at - begin)};
    if (at == end || *at == '"')
        return at;
    char *buffer = sta_arena_alloc(arena, (size_t)(end - begin), 1), *out = buffer + (at - begin);
    memcpy(buffer, begin, (size_t)(at - begin));
    while (at < end && *at != '"')
        if (*at == '\\')
            at = unescape(at + 1, end, &out);
        else
            *out++ = *at++;
    *text = (struct sta_text){buffer, (uint32_t)(out - buffer)};
    return at;
}

/* Lists that are codes of tasks already. */
static int take_codes(const struct building *building, struct lists *lists, const uint32_t *codes,
                      size_t count, struct sta_error *err)
{
    int status = STA_ACCOUNT_GROW(building->budget->account, lists->nodes, lists->capacity,
                                  lists->count + count, WHAT, err);
    if (status == STA_OK && count > 0)
        memcpy(lists->nodes + lists->count, codes, count * sizeof *codes);
    lists->count += status == STA_OK ? count : 0;
    return status;
}

/* Reserves space for a name, and for its node. */
static int add_name(const struct building *building, struct lists *lists, struct sta_error *err)
{
    static const uint32_t unknown = 0;
    struct sta_account *account = building->budget->account;
    struct named *named = &lists->named;
    int status = STA_ACCOUNT_GROW(account, named->names, named->names_capacity, named->count + 1, WHAT, err);
    if (status == STA_OK)
        status =
            STA_ACCOUNT_GROW(account, named->places, named->places_capacity, named->count + 1, WHAT, err);
    if (status == STA_OK)
        status = take_codes(building, lists, &unknown, 1, err);
    if (status == STA_OK)
        named->places[named->count++] = (uint32_t)lists->count - 1;
    return status;
}

static int read_names(const struct building *building, struct lists *lists, struct sta_text list,
                      uint32_t *count, struct sta_error *err)
{
    const char *at = list.bytes, *end = list.bytes + list.length;
    while ((at = memchr(at, '"', (size_t)(end - at))) != NULL) {
        int status = add_name(building, lists, err);
        if (status != STA_OK)
            return status;
        at = read_text(at + 1, end, &lists->unescaped, &lists->named.names[lists->named.count - 1]) + 1;
        at = at < end ? at : end;
        (*count)++;
    }
    return STA_OK;
}

static int read_list(const struct building *building, struct lists *lists, const struct texts *texts,
                     uint32_t code, uint32_t *count, struct sta_error *err)
{
    size_t members;
    *count = 0;
    if (code == STA_NO_CODE)
        return STA_OK;
    const uint32_t *codes = building->task_key == STA_NO_CODE
                                ? NULL
                                : sta_tables_list(sta_snapshot_tables(building->dasf->snapshot), texts->key,
                                                  building->task_key, code, &members);
    if (codes != NULL) {
        *count = (uint32_t)members;
        return take_codes(building, lists, codes, members, err);
    }
    const int status = sta_dictionary_make(texts->texts, err);
    return status == STA_OK ? read_names(building, lists, sta_dictionary_text(texts->texts, code), count, err)
                            : status;
}

/* Those that never ran are not among the keys. */
static int look_up(const struct building *building, struct lists *lists, struct sta_error *err)
{
    struct sta_dasf *dasf = building->dasf;
    struct named *named = &lists->named;
    uint32_t *found =
        sta_account_alloc(building->budget->account, named->count + 1, sizeof *found, WHAT, err);
    if (found == NULL)
        return err->status;
    if (dasf->keys != NULL)
        sta_dictionary_find_many(dasf->keys, named->names, named->count, found);
    for (size_t i = 0; i < named->count; i++)
        lists->nodes[named->places[i]] =
            dasf->keys == NULL || found[i] >= dasf->key_count
                ? dasf->key_count +
                      sta_dictionary_intern(dasf->unknown, named->names[i].bytes, named->names[i].length)
                : found[i];
    sta_account_free(building->budget->account, found);
    return STA_OK;
}

static int read_lists(const struct building *building, struct lists *lists, size_t first, size_t count,
                      struct sta_error *err)
{
    int status = STA_OK;
    lists->inputs = sta_account_alloc(building->budget->account, 2 * count, sizeof *lists->inputs, WHAT, err);
    if (lists->inputs == NULL)
        return err->status;
    lists->users = lists->inputs + count;
    for (size_t i = 0; i < count && status == STA_OK; i++) {
        const struct dasf_task *task = &building->dasf->tasks[first + i];
        status = read_list(building, lists, &building->inputs, task->inputs, &lists->inputs[i], err);
        if (status == STA_OK)
            status = read_list(building, lists, &building->users, task->users, &lists->users[i], err);
    }
    return status;
}

static int read_morsel(void *context, unsigned worker, size_t morsel, struct sta_error *err)
{
    const struct building *building = context;
    struct lists *lists = &building->lists[morsel];
    const size_t first = morsel * MORSEL_TASKS;
    (void)worker;
    lists->unescaped.account = building->budget->account;
    int status = read_lists(building, lists, first,
                            STA_MIN((size_t)MORSEL_TASKS, building->dasf->task_count - first), err);
    if (status == STA_OK)
        status = look_up(building, lists, err);
    sta_account_free(building->budget->account, lists->named.names);
    sta_account_free(building->budget->account, lists->named.places);
    sta_arena_fini(&lists->unescaped);
    return status;
}

/* ---- nodes */

int dasf_find_last(struct sta_dasf *dasf, const struct sta_budget *budget, struct sta_error *err)
{
    dasf->node_count = dasf->key_count + sta_dictionary_count(dasf->unknown);
    dasf->last = dasf_alloc(dasf, budget, dasf->node_count, sizeof *dasf->last, err);
    if (dasf->last == NULL)
        return err->status;
    memset(dasf->last, 0xff, dasf->node_count * sizeof *dasf->last);
    dasf->ran_count = 0;
    for (size_t i = 0; i < dasf->task_count; i++) {
        uint32_t node = dasf->tasks[i].key;
        if (node >= dasf->node_count)
            return sta_fail(err, STA_ECORRUPT, "a Compute record has no key");
        dasf->ran_count += dasf->last[node] == DASF_NEVER;
        dasf->last[node] = (uint32_t)i;
    }
    return STA_OK;
}

static int alloc_nodes(struct sta_dasf *dasf, const struct sta_budget *budget, struct sta_error *err)
{
    size_t nodes = dasf->node_count;
    dasf->mentioned = dasf_alloc(dasf, budget, nodes, sizeof *dasf->mentioned, err);
    dasf->mention = dasf->mentioned ? dasf_alloc(dasf, budget, nodes, sizeof *dasf->mention, err) : NULL;
    dasf->input_size = dasf->mention ? dasf_alloc(dasf, budget, nodes, sizeof *dasf->input_size, err) : NULL;
    if (dasf->input_size == NULL)
        return err->status;
    memset(dasf->mention, 0xff, nodes * sizeof *dasf->mention);
    memset(dasf->input_size, 0, nodes * sizeof *dasf->input_size);
    return STA_OK;
}

static void mention(struct sta_dasf *dasf, uint32_t node)
{
    if (dasf->mention[node] != DASF_NEVER)
        return;
    dasf->mention[node] = dasf->mention_count;
    dasf->mentioned[dasf->mention_count++] = node;
}

/* Calls @edge for each edge that is named, in the order of the stream; an edge may be named often. */
static int each_edge(const struct building *building,
                     void (*edge)(struct sta_dasf *dasf, uint32_t from, uint32_t to), bool mentions,
                     struct sta_error *err)
{
    struct sta_dasf *dasf = building->dasf;
    int status = STA_OK;
    for (size_t morsel = 0; morsel < building->morsels && status == STA_OK; morsel++) {
        const struct lists *lists = &building->lists[morsel];
        const uint32_t *at = lists->nodes;
        size_t first = morsel * MORSEL_TASKS;
        status = sta_budget_check(building->budget, err);
        for (size_t i = first; i < first + MORSEL_TASKS && i < dasf->task_count; i++) {
            uint32_t node = dasf->tasks[i].key;
            if (mentions)
                mention(dasf, node);
            for (uint32_t n = lists->inputs[i - first]; n > 0; n--)
                edge(dasf, *at++, node);
            for (uint32_t n = lists->users[i - first]; n > 0; n--)
                edge(dasf, node, *at++);
        }
    }
    return status;
}

static void count_edge(struct sta_dasf *dasf, uint32_t from, uint32_t to)
{
    mention(dasf, from);
    mention(dasf, to);
    dasf->before.first[to + 1]++;
}

static void place_edge(struct sta_dasf *dasf, uint32_t from, uint32_t to)
{
    dasf->before.nodes[dasf->before.first[to]++] = from;
}

/* ---- edges */

static void add_up(uint32_t *first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        first[i + 1] += first[i];
}

/* Keeps each predecessor of a node once, and adds up their sizes.  @seen: by node, the node that has it. */
static int drop_repeated(struct sta_dasf *dasf, const struct sta_budget *budget, uint32_t *seen,
                         struct sta_error *err)
{
    size_t work = 0;
    struct dasf_list *before = &dasf->before;
    uint32_t begin = 0, out = 0;
    for (uint32_t node = 0; node < dasf->node_count; node++) {
        uint32_t end = before->first[node]; /* place_edge moved it to the end of the node's */
        if (sta_budget_check_work(budget, &work, end - begin, err) != STA_OK)
            return err->status;
        before->first[node] = out;
        for (uint32_t i = begin; i < end; i++) {
            uint32_t from = before->nodes[i], last = dasf->last[from];
            if (seen[from] == node)
                continue;
            seen[from] = node;
            before->nodes[out++] = from;
            if (last != DASF_NEVER && __builtin_add_overflow(dasf->input_size[node], dasf->tasks[last].size,
                                                             &dasf->input_size[node]))
                dasf->input_size[node] = INT64_MAX;
        }
        begin = end;
    }
    before->first[dasf->node_count] = out;
    return STA_OK;
}

/* Successors from predecessors. */
static int turn_around(struct sta_dasf *dasf, const struct sta_budget *budget, struct sta_error *err)
{
    struct dasf_list *before = &dasf->before, *after = &dasf->after;
    uint32_t edges = before->first[dasf->node_count];
    after->first = dasf_alloc(dasf, budget, (size_t)dasf->node_count + 1, sizeof *after->first, err);
    after->nodes = after->first ? dasf_alloc(dasf, budget, edges, sizeof *after->nodes, err) : NULL;
    if (after->nodes == NULL)
        return err->status;
    memset(after->first, 0, ((size_t)dasf->node_count + 2) * sizeof *after->first);
    for (uint32_t i = 0; i < edges; i++)
        after->first[before->nodes[i] + 2]++;
    for (uint32_t i = 2; i <= dasf->node_count; i++)
        after->first[i] += after->first[i - 1];
    size_t work = 0;
    for (uint32_t node = 0; node < dasf->node_count; node++) {
        for (uint32_t i = before->first[node]; i < before->first[node + 1]; i++)
            after->nodes[after->first[before->nodes[i] + 1]++] = node;
        if (sta_budget_check_work(budget, &work, before->first[node + 1] - before->first[node], err) !=
            STA_OK)
            return err->status;
    }
    return STA_OK;
}

static int link_nodes(struct building *building, struct sta_error *err)
{
    struct sta_dasf *dasf = building->dasf;
    const struct sta_budget *budget = building->budget;
    dasf->before.first = dasf_alloc(dasf, budget, (size_t)dasf->node_count + 1, sizeof(uint32_t), err);
    if (dasf->before.first == NULL)
        return err->status;
    memset(dasf->before.first, 0, ((size_t)dasf->node_count + 2) * sizeof(uint32_t));
    int status = each_edge(building, count_edge, true, err);
    add_up(dasf->before.first, dasf->node_count);
    if (status == STA_OK)
        dasf->before.nodes =
            dasf_alloc(dasf, budget, dasf->before.first[dasf->node_count], sizeof(uint32_t), err);
    if (status != STA_OK || dasf->before.nodes == NULL)
        return err->status;
    status = each_edge(building, place_edge, false, err);
    uint32_t *seen = sta_account_alloc(budget->account, dasf->node_count + 1, sizeof *seen, WHAT, err);
    if (status != STA_OK || seen == NULL) {
        sta_account_free(budget->account, seen);
        return err->status;
    }
    memset(seen, 0xff, dasf->node_count * sizeof *seen);
    status = drop_repeated(dasf, budget, seen, err);
    sta_account_free(budget->account, seen);
    return status == STA_OK ? turn_around(dasf, budget, err) : status;
}

static struct texts texts_of(const struct sta_dasf *dasf, const char *name)
{
    const uint32_t key = dasf_args_key(dasf, name);
    const struct sta_tables *tables = sta_snapshot_tables(dasf->snapshot);
    return (struct texts){key, key != STA_NO_CODE ? sta_tables_values(tables, key) : NULL};
}

int dasf_build_graph(struct sta_dasf *dasf, const struct sta_budget *budget, struct sta_error *err)
{
    struct building building = {.dasf = dasf,
                                .budget = budget,
                                .inputs = texts_of(dasf, "dependencies"),
                                .users = texts_of(dasf, "dependents"),
                                .task_key = dasf->keys != NULL ? dasf_args_key(dasf, "key") : STA_NO_CODE,
                                .morsels = (dasf->task_count + MORSEL_TASKS - 1) / MORSEL_TASKS};
    building.lists =
        sta_account_calloc(budget->account, building.morsels + 1, sizeof *building.lists, WHAT, err);
    if (building.lists == NULL)
        return err->status;
    int status = sta_tasks_run(budget, building.morsels, read_morsel, &building, err);
    if (status == STA_OK)
        status = dasf_find_last(dasf, budget, err);
    if (status == STA_OK)
        status = alloc_nodes(dasf, budget, err);
    if (status == STA_OK)
        status = link_nodes(&building, err);
    for (size_t i = 0; i < building.morsels; i++) {
        sta_account_free(budget->account, building.lists[i].nodes);
        sta_account_free(budget->account, building.lists[i].inputs);
    }
    sta_account_free(budget->account, building.lists);
    return status;
}
