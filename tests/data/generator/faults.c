/* faults.c - lines that are wrong or unusual in a known way, spread over a file.
 *
 * They are lines on top of the events that were asked for; those that are events count as such ("planted",
 * category "fault"). */
#include "generator.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEP = 5000, LONG = (16 << 20) + 100 };

void fault_plan_init(struct fault_plan *plan, const struct options *options, unsigned output,
                     unsigned outputs, uint64_t expected_lines)
{
    *plan = (struct fault_plan){0};
    for (int i = 0; i < FAULTS; i++) {
        plan->left[i] = options->faults[i] / outputs + (output < options->faults[i] % outputs);
        plan->total += plan->left[i];
    }
    plan->every = expected_lines / (plan->total + 1) + 1;
    plan->next_line = plan->every;
}

/* An event line of the process, up to and with "args":{ and its host; @end closes it. */
static size_t event_text(struct process *process, char *text, const char *ph, const char *end)
{
    int64_t ts = process->totals->last_te;
    const char *q = process->dialect == DIALECT_PLAIN ? "\"" : "";
    size_t size =
        (size_t)sprintf(text,
                        "{\"id\":%s%" PRIu64 "%s,\"name\":\"planted\",\"cat\":\"fault\",\"pid\":%s%" PRId64
                        "%s,\"tid\":%s%" PRId64 "%s,\"ts\":%s%" PRId64 "%s,\"dur\":%s0",
                        q, process->next_id++, q, q, process->pid, q, q, process->tid, q, q, ts, q, q);
    memcpy(text + size, process->head, process->head_size + 1);
    char *at = strstr(text + size, "\"ph\":\"X\"");
    at[6] = ph[0];
    return size + process->head_size + (size_t)sprintf(text + size + process->head_size, "%s", end);
}

static void write_deep(struct process *process)
{
    char *text = malloc(2 * DEEP + 4096);
    if (!text)
        abort();
    size_t size = event_text(process, text, "X", ",\"deep\":");
    memset(text + size, '[', DEEP);
    memset(text + size + DEEP, ']', DEEP);
    memcpy(text + size + 2 * DEEP, "}}", 2);
    process_line(process, text, size + 2 * DEEP + 2);
    free(text);
}

static void write_long(struct process *process)
{
    char *text = malloc(LONG + 4096);
    if (!text)
        abort();
    size_t size = event_text(process, text, "X", ",\"long\":\"");
    memset(text + size, 'x', LONG);
    memcpy(text + size + LONG, "\"}}", 3);
    process_line(process, text, size + LONG + 3);
    free(text);
}

/* Another order of keys, blanks, escapes, numbers as text and text as numbers, a trailing comma; the host as
 * ever. */
static void write_odd(struct process *process)
{
    static const char *const tails[] = {",", " ", "\t,  ", ""};
    char text[4096];
    uint64_t id = process->next_id++;
    int size = sprintf(text,
                       "  { \"args\" : {\"note\":\"a\\u00e9\\ud83d\\ude00\\/\\n\", \"nested\": {\"a\":[1, "
                       "2,{}]}, \"epoch\":\"2\",%s"
                       ", \"ratio\":-0.5e1}, \"ph\":\"X\" ,\"dur\":\"0\",\"ts\": %" PRId64
                       ",\"tid\":\"%" PRId64 "\", \"pid\" : %" PRId64
                       ",\"cat\":\"FA\\u0055LT\",\"name\":\"pl\\u0061nted\",\"id\":%" PRIu64 "}%s",
                       strchr(process->head, '{') + 1, process->totals->last_te, process->tid, process->pid,
                       id, tails[id & 3]);
    process_line(process, text, (size_t)size);
}

static void write_text(struct process *process, const char *end)
{
    char text[4096];
    process_line(process, text, event_text(process, text, "X", end));
}

/* Writes one line of a fault. */
static void write_fault(struct process *process, enum fault fault)
{
    char text[8192];
    size_t size;
    switch (fault) {
    case FAULT_CUT:
        size = event_text(process, text, "X", ",\"cut\":\"");
        process_line(process, text, size - 3 - random_below(&process->random, 60));
        break;
    case FAULT_BAD_ESCAPE:
        write_text(process, ",\"bad\":\"a\\qb\"}}");
        break;
    case FAULT_NOT_OBJECT:
        process_line(process, "no object", strlen("no object"));
        break;
    case FAULT_WRONG_TYPE:
        size = (size_t)sprintf(
            text, "{\"name\":\"planted\",\"cat\":\"fault\",\"pid\":1,\"ts\":true,\"dur\":0,\"ph\":\"X\"}");
        process_line(process, text, size);
        break;
    case FAULT_DEEP:
        write_deep(process);
        break;
    case FAULT_LONG:
        write_long(process);
        break;
    case FAULT_CONTROL:
        write_text(process, ",\"note\":\"a\001b\tc\"}}");
        break;
    case FAULT_BAD_UTF8:
        write_text(process, ",\"note\":\"a\xff\xc3(\"}}");
        break;
    case FAULT_GLUED:
        size = event_text(process, text, "X", "}}");
        process_line(process, text, size + event_text(process, text + size, "X", "}}"));
        break;
    case FAULT_BLANK:
        process_line(process, "   \t", random_below(&process->random, 5));
        break;
    case FAULT_UNKNOWN_PH:
        process_line(process, text, event_text(process, text, "B", "}}"));
        break;
    case FAULT_COUNTER:
        process_line(process, text, event_text(process, text, "C", ",\"user_pct\":12.5,\"system_pct\":3}}"));
        break;
    case FAULT_ODD:
        write_odd(process);
        break;
    case FAULT_UNRESOLVED:
        sprintf(text + 4096, ",\"fhash\":\"%016" PRIx64 "\"}}", random_next(&process->random));
        write_text(process, text + 4096);
        break;
    default:
        break;
    }
}

/* What a line of each fault counts as, beside being a line. */
static const struct {
    unsigned char events, malformed, repaired, counters, other, blank, more_lines, unresolved;
} effects[FAULTS] = {
    [FAULT_CUT] = {.malformed = 1},
    [FAULT_BAD_ESCAPE] = {.malformed = 1},
    [FAULT_NOT_OBJECT] = {.malformed = 1},
    [FAULT_WRONG_TYPE] = {.malformed = 1},
    [FAULT_DEEP] = {.events = 1}, /* without the value */
    [FAULT_LONG] = {.malformed = 1},
    [FAULT_CONTROL] = {.events = 1, .repaired = 1},
    [FAULT_BAD_UTF8] = {.events = 1, .repaired = 1},
    [FAULT_GLUED] = {.events = 2, .more_lines = 1},
    [FAULT_BLANK] = {.blank = 1},
    [FAULT_UNKNOWN_PH] = {.other = 1},
    [FAULT_COUNTER] = {.counters = 1},
    [FAULT_ODD] = {.events = 1},
    [FAULT_UNRESOLVED] = {.events = 1, .unresolved = 1},
};

static void count_fault(struct totals *totals, enum fault fault)
{
    totals->faults[fault]++;
    totals->events += effects[fault].events;
    totals->kinds[KIND_FAULT_EVENT].count += effects[fault].events;
    totals->unmatched += effects[fault].events;
    totals->malformed += effects[fault].malformed;
    totals->repaired += effects[fault].repaired;
    totals->counters += effects[fault].counters;
    totals->other += effects[fault].other;
    totals->blank += effects[fault].blank;
    totals->lines += effects[fault].more_lines;
    totals->unresolved += effects[fault].unresolved;
}

void fault_plan_run(struct fault_plan *plan, struct process *process, bool all)
{
    while (plan->total && (all || output_lines(process->output) >= plan->next_line)) {
        int fault = (int)random_below(&process->random, FAULTS);
        while (!plan->left[fault])
            fault = (fault + 1) % FAULTS;
        write_fault(process, (enum fault)fault);
        count_fault(process->totals, (enum fault)fault);
        plan->left[fault]--;
        plan->total--;
        plan->next_line += plan->every;
    }
}
