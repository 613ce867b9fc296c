/* Building the paths of templates; following one is in template_match.h. */
#include "decode/template_path.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "decode/template_trie.h"

#define CACHE_LINE 64
#define MOST_PATHS 1536 /* of one reader: 24 MB; other templates are matched without */
#define LOOK_LINES 64   /* from one look at the values to the next */
#define LOOKS 4
#define RESIZES 3      /* changes of length that come soon make a value one of varying length */
#define SOON 512       /* lines */
#define MOST_DIGITS 16 /* of an integer that is read at once */
#define DOUBTS 16      /* lines for which no path is expected after one that left it */

void sta_template_free_paths(struct sta_templates *templates)
{
    while (templates->paths != NULL) {
        struct sta_template_path *older = templates->paths->older;
        free(templates->paths->block);
        templates->paths = older;
    }
    templates->path_count = 0;
    memset(templates->expected, 0, sizeof templates->expected);
    templates->last = NULL;
}

static struct sta_template_path *new_path(struct sta_templates *templates)
{
    struct sta_template_path *path;
    void *block = sta_alloc(sizeof *path + CACHE_LINE);
    path = (struct sta_template_path *)(((uintptr_t)block + CACHE_LINE - 1) & ~(uintptr_t)(CACHE_LINE - 1));
    path->block = block;
    path->older = templates->paths;
    templates->paths = path;
    templates->path_count++;
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

/* A long fragment goes on in steps without a value.  Return: the step behind it. */
static unsigned put_fragment(struct sta_template_path *path, unsigned step,
                             const struct sta_template_node *node)
{
    for (unsigned at = 0; at == 0 || at < node->length; at += STA_TEMPLATE_VECTOR, step++) {
        if (at > 0)
            path->values[step] = (struct sta_path_value){.kind = STA_TEMPLATE_PIECE};
        put_piece(&path->steps[step], node->fragment + at, node->length - at);
    }
    return step;
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
    bool hash = step != STA_NO_STEP && path->values[step].kind == STA_TEMPLATE_HASH;
    return hash && kind == STA_REFERENCE_HASH ? UINT64_C(1) << step : 0;
}

/* Digits in quotes are read as integers, since the next fragment begins with the quote; but not where the
 * text is wanted. */
static void read_as_ints(struct sta_template_path *path, unsigned count)
{
    path->plain = 0;
    path->hashes = hash_bit(path, path->file, path->file_kind) | hash_bit(path, path->host, path->host_kind);
    for (unsigned i = 0; i < count; i++) {
        struct sta_path_value *value = &path->values[i];
        if (value->kind == STA_TEMPLATE_NUMERAL && i != path->file && i != path->host)
            value->kind = STA_TEMPLATE_INT;
        path->plain |= (uint64_t)(value->kind == STA_TEMPLATE_INT) << i;
    }
}

/* What may be null is unusual: then the event may refer to something else. */
static uint64_t reference_bit(const struct sta_template_path *path, uint8_t step)
{
    if (step == STA_NO_STEP || path->values[step].kind == STA_TEMPLATE_STRING ||
        path->values[step].kind == STA_TEMPLATE_NUMERAL)
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

/* The nodes from behind the root to @end, in order.  Return: how many; 0: too many. */
static unsigned list_nodes(const struct sta_template_node *end,
                           const struct sta_template_node *nodes[STA_LAYOUT_ITEMS + 1])
{
    unsigned count = 0, steps = 0;
    for (const struct sta_template_node *node = end; node->parent != NULL; node = node->parent) {
        steps += node->length / STA_TEMPLATE_VECTOR + 1;
        count++;
    }
    if (count > STA_LAYOUT_ITEMS + 1 || steps > STA_PATH_STEPS)
        return 0;
    for (unsigned i = count; i > 0; i--, end = end->parent)
        nodes[i - 1] = end;
    return count;
}

/* The value behind a node.  Return: false when it has no place in an event of a path. */
static bool put_value(struct sta_template_path *path, const struct sta_template_node *node, uint8_t step,
                      uint8_t args[], unsigned *arg_count)
{
    path->values[step] =
        (struct sta_path_value){.kind = node->kind, .otherwise = node->kind, .predicted = node->predicted};
    path->ignored |= (uint64_t)(node->field == STA_FIELD_IGNORED) << step;
    if (node->field != STA_FIELD_ARGS)
        return put_field(path, node->field, step);
    args[(*arg_count)++] = step;
    return true;
}

/* Return: false when some value has no place in an event of a path. */
static bool put_path(struct sta_template_path *path, struct sta_template_node *end)
{
    const struct sta_template_node *nodes[STA_LAYOUT_ITEMS + 1];
    uint8_t args[STA_LAYOUT_ITEMS];
    unsigned step = 0, arg_count = 0;
    const unsigned count = list_nodes(end, nodes);
    path->end = end;
    path->ts = path->dur = path->pid = path->tid = STA_NO_STEP;
    path->part_count = 0;
    path->ignored = 0;
    path->values[0] = (struct sta_path_value){.kind = STA_TEMPLATE_PIECE};
    if (count == 0)
        return false;
    for (unsigned i = 0; i < count; i++) {
        if (i > 0 && !put_value(path, nodes[i - 1], (uint8_t)step, args, &arg_count))
            return false;
        step = put_fragment(path, step, nodes[i]);
    }
    put_plan(path, &end->plan, args);
    read_as_ints(path, step);
    path->step_count = (uint8_t)step;
    path->looks = 0;
    path->lines = LOOK_LINES;
    path->resized = 0;
    memset(path->resizes, 0, sizeof path->resizes);
    return put_usual(path);
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
    if (first == NULL || first->pathless || (end->whole == NULL && templates->path_count == MOST_PATHS))
        return;
    if (first->doubts > 0) {
        first->doubts--;
        return;
    }
    struct sta_template_path *path = end->whole != NULL ? end->whole : new_path(templates);
    end->whole = path;
    first->pathless = !put_path(path, end);
    first->path = first->pathless ? NULL : path;
}

void sta_template_doubt(struct sta_template_node *node)
{
    node->path->part_count = 0; /* its constants may be those of the line that left it */
    node->path = NULL;
    node->doubts = DOUBTS;
}

/* ---- parts */

/* Parts that are being made. */
struct making {
    struct sta_template_path *path;
    struct sta_template_part *part;
    unsigned fixed_count, vector_count; /* of all parts */
    bool full;                          /* there are too many vectors */
};

/* @value: NULL: the part begins with text. */
static void begin_part(struct making *making, struct sta_path_value *value)
{
    making->part = &making->path->parts[making->path->part_count++];
    *making->part = (struct sta_template_part){.value = value};
}

/* The next byte of the text is at least @least and at most so much more. */
static void add_byte(struct making *making, uint8_t least, uint8_t more)
{
    const unsigned at = making->part->length % STA_BOUNDS_VECTOR;
    if (at == 0 && making->vector_count == STA_PATH_VECTORS) {
        making->full = true;
        return;
    }
    if (at == 0) {
        making->part->vector_count++;
        making->path->bounds[making->vector_count] = (struct sta_byte_bounds){.least = {0}};
        memset(making->path->bounds[making->vector_count++].more, 0xff, STA_BOUNDS_VECTOR);
    }
    struct sta_byte_bounds *bounds = &making->path->bounds[making->vector_count - 1];
    bounds->least[at] = least;
    bounds->more[at] = more;
    making->part->length++;
}

static void add_text(struct making *making, const char *text, unsigned length)
{
    for (unsigned i = 0; i < length && !making->full; i++)
        add_byte(making, (uint8_t)text[i], 0);
}

/* A value of so many digits as it has now.  No number begins with 0, but 0 itself. */
static void add_digits(struct making *making, struct sta_path_value *value)
{
    const bool may_be_zero = value->kind == STA_TEMPLATE_INT && value->predicted == 1;
    if (!(making->path->ignored >> (value - making->path->values) & 1)) {
        making->path->fixed[making->fixed_count++] =
            (struct sta_fixed_value){value, making->part->length, (uint8_t)value->predicted};
        making->part->fixed_count++;
    }
    add_byte(making, may_be_zero ? '0' : '1', may_be_zero ? 9 : 8);
    for (unsigned i = 1; i < value->predicted && !making->full; i++)
        add_byte(making, '0', 9);
}

static bool is_fixed(const struct sta_template_path *path, unsigned step)
{
    const enum sta_template_kind kind = path->values[step].kind;
    const unsigned most = kind == STA_TEMPLATE_INT ? MOST_DIGITS : STA_CONSTANT_TEXT;
    return (kind == STA_TEMPLATE_INT || kind == STA_TEMPLATE_HASH) && !(path->resized >> step & 1) &&
           path->looked_length[step] <= most;
}

/* Of the values as the last line has them. */
static void make_parts(struct sta_template_path *path)
{
    struct making making = {.path = path};
    path->part_count = 0;
    path->alike = 0;
    begin_part(&making, NULL);
    for (unsigned i = 0; i < path->step_count && !making.full; i++) {
        struct sta_path_value *value = &path->values[i];
        if (value->kind != STA_TEMPLATE_PIECE && is_fixed(path, i)) {
            if (path->varying >> i & 1) {
                add_digits(&making, value);
            } else {
                value->text = path->looked[i];
                add_text(&making, value->text, value->predicted);
            }
        } else if (value->kind != STA_TEMPLATE_PIECE) {
            begin_part(&making, value);
        }
        add_text(&making, path->steps[i].fragment, path->steps[i].length);
    }
    if (making.full)
        path->part_count = 0;
}

/* Whether a value is what it was at the last look. */
static bool is_as_looked(const struct sta_template_path *path, unsigned step)
{
    return path->values[step].predicted == path->looked_length[step] &&
           path->looked_length[step] <= STA_CONSTANT_TEXT &&
           memcmp(path->looked[step], path->values[step].text, path->looked_length[step]) == 0;
}

static void remember_value(struct sta_template_path *path, unsigned step)
{
    path->looked_length[step] = path->values[step].predicted;
    memmove(path->looked[step], path->values[step].text,
            STA_MIN(path->looked_length[step], (size_t)STA_CONSTANT_TEXT));
}

void sta_template_look(struct sta_template_path *path)
{
    if (path->looks > LOOKS)
        return;
    if (path->looks == 0)
        path->varying = 0;
    for (unsigned i = 0; i < path->step_count; i++) {
        const uint64_t bit = UINT64_C(1) << i;
        if (path->values[i].kind == STA_TEMPLATE_PIECE)
            continue;
        path->varying |= path->looks > 0 && !is_as_looked(path, i) ? bit : 0;
        remember_value(path, i);
    }
    path->resized |= path->others;
    path->lines = LOOK_LINES;
    if (path->looks++ == LOOKS)
        make_parts(path);
}

void sta_template_correct(struct sta_template_path *path)
{
    for (unsigned i = 0; i < path->step_count; i++) {
        const uint64_t bit = UINT64_C(1) << i;
        if (path->values[i].kind == STA_TEMPLATE_PIECE)
            continue;
        path->varying |= is_as_looked(path, i) ? 0 : bit;
        if (path->values[i].predicted != path->looked_length[i] && path->alike < SOON &&
            ++path->resizes[i] == RESIZES)
            path->resized |= bit;
        remember_value(path, i);
    }
    path->resized |= path->others;
    make_parts(path);
}

/* ---- records */

void sta_template_path_fill(const struct sta_template_path *path, struct sta_record *record)
{
    const struct sta_template_node *nodes[STA_LAYOUT_ITEMS + 1];
    const unsigned count = list_nodes(path->end, nodes);
    unsigned step = 0;
    sta_record_clear(record);
    record->plan = &path->end->plan;
    for (unsigned i = 0; i + 1 < count; i++) {
        struct sta_json_value *value = &record->fields[nodes[i]->field];
        while (path->values[step].kind == STA_TEMPLATE_PIECE)
            step++;
        if (nodes[i]->field == STA_FIELD_ARGS) {
            record->args[record->arg_count].key = nodes[i]->key;
            value = &record->args[record->arg_count++].value;
        }
        *value = sta_path_value(path, step++);
    }
}
