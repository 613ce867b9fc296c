/* Links of rules with what only the trace and its preset say put in: {input}, {step}: the preset's phases;
 * {outside}: file system calls in no layer; {unresolved}: events whose hash no line defines; {jumps}: the
 * first events that end after the one around them.  Other braces stay. */
#include <string.h>

#include "findings/evaluation_private.h"
#include "findings/findings.h"
#include "common/memory.h"

#define MOST_CHARACTERS 9500 /* an expression has at most 10,000 */

static void put_id(struct sta_buffer *out, const char *column, int64_t id)
{
    if (id == STA_NO_ID)
        sta_put_format(out, "%s.isna() and ", column);
    else
        sta_put_format(out, "%s == %lld and ", column, (long long)id);
}

/* Microseconds as the columns ts and dur have them. */
static void put_ticks(struct sta_buffer *out, const struct sta_run *run, int64_t ticks)
{
    sta_put_format(out, "%lld", (long long)(ticks / run->ticks_per_us));
    if (run->ticks_per_us == 1000)
        sta_put_format(out, ".%03lld", (long long)(ticks % 1000));
}

/* The jumps of the thread of the one at @first.  A jump may be cut to the window, and is the longest of its
 * start. */
static void put_thread(struct sta_buffer *out, const struct sta_evaluation *evaluation, size_t first)
{
    const struct sta_jump *jumps = evaluation->order.shown;
    const struct sta_entity_thread *thread =
        &sta_snapshot_entities(evaluation->run->query.snapshot)->threads[jumps[first].thread];
    put_id(out, "pid", thread->pid);
    put_id(out, "tid", thread->tid);
    for (size_t i = first; i < evaluation->order.shown_count && out->size < MOST_CHARACTERS; i++) {
        if (jumps[i].thread != jumps[first].thread)
            continue;
        sta_put_text(out, i == first ? "(ts == " : " or ts == ");
        put_ticks(out, evaluation->run, jumps[i].ts);
        sta_put_text(out, " and dur >= ");
        put_ticks(out, evaluation->run, jumps[i].to - jumps[i].ts);
    }
    sta_put_char(out, ')');
}

static const char *jump_condition(const struct sta_evaluation *evaluation)
{
    const struct sta_jump *jumps = evaluation->order.shown;
    struct sta_buffer out;
    if (evaluation->order_measured != STA_MEASURED || evaluation->order.shown_count == 0)
        return NULL;
    sta_buffer_init(&out);
    for (size_t i = 0, before; i < evaluation->order.shown_count && out.size < MOST_CHARACTERS; i++) {
        for (before = 0; jumps[before].thread != jumps[i].thread;)
            before++;
        if (before < i)
            continue;
        sta_put_text(&out, i > 0 ? " or " : "");
        put_thread(&out, evaluation, i);
    }
    const char *condition = sta_arena_copy(&evaluation->run->memory, out.data, out.size);
    sta_buffer_fini(&out);
    return condition;
}

static const char *condition_of(const struct sta_evaluation *evaluation, const char *name, size_t length)
{
    const char *const *phases = evaluation->run->preset->phases;
    const struct {
        const char *name, *condition;
    } known[] = {{"{input}", phases[STA_PHASE_input]},
                 {"{step}", phases[STA_PHASE_step]},
                 {"{outside}", evaluation->unmatched},
                 {"{unresolved}", sta_evaluate_unresolved_condition(evaluation)},
                 {"{jumps}", strncmp(name, "{jumps}", length) == 0 ? jump_condition(evaluation) : NULL}};
    for (size_t i = 0; i < STA_COUNT_OF(known); i++)
        if (strlen(known[i].name) == length && strncmp(known[i].name, name, length) == 0)
            return known[i].condition != NULL ? known[i].condition : "false";
    return NULL;
}

/* A condition of several lines on one. */
static void put_line(struct sta_buffer *out, const char *text)
{
    for (; *text != '\0'; text++)
        sta_put_char(out, *text == '\n' ? ' ' : *text);
}

static const char *expanded(const struct sta_evaluation *evaluation, const char *text,
                            struct sta_arena *memory)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    for (const char *end; *text != '\0'; text = end) {
        const size_t length = *text == '{' ? strcspn(text, "}") + 1 : strcspn(text, "{");
        const char *condition = *text == '{' ? condition_of(evaluation, text, length) : NULL;
        end = condition != NULL || *text != '{' ? text + length : text + 1;
        if (condition != NULL)
            put_line(&out, condition);
        else
            sta_put(&out, text, (size_t)(end - text));
    }
    const char *kept = sta_arena_copy(memory, out.data, out.size);
    sta_buffer_fini(&out);
    return kept;
}

void sta_evaluate_link(const struct sta_evaluation *evaluation, struct sta_finding *finding)
{
    const struct sta_yaml_node *link = finding->rule->link;
    if (link == NULL)
        return;
    finding->link =
        sta_arena_alloc(&finding->memory, (link->count + 1) * sizeof *finding->link, _Alignof(max_align_t));
    for (size_t i = 0; i < link->count; i++)
        finding->link[i] = link->items[i]->text != NULL && link->items[i]->length > 0
                               ? expanded(evaluation, link->items[i]->text, &finding->memory)
                               : "";
}
