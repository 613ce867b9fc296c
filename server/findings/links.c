/* Links of rules with what only the trace and its preset say put in: {input}, {step}: the preset's phases;
 * {outside}: file system calls in no layer; {unresolved}: events whose hash no line defines.  Other braces
 * stay. */
#include <string.h>

#include "findings/looks_private.h"
#include "findings/findings.h"
#include "common/memory.h"

static const char *condition_of(const struct sta_looks *looks, const char *name, size_t length)
{
    char *const *phases = looks->run->preset->phases;
    const struct {
        const char *name, *condition;
    } known[] = {{"{input}", phases[STA_PHASE_input]},
                 {"{step}", phases[STA_PHASE_step]},
                 {"{outside}", looks->unmatched},
                 {"{unresolved}", sta_look_unresolved_condition(looks)}};
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

static const char *expanded(const struct sta_looks *looks, const char *text, struct sta_arena *memory)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    for (const char *end; *text != '\0'; text = end) {
        const size_t length = *text == '{' ? strcspn(text, "}") + 1 : strcspn(text, "{");
        const char *condition = *text == '{' ? condition_of(looks, text, length) : NULL;
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

void sta_look_link(const struct sta_looks *looks, struct sta_finding *finding)
{
    const struct sta_yaml_node *link = finding->rule->link;
    if (link == NULL)
        return;
    finding->link =
        sta_arena_alloc(&finding->memory, (link->count + 1) * sizeof *finding->link, _Alignof(max_align_t));
    for (size_t i = 0; i < link->count; i++)
        finding->link[i] = link->items[i]->text != NULL && link->items[i]->length > 0
                               ? expanded(looks, link->items[i]->text, &finding->memory)
                               : "";
}
