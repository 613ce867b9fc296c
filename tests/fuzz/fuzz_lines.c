/* Trace text, read with and without the predicted shapes: both must give the same events, notes, counts and
 * definitions.
 *
 * The text is read twice over in one go, so that the shapes learnt from the first half are tried on the
 * second.  Tables and shapes serve many inputs, since to make them takes longer than to read a few lines.  So
 * a find may need the inputs before it: the file that FUZZ_LINES_HISTORY names holds these, one behind the
 * other, which is an input that shows it alone. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/number.h"
#include "decode/decode.h"

#define INPUTS 500 /* before all is made anew */
#define HISTORY_BYTES ((size_t)16 << 20)

struct outcome {
    struct sta_tables *tables;
    struct sta_memory_decoder *decoder;
    struct sta_source source;
    struct sta_batch batch;
};

static void outcome_init(struct outcome *outcome, enum sta_decode_path path)
{
    *outcome = (struct outcome){.tables = sta_tables_create(NULL)};
    outcome->decoder = sta_memory_decoder_create(outcome->tables, STA_TRACE_EVENTS, path);
    sta_batch_init(&outcome->batch);
}

static void outcome_run(struct outcome *outcome, const char *text, size_t size)
{
    sta_source_fini(&outcome->source);
    sta_batch_clear(&outcome->batch);
    outcome->source.path = sta_strdup("a.pfw");
    sta_memory_decoder_run(outcome->decoder, text, size, &outcome->source, &outcome->batch);
}

static void outcome_fini(struct outcome *outcome)
{
    sta_memory_decoder_destroy(outcome->decoder);
    sta_batch_fini(&outcome->batch);
    sta_source_fini(&outcome->source);
    sta_tables_destroy(outcome->tables);
}

/* ---- the same of both */

static void same_text(const struct sta_dictionary *a, uint32_t code_a, const struct sta_dictionary *b,
                      uint32_t code_b)
{
    STA_ASSERT((code_a == STA_NO_CODE) == (code_b == STA_NO_CODE));
    if (code_a == STA_NO_CODE)
        return;
    struct sta_text text_a = sta_dictionary_text(a, code_a);
    struct sta_text text_b = sta_dictionary_text(b, code_b);
    STA_ASSERT(text_a.length == text_b.length && memcmp(text_a.bytes, text_b.bytes, text_a.length) == 0);
    STA_ASSERT(sta_utf8_valid_prefix(text_a.bytes, text_a.length) == text_a.length);
}

static void same_notes(const struct sta_line_notes *a, const struct sta_line_notes *b)
{
    STA_ASSERT(a->count == b->count);
    for (size_t i = 0; i < a->count; i++) {
        STA_ASSERT(a->items[i].line == b->items[i].line && a->items[i].offset == b->items[i].offset);
        STA_ASSERT(strcmp(a->items[i].reason, b->items[i].reason) == 0);
        STA_ASSERT(strcmp(a->items[i].text, b->items[i].text) == 0);
        STA_ASSERT(sta_utf8_valid_prefix(a->items[i].text, strlen(a->items[i].text)) ==
                   strlen(a->items[i].text));
    }
}

static void same_thread(const struct outcome *a, const struct outcome *b, uint32_t row)
{
    struct sta_thread of_a = sta_tables_thread(a->tables, a->batch.thread[row]);
    struct sta_thread of_b = sta_tables_thread(b->tables, b->batch.thread[row]);
    STA_ASSERT(of_a.pid == of_b.pid && of_a.tid == of_b.tid);
    same_text(sta_tables_host_refs(a->tables), of_a.host, sta_tables_host_refs(b->tables), of_b.host);
}

static void same_rows(const struct outcome *a, const struct outcome *b)
{
    const struct sta_batch *left = &a->batch;
    const struct sta_batch *right = &b->batch;
    STA_ASSERT(left->count == right->count && (left->ts_ns == NULL) == (right->ts_ns == NULL));
    for (uint32_t i = 0; i < left->count; i++) {
        STA_ASSERT(left->ts[i] == right->ts[i] && left->dur[i] == right->dur[i]);
        STA_ASSERT(left->ts[i] >= -STA_TIME_LIMIT && left->ts[i] + left->dur[i] <= STA_TIME_LIMIT);
        if (left->ts_ns != NULL)
            STA_ASSERT(left->ts_ns[i] == right->ts_ns[i] && left->dur_ns[i] == right->dur_ns[i] &&
                       left->ts_ns[i] < 1000);
        same_text(sta_tables_names(a->tables), left->name[i], sta_tables_names(b->tables), right->name[i]);
        same_text(sta_tables_cats(a->tables), left->cat[i], sta_tables_cats(b->tables), right->cat[i]);
        same_text(sta_tables_file_refs(a->tables), left->file[i], sta_tables_file_refs(b->tables),
                  right->file[i]);
        same_thread(a, b, i);
    }
}

static void same_column(const struct outcome *a, const struct sta_args_column *left, const struct outcome *b,
                        const struct sta_args_column *right)
{
    STA_ASSERT(left->count == right->count);
    STA_ASSERT(sta_tables_kinds(a->tables, left->key) == sta_tables_kinds(b->tables, right->key));
    for (uint32_t i = 0; i < left->count; i++) {
        STA_ASSERT(left->rows[i] == right->rows[i] && left->kinds[i] == right->kinds[i]);
        STA_ASSERT(left->rows[i] < a->batch.count && (i == 0 || left->rows[i] > left->rows[i - 1]));
        if (left->kinds[i] == STA_VALUE_TEXT)
            same_text(sta_tables_values(a->tables, left->key), left->values[i].code,
                      sta_tables_values(b->tables, right->key), right->values[i].code);
        else
            STA_ASSERT(left->values[i].integer == right->values[i].integer); /* the bits, of a number too */
    }
}

static void same_columns(const struct outcome *a, const struct outcome *b)
{
    STA_ASSERT(a->batch.args_count == b->batch.args_count);
    for (uint32_t i = 0; i < a->batch.args_count; i++) {
        const struct sta_args_column *left = &a->batch.args[i];
        const struct sta_args_column *right = &b->batch.args[i];
        same_text(sta_tables_keys(a->tables), left->key, sta_tables_keys(b->tables), right->key);
        same_column(a, left, b, right);
    }
}

struct looked_up {
    const struct outcome *outcome;
    enum sta_definition_kind kind;
};

static void same_definition(void *context, const char *key, size_t length,
                            const struct sta_definition *definition)
{
    struct sta_definition other;
    const struct looked_up *in = context;
    STA_ASSERT(
        sta_tables_find_definition(in->outcome->tables, in->kind, key, length, STA_NO_CODE, &other, NULL));
    STA_ASSERT(definition->line == other.line && (definition->text == NULL) == (other.text == NULL));
    if (definition->text != NULL)
        STA_ASSERT(definition->length == other.length &&
                   memcmp(definition->text, other.text, other.length) == 0);
}

static void same_definitions(const struct outcome *a, const struct outcome *b)
{
    for (int kind = 0; kind < STA_DEFINITION_KINDS; kind++) {
        struct looked_up context = {b, (enum sta_definition_kind)kind};
        sta_tables_each_definition(a->tables, context.kind, same_definition, &context);
    }
}

/* Both see the texts in the same order, so even the codes are the same.  *same: how many are known to be. */
static void same_dictionary(const struct sta_dictionary *a, const struct sta_dictionary *b, uint32_t *same)
{
    STA_ASSERT(sta_dictionary_count(a) == sta_dictionary_count(b));
    for (; *same < sta_dictionary_count(a); ++*same)
        same_text(a, *same, b, *same);
}

static void same_tables(const struct sta_tables *a, const struct sta_tables *b, uint32_t same[5])
{
    same_dictionary(sta_tables_names(a), sta_tables_names(b), &same[0]);
    same_dictionary(sta_tables_cats(a), sta_tables_cats(b), &same[1]);
    same_dictionary(sta_tables_file_refs(a), sta_tables_file_refs(b), &same[2]);
    same_dictionary(sta_tables_host_refs(a), sta_tables_host_refs(b), &same[3]);
    same_dictionary(sta_tables_keys(a), sta_tables_keys(b), &same[4]);
}

static void adds_up(const struct outcome *outcome, size_t size)
{
    const struct sta_ledger_counts *counts = &outcome->source.counts;
    STA_ASSERT(counts->lines == counts->events + counts->metadata + counts->counters + counts->other +
                                    counts->framing + counts->blank + counts->malformed);
    STA_ASSERT(counts->events == outcome->batch.count && counts->json_bytes == size);
}

/* ---- many inputs */

static struct {
    struct outcome both, strict;
    uint32_t same[5];
    unsigned inputs;
} state;

/* The inputs since all was made anew: a mapped file, so that it is there whatever ends the process. */
static struct {
    char *bytes; /* NULL: not wanted */
    size_t size;
} history;

static void open_history(void)
{
    const char *path = getenv("FUZZ_LINES_HISTORY");
    int fd = path != NULL ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    void *bytes = MAP_FAILED;
    if (ftruncate(fd, HISTORY_BYTES) == 0)
        bytes = mmap(NULL, HISTORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    history.bytes = bytes != MAP_FAILED ? bytes : NULL;
    history.size = HISTORY_BYTES;
}

static void keep_history(const char *text, size_t size)
{
    if (history.bytes == NULL)
        return;
    if (state.inputs == 0) {
        memset(history.bytes, '\n', history.size);
        history.size = 0;
    }
    if (size < HISTORY_BYTES - history.size) {
        memcpy(history.bytes + history.size, text, size);
        history.size += size + 1;
    }
}

static void end(void)
{
    if (state.inputs == 0)
        return;
    same_definitions(&state.both, &state.strict);
    same_definitions(&state.strict, &state.both);
    outcome_fini(&state.both);
    outcome_fini(&state.strict);
    memset(&state, 0, sizeof state);
}

static void begin(void)
{
    static bool begun;
    if (!begun) {
        open_history();
        atexit(end);
    }
    begun = true;
    outcome_init(&state.both, STA_DECODE_BOTH);
    outcome_init(&state.strict, STA_DECODE_STRICT_ONLY);
}

static void run(const char *text, size_t size)
{
    outcome_run(&state.both, text, size);
    outcome_run(&state.strict, text, size);
    adds_up(&state.both, size);
    STA_ASSERT(
        memcmp(&state.both.source.counts, &state.strict.source.counts, sizeof state.both.source.counts) == 0);
    same_notes(&state.both.source.malformed, &state.strict.source.malformed);
    same_notes(&state.both.source.repaired, &state.strict.source.repaired);
    same_rows(&state.both, &state.strict);
    same_columns(&state.both, &state.strict);
    same_tables(state.both.tables, state.strict.tables, state.same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (state.inputs == 0)
        begin();
    size_t doubled = 2 * size + 1;
    char *text = malloc(doubled); /* exact, so that reading past the end is seen */
    STA_ASSERT(text != NULL);
    if (size > 0) {
        memcpy(text, data, size);
        memcpy(text + size + 1, data, size);
    }
    text[size] = '\n';
    keep_history(text, doubled);
    run(text, doubled);
    free(text);
    if (++state.inputs == INPUTS)
        end();
    return 0;
}
