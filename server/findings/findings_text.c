/* Findings in words: advice, links, Markdown, and what became of them between two runs. */
#include <math.h>
#include <string.h>

#include "findings/evaluation.h"
#include "common/memory.h"
#include "findings/findings.h"

const char *sta_finding_advice(const struct sta_finding *finding, size_t number)
{
    const struct sta_yaml_node *advice = finding->rule != NULL ? finding->rule->advice : NULL;
    if (advice == NULL || number >= advice->count || finding->severity >= STA_SEVERITY_OK)
        return NULL;
    return advice->items[number]->text;
}

bool sta_finding_way(const struct sta_finding *finding, enum sta_finding_way way, size_t number,
                     const char **name, const char **value)
{
    const struct sta_rule *rule = finding->rule;
    const struct sta_yaml_node *members = rule == NULL          ? NULL
                                          : way == STA_WAY_LINK ? rule->link
                                                                : rule->what_if;
    if (members == NULL || number >= members->count)
        return false;
    *name = members->keys[number]->text;
    if (way == STA_WAY_LINK)
        *value = finding->link[number];
    else
        *value = members->items[number]->text != NULL ? members->items[number]->text : "";
    return true;
}

/* ---- thresholds */

/* As the rule says it: a threshold of 0.01 % is not rounded to 0.0 %. */
static void put_level(struct sta_buffer *out, const struct sta_finding *finding,
                      const struct sta_figure *level)
{
    if (strcmp(finding->unit, "%") == 0)
        sta_put_format(out, "%.4g %%", 100 * level->number);
    else
        sta_figure_put(level, finding->unit, strlen(finding->unit), out);
}

void sta_finding_put_threshold(const struct sta_finding *finding, struct sta_buffer *out)
{
    static const char *const words[] = {"critical", "warning", "note"};
    const struct sta_figure *mildest = NULL;
    if (finding->severity == STA_SEVERITY_NA || finding->value.missing)
        return;
    sta_figure_put(&finding->value, finding->unit, strlen(finding->unit), out);
    for (size_t level = STA_SEVERITY_INFO + 1; level-- > 0;) {
        const struct sta_figure *one = &finding->levels[level];
        if (one->missing)
            continue;
        const bool any = !finding->low && one->number == 0;
        sta_put_format(out, "%s %s %s ", mildest == NULL ? ";" : ",", words[level],
                       finding->low ? "below"
                       : any        ? "above"
                                    : "from");
        put_level(out, finding, one);
        mildest = mildest == NULL ? one : mildest;
    }
    if (mildest != NULL) {
        sta_put_format(out, "; in order %s ", finding->low ? "from" : mildest->number == 0 ? "at" : "below");
        put_level(out, finding, mildest);
    }
    if (finding->rule != NULL && finding->rule->in_order != NULL)
        sta_put_format(out, ", or %.200s", finding->rule->in_order);
    sta_put_char(out, '.');
}

/* ---- Markdown */

static void put_findings(const struct sta_findings_result *findings, enum sta_severity severity,
                         const char *title, bool bold, struct sta_buffer *out)
{
    bool begun = false;
    for (size_t i = 0; i < findings->count; i++) {
        const struct sta_finding *finding = &findings->items[i];
        const char *advice;
        if (finding->severity != severity)
            continue;
        if (!begun)
            sta_put_format(out, "## %s\n\n", title);
        begun = true;
        sta_put_text(out, bold ? "- **" : "- ");
        sta_put_text(out, finding->title);
        sta_put_text(out, bold ? "** (" : " (");
        sta_put_text(out, finding->id);
        sta_put_text(out, "): ");
        sta_put_text(out, finding->text);
        sta_put_char(out, '\n');
        for (size_t a = 0; (advice = sta_finding_advice(finding, a)) != NULL; a++) {
            sta_put_text(out, "  - ");
            sta_put_text(out, advice);
            sta_put_char(out, '\n');
        }
        if (severity < STA_SEVERITY_OK) {
            sta_put_text(out, "  - Value: ");
            sta_finding_put_threshold(finding, out);
            sta_put_char(out, '\n');
        }
    }
    if (begun)
        sta_put_char(out, '\n');
}

void sta_findings_put_counts(const struct sta_findings_result *findings, struct sta_buffer *out)
{
    static const char *const words[STA_SEVERITIES][2] = {
        {"critical", "critical"},
        {"warning", "warnings"},
        {"note", "notes"},
        {"check passed", "checks passed"},
        {"not applicable", "not applicable"},
    };
    for (size_t i = 0; i < STA_SEVERITIES; i++)
        sta_put_format(out, "%s%llu %s", i > 0 ? ", " : "", (unsigned long long)findings->counts[i],
                       words[i][findings->counts[i] != 1]);
}

void sta_findings_markdown(const struct sta_findings_result *findings, const char *trace,
                           struct sta_buffer *out)
{
    sta_put_format(out, "# Findings: %.200s\n\nPreset %.60s. ", trace, findings->preset);
    sta_findings_put_counts(findings, out);
    sta_put_text(out, ".\n\n");
    put_findings(findings, STA_SEVERITY_CRITICAL, "Critical", true, out);
    put_findings(findings, STA_SEVERITY_WARNING, "Warnings", true, out);
    put_findings(findings, STA_SEVERITY_INFO, "Notes", true, out);
    put_findings(findings, STA_SEVERITY_OK, "Passed", false, out);
    put_findings(findings, STA_SEVERITY_NA, "Not applicable", false, out);
}

/* ---- two runs */

static const char *state_of(const struct sta_finding *now, const struct sta_finding *old)
{
    if (old == NULL)
        return "unknown";
    if (old->severity == STA_SEVERITY_NA || now->severity == STA_SEVERITY_NA)
        return old->severity == now->severity ? "same" : "unknown";
    if ((old->severity == STA_SEVERITY_OK) != (now->severity == STA_SEVERITY_OK))
        return now->severity == STA_SEVERITY_OK ? "gone" : "new";
    if (now->severity != old->severity)
        return now->severity < old->severity ? "worse" : "better";
    const double change = (now->value.number - old->value.number) * (now->low ? -1 : 1);
    if (now->severity == STA_SEVERITY_OK || !(fabs(change) > 0.05 * fmax(fabs(old->value.number), 1e-9)))
        return "same";
    return change > 0 ? "worse" : "better";
}

struct sta_finding_change sta_finding_compare(const struct sta_finding *now,
                                              const struct sta_findings_result *baseline)
{
    struct sta_finding_change change = {.now = now};
    for (size_t i = 0; i < baseline->count && change.baseline == NULL; i++)
        if (strcmp(baseline->items[i].id, now->id) == 0)
            change.baseline = &baseline->items[i];
    change.state = state_of(now, change.baseline);
    return change;
}
