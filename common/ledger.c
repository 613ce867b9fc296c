/* Counts of lines and the notes on bad ones. */
#include "common/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

void sta_ledger_add(struct sta_ledger_counts *sum, const struct sta_ledger_counts *part)
{
#define X(name) sum->name += part->name;
    STA_LEDGER_LIST(X)
#undef X
}

static void note_fini(struct sta_line_note *note)
{
    free(note->reason);
    free(note->text);
}

void sta_line_notes_add(struct sta_line_notes *notes, uint64_t line, uint64_t offset, const char *reason,
                        const char *text, size_t length)
{
    size_t at = notes->count;
    while (at > 0 && (notes->items[at - 1].line > line ||
                      (notes->items[at - 1].line == line && notes->items[at - 1].offset > offset)))
        at--;
    if (at >= STA_LINE_NOTES)
        return;
    if (notes->count == STA_LINE_NOTES)
        note_fini(&notes->items[--notes->count]);
    STA_GROW(notes->items, notes->capacity, notes->count + 1);
    memmove(notes->items + at + 1, notes->items + at, (notes->count - at) * sizeof *notes->items);
    notes->items[at] = (struct sta_line_note){line, offset, sta_strdup(reason), sta_strndup(text, length)};
    notes->count++;
}

void sta_line_notes_fini(struct sta_line_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        note_fini(&notes->items[i]);
    free(notes->items);
    *notes = (struct sta_line_notes){0};
}

void sta_line_notes_merge(struct sta_line_notes *notes, const struct sta_line_notes *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct sta_line_note *note = &from->items[i];
        sta_line_notes_add(notes, note->line, note->offset, note->reason, note->text, strlen(note->text));
    }
}

const char *sta_source_state_name(enum sta_source_state state)
{
    static const char *const names[] = {
#define X(NAME, name, meaning) name,
        STA_SOURCE_STATE_LIST(X)
#undef X
    };
    return names[state];
}

bool sta_source_is_unread(const struct sta_source *source)
{
    return source->counts.other > 0 && source->counts.events == 0 && source->counts.counters == 0;
}

void sta_source_fini(struct sta_source *source)
{
    free(source->path);
    free(source->reason);
    sta_line_notes_fini(&source->malformed);
    sta_line_notes_fini(&source->repaired);
    *source = (struct sta_source){0};
}

void sta_source_copy(struct sta_source *to, const struct sta_source *from)
{
    *to = *from;
    to->path = sta_strdup(from->path);
    to->reason = from->reason ? sta_strdup(from->reason) : NULL;
    to->malformed = (struct sta_line_notes){0};
    to->repaired = (struct sta_line_notes){0};
    sta_line_notes_merge(&to->malformed, &from->malformed);
    sta_line_notes_merge(&to->repaired, &from->repaired);
}

void sta_source_range_put(struct sta_buffer *out, const struct sta_source_range *range)
{
    sta_put_u64(out, range->begin);
    sta_put_u64(out, range->end);
    sta_put_u64(out, range->lines_before);
    sta_put_u64(out, range->lines);
    sta_put_u64(out, range->text_before);
    sta_put_u64(out, range->text);
}

struct sta_source_range sta_source_range_get(struct sta_cursor *in)
{
    struct sta_source_range range = {.begin = sta_get_u64(in)};
    range.end = sta_get_u64(in);
    range.lines_before = sta_get_u64(in);
    range.lines = sta_get_u64(in);
    range.text_before = sta_get_u64(in);
    range.text = sta_get_u64(in);
    return range;
}

/* What is said of the end of the file is what its last range says. */
static void take_end(struct sta_source *whole, const struct sta_source *range)
{
    whole->size = range->size;
    whole->mtime_ns = range->mtime_ns;
    whole->fingerprint = range->fingerprint;
    whole->resumable = range->resumable;
    whole->resume_fingerprint = range->resume_fingerprint;
    whole->counts.bytes = range->counts.bytes;
    whole->counts.json_bytes = range->counts.json_bytes;
    whole->counts.physical_lines = range->counts.physical_lines;
}

void sta_source_join(struct sta_source *whole, const struct sta_source *range)
{
    struct sta_ledger_counts more = range->counts;
    more.bytes = more.json_bytes = more.physical_lines = 0;
    sta_ledger_add(&whole->counts, &more);
    sta_line_notes_merge(&whole->malformed, &range->malformed);
    sta_line_notes_merge(&whole->repaired, &range->repaired);
    if (range->size > whole->size)
        take_end(whole, range);
    if (range->state == STA_SOURCE_COMPLETE)
        return;
    whole->state = range->state;
    free(whole->reason);
    whole->reason = range->reason != NULL ? sta_strdup(range->reason) : NULL;
}
