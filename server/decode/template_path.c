/* Building the paths of templates; following one is in template_match.h. */
#include "decode/template_path.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "decode/template_trie.h"

#define CACHE_LINE 64
#define LOOK_LINES 64 /* from one look at the values to the next */
#define LOOKS 4
#define MOST_LOOKS 200
#define DOUBTS 16 /* lines for which no path is expected after one that left it */

void sta_template_free_paths(struct sta_templates *templates)
{
    while (templates->paths != NULL) {
        struct sta_template_path *older = templates->paths->older;
        free(templates->paths->block);
        templates->paths = older;
    }
}

static struct sta_template_path *new_path(struct sta_templates *templates)
{
    struct sta_template_path *path;
    void *block = sta_alloc(sizeof *path + CACHE_LINE);
    path = (struct sta_template_path *)(((uintptr_t)block + CACHE_LINE - 1) & ~(uintptr_t)(CACHE_LINE - 1));
    path->block = block;
    path->older = templates->paths;
    path->enough = LOOKS;
    templates->paths = path;
    return path;
}

/* ---- steps */

static void put_piece(struct sta_template_step *step, const char *fragment, unsigned length)
{
    step->length = (uint8_t)STA_MIN(length, (unsigned)STA_TEMPLATE_VECTOR);
    step->mask = sta_template_mask(step->length);
    memset(step->fragment, 0, sizeof step->fragment);
    memcpy(step->fragment, fragment, step->length);
}

/* A long fragment goes on in steps without a value.  Return: how many. */
static unsigned put_fragment(struct sta_template_step *steps, const struct sta_template_node *node)
{
    unsigned count = 0;
    for (unsigned at = 0; at == 0 || at < node->length; at += STA_TEMPLATE_VECTOR, count++) {
        struct sta_template_step *step = &steps[count];
        if (at > 0)
            *step = (struct sta_template_step){.kind = STA_TEMPLATE_PIECE};
        put_piece(step, node->fragment + at, node->length - at);
        step->next = 1;
    }
    return count;
}

/* ---- where the plan finds its values */

static bool put_field(struct sta_template_path *path, enum sta_record_field field, uint8_t step)
{
    uint8_t *places[STA_FIELD_COUNT] = {[STA_FIELD_ts] = &path->ts,
                                        [STA_FIELD_dur] = &path->dur,
                                        [STA_FIELD_pid] = &path->pid,
                                        [STA_FIELD_tid] = &path->tid};
    if (field < STA_FIELD_COUNT && places[field] != NULL)
        *places[field] = step;
    return field == STA_FIELD_IGNORED || (field < STA_FIELD_COUNT && places[field] != NULL);
}

static uint64_t hash_bit(const struct sta_template_path *path, uint8_t step, enum sta_reference kind)
{
    bool hash = step != STA_NO_STEP && path->steps[step].kind == STA_TEMPLATE_HASH;
    return hash && kind == STA_REFERENCE_HASH ? UINT64_C(1) << step : 0;
}

/* Digits in quotes are read as integers, since the next fragment begins with the quote; but not where the
 * text is wanted. */
static void read_as_ints(struct sta_template_path *path, unsigned count)
{
    path->plain = 0;
    path->hashes = hash_bit(path, path->file, path->file_kind) | hash_bit(path, path->host, path->host_kind);
    for (unsigned i = 0; i < count; i++) {
        struct sta_template_step *step = &path->steps[i];
        if (step->kind == STA_TEMPLATE_NUMERAL && i != path->file && i != path->host)
            step->kind = STA_TEMPLATE_INT;
        path->plain |= (uint64_t)(step->kind == STA_TEMPLATE_INT) << i;
    }
}

/* What may be null is unusual: then the event may refer to something else. */
static uint64_t reference_bit(const struct sta_template_path *path, uint8_t step)
{
    if (step == STA_NO_STEP || path->steps[step].kind == STA_TEMPLATE_STRING ||
        path->steps[step].kind == STA_TEMPLATE_NUMERAL)
        return 0;
    return UINT64_C(1) << step;
}

/* Return: false without times or ids that are plain integers. */
static bool put_usual(struct sta_template_path *path)
{
    const uint8_t needed[] = {path->ts, path->dur, path->pid, path->tid};
    path->usual = reference_bit(path, path->file) | reference_bit(path, path->host);
    for (size_t i = 0; i < STA_COUNT_OF(needed); i++) {
        if (needed[i] == STA_NO_STEP || !(path->plain >> needed[i] & 1))
            return false;
        path->usual |= UINT64_C(1) << needed[i];
    }
    return true;
}

static void put_plan(struct sta_template_path *path, const struct sta_event_plan *plan, const uint8_t *args)
{
    path->name = plan->name;
    path->cat = plan->cat;
    path->file = plan->file.arg != STA_NO_ARG ? args[plan->file.arg] : STA_NO_STEP;
    path->host = plan->host.arg != STA_NO_ARG ? args[plan->host.arg] : STA_NO_STEP;
    path->file_kind = plan->file.kind;
    path->host_kind = plan->host.kind;
    path->stored_count = plan->stored_count;
    for (unsigned i = 0; i < plan->stored_count; i++)
        path->stored[i] = (struct sta_stored_arg){args[plan->stored[i].arg], plan->stored[i].column};
}

/* The nodes from behind @first to @end, in order.  Return: how many; 0: too many. */
static unsigned list_nodes(const struct sta_template_node *first, struct sta_template_node *end,
                           const struct sta_template_node *nodes[STA_LAYOUT_ITEMS + 1])
{
    unsigned count = 0, steps = 0;
    for (const struct sta_template_node *node = end; node != first; node = node->parent) {
        steps += node->length / STA_TEMPLATE_VECTOR + 1;
        count++;
    }
    if (count > STA_LAYOUT_ITEMS + 1 || steps > STA_PATH_STEPS)
        return 0;
    for (unsigned i = count; i > 0; i--, end = end->parent)
        nodes[i - 1] = end;
    return count;
}

/* Return: false when some value has no place in an event of a path. */
static bool put_path(struct sta_template_path *path, const struct sta_template_node *first,
                     struct sta_template_node *end)
{
    const struct sta_template_node *nodes[STA_LAYOUT_ITEMS + 1];
    uint8_t args[STA_LAYOUT_ITEMS];
    unsigned step = 0, arg_count = 0;
    const unsigned count = list_nodes(first, end, nodes);
    path->end = end;
    path->ts = path->dur = path->pid = path->tid = STA_NO_STEP;
    for (unsigned i = 0; i < count; i++) {
        const struct sta_template_node *of_value = i == 0 ? first : nodes[i - 1];
        if (of_value->field == STA_FIELD_ARGS)
            args[arg_count++] = (uint8_t)step;
        else if (!put_field(path, of_value->field, (uint8_t)step))
            return false;
        path->steps[step] = (struct sta_template_step){
            .kind = of_value->kind, .otherwise = of_value->kind, .predicted = of_value->predicted};
        step += put_fragment(&path->steps[step], nodes[i]);
        path->steps[step - 1].next = i + 1 < count;
    }
    put_plan(path, &end->plan, args);
    read_as_ints(path, step);
    path->step_count = (uint8_t)step;
    path->looks = 0;
    path->lines = LOOK_LINES;
    return count > 0 && put_usual(path);
}

/* ---- what is expected */

static bool is_named(const struct sta_template_node *node)
{
    for (unsigned i = 0; i < node->constant_count; i++)
        if (node->constants[i].field == STA_FIELD_name)
            return true;
    return false;
}

/* The node that has the name, when nothing that is kept stands before it. */
static struct sta_template_node *first_of(struct sta_template_node *end)
{
    struct sta_template_node *first = end;
    while (first != NULL && !is_named(first))
        first = first->parent;
    if (first == NULL || first == end)
        return NULL;
    for (const struct sta_template_node *node = first->parent; node->parent != NULL; node = node->parent)
        if (node->field != STA_FIELD_IGNORED)
            return NULL;
    return first;
}

void sta_template_expect(struct sta_templates *templates, struct sta_template_node *end)
{
    struct sta_template_node *first = end->decided && end->plan.known ? first_of(end) : NULL;
    if (first == NULL || first->pathless)
        return;
    if (first->doubts > 0) {
        first->doubts--;
        return;
    }
    struct sta_template_path *path = end->whole != NULL ? end->whole : new_path(templates);
    end->whole = path;
    first->pathless = !put_path(path, first, end);
    first->path = first->pathless ? NULL : path;
}

void sta_template_doubt(struct sta_template_node *node)
{
    node->path->enough = (uint8_t)STA_MIN(node->path->enough * 2, MOST_LOOKS);
    node->path = NULL;
    node->doubts = DOUBTS;
}

/* ---- values that stay the same */

/* Fragments and values that are being joined. */
struct joining {
    struct sta_template_path *path;
    struct sta_template_step *at; /* that the text goes to */
    unsigned used;                /* steps */
    size_t length;
    char text[STA_PATH_STEPS * (STA_TEMPLATE_VECTOR + STA_JOINED_TEXT)];
};

static void append(struct joining *joining, const char *text, size_t length)
{
    memcpy(joining->text + joining->length, text, length);
    joining->length += length;
}

/* What is longer than a vector goes on in steps behind all others. */
static void end_joined(struct joining *joining, const struct sta_template_step *following)
{
    struct sta_template_step *step = joining->at;
    for (size_t at = 0; at == 0 || at < joining->length; at += STA_TEMPLATE_VECTOR) {
        if (at > 0) {
            struct sta_template_step *more = &joining->path->steps[joining->used++];
            *more = (struct sta_template_step){.kind = STA_TEMPLATE_PIECE};
            step->next = (int8_t)(more - step);
            step = more;
        }
        put_piece(step, joining->text + at, (unsigned)(joining->length - at));
    }
    step->next = following != NULL ? (int8_t)(following - step) : 0;
    joining->length = 0;
}

static bool can_join(const struct sta_template_path *path, unsigned step)
{
    const enum sta_template_kind kind = path->steps[step].kind;
    return step > 0 && !(path->varying >> step & 1) &&
           (kind == STA_TEMPLATE_INT || kind == STA_TEMPLATE_HASH) && !sta_path_has_other(path, step);
}

/* Pieces take one step for each vector at most, and one more for each value that is not joined. */
static bool have_room(const struct sta_template_path *path)
{
    unsigned bytes = 0;
    for (unsigned i = 0; i < path->step_count; i++)
        bytes += path->steps[i].length + (can_join(path, i) ? path->looked_length[i] : 0);
    return path->step_count + bytes / STA_TEMPLATE_VECTOR + 1 <= STA_PATH_STEPS;
}

static void join(struct sta_template_path *path)
{
    struct joining joining = {.path = path, .at = path->steps, .used = path->step_count};
    if (!have_room(path))
        return;
    for (unsigned i = 0; i < path->step_count; i++) {
        struct sta_template_step *step = &path->steps[i];
        if (can_join(path, i)) {
            step->text = path->looked[i];
            append(&joining, step->text, step->predicted);
        } else if (i > 0 && step->kind != STA_TEMPLATE_PIECE) {
            end_joined(&joining, step);
            joining.at = step;
        }
        append(&joining, step->fragment, step->length);
    }
    end_joined(&joining, NULL);
}

void sta_template_look(struct sta_template_path *path)
{
    if (path->looks == 0)
        path->varying = 0;
    for (unsigned i = 0; i < path->step_count; i++) {
        const struct sta_template_step *step = &path->steps[i];
        const size_t length = step->predicted;
        if (step->kind == STA_TEMPLATE_PIECE)
            continue;
        const bool kept = path->looks > 0 && length == path->looked_length[i] &&
                          memcmp(path->looked[i], step->text, length) == 0;
        if (!kept && (path->looks > 0 || length > STA_JOINED_TEXT))
            path->varying |= UINT64_C(1) << i;
        path->looked_length[i] = (uint8_t)STA_MIN(length, (size_t)STA_JOINED_TEXT);
        memcpy(path->looked[i], step->text, path->looked_length[i]);
    }
    path->lines = path->looks < path->enough ? LOOK_LINES : UINT16_MAX;
    if (path->looks == path->enough)
        join(path);
    path->looks = (uint8_t)STA_MIN(path->looks + 1, UINT8_MAX);
}

/* ---- records */

void sta_template_path_fill(const struct sta_template_path *path, struct sta_record *record)
{
    const struct sta_template_node *nodes[STA_LAYOUT_ITEMS + 1];
    const struct sta_template_node *of_value = first_of(path->end);
    const unsigned count = list_nodes(of_value, path->end, nodes);
    const struct sta_template_step *step = path->steps;
    record->arg_count = 0;
    record->plan = &path->end->plan;
    record->path = NULL;
    for (unsigned i = 0; i < count; of_value = nodes[i++]) {
        struct sta_json_value *value = &record->fields[of_value->field];
        if (of_value->field == STA_FIELD_ARGS) {
            record->args[record->arg_count].key = of_value->key;
            value = &record->args[record->arg_count++].value;
        }
        *value = sta_path_value(path, (unsigned)(step - path->steps));
        for (step++; step < path->steps + STA_PATH_STEPS && step->kind == STA_TEMPLATE_PIECE; step++)
            ;
    }
}
