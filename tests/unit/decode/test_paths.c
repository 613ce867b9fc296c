/* Many lines of one template, and some that differ: read by the template's path, they mean what the full
 * parser says. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "common/buffer.h"
#include "decoded.h"

#define USUAL 500 /* lines before each that differs: by then constant values belong to the path */

static void add_usual(struct sta_buffer *text, unsigned from, unsigned count)
{
    char line[512];
    for (unsigned i = from; i < from + count; i++) {
        snprintf(
            line, sizeof line,
            "{\"id\":%u,\"name\":\"pread\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":%u,\"ts\":%u,\"dur\":%u,"
            "\"ph\":\"X\",\"args\":{\"hhash\":3497389314530649856,\"p_idx\":%u,\"fd\":19,\"epoch\":\"1\","
            "\"fhash\":%u%s,\"step\":\"%u\",\"ret\":%u,\"level\":10}}\n",
            i, 7 + i / 8 % 2, 1744611979 + i * 11, i * 7919 % 1300, i / 5, 1 + i / 9,
            i % 4 ? "06354959736128701942" : "", i % 120, i * 104729 % 70000);
        sta_put_text(text, line);
    }
}

/* "%s" stands for what differs. */
static const struct {
    const char *form, *usual, *others[12];
} forms[] = {
    {"{\"id\":1,\"name\":\"pread\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":7,\"ts\":%s,\"dur\":2,\"ph\":\"X\","
     "\"args\":"
     "{\"hhash\":3497389314530649856,\"p_idx\":1,\"fd\":19,\"epoch\":\"1\",\"fhash\":9,\"step\":\"3\","
     "\"ret\":4,"
     "\"level\":10}}\n",
     "5",
     {"-3", "1.25", "\"6\"", "007", "null", "1e3", "4600000000000000", "99999999999999999999", "\"x\"", "0"}},
    {"{\"id\":1,\"name\":\"pread\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":%s,\"ts\":1,\"dur\":2,\"ph\":\"X\","
     "\"args\":"
     "{\"hhash\":3497389314530649856,\"p_idx\":1,\"fd\":19,\"epoch\":\"1\",\"fhash\":9,\"step\":\"3\","
     "\"ret\":4,"
     "\"level\":10}}\n",
     "7",
     {"-1", "\"8\"", "null", "2.0", "2.5", "true", "12345678901234567", "\"main\""}},
    {"{\"id\":1,\"name\":\"pread\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":7,\"ts\":1,\"dur\":2,\"ph\":\"X\","
     "\"args\":"
     "{\"hhash\":%s,\"p_idx\":1,\"fd\":19,\"epoch\":\"1\",\"fhash\":9,\"step\":\"3\",\"ret\":4,\"level\":10}}"
     "\n",
     "3497389314530649856",
     {"3497389314530649857", "34973893145306498560", "0", "null", "\"node\"", "12345678901234567890123456",
      "-5", "03497389314530649856", "1.5", "{\"a\":1}"}},
    {"{\"id\":1,\"name\":\"pread\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":7,\"ts\":1,\"dur\":2,\"ph\":\"X\","
     "\"args\":"
     "{\"hhash\":3497389314530649856,\"p_idx\":1,\"fd\":19,\"epoch\":\"1\",\"fhash\":%s,\"step\":\"3\","
     "\"ret\":4,"
     "\"level\":10}}\n",
     "9",
     {"null", "0", "\"9\"", "01", "true", "18446744073709551615", "1234567890123456", "12345678901234567"}},
    {"{\"id\":1,\"name\":\"pread\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":7,\"ts\":1,\"dur\":2,\"ph\":\"X\","
     "\"args\":"
     "{\"hhash\":3497389314530649856,\"p_idx\":1,\"fd\":19,\"epoch\":\"1\",\"fhash\":9,\"step\":%s,\"ret\":4,"
     "\"level\":10}}\n",
     "\"3\"",
     {"\"1.5\"", "\"true\"", "\"007\"", "\"-4\"", "\"\"", "3", "\"12a\"", "\"a\\nb\"", "\"\xc3\xa4\"",
      "\"99999999999999999999\"", "null"}},
    {"{\"id\":1,\"name\":\"pread\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":7,\"ts\":1,\"dur\":2,\"ph\":\"X\","
     "\"args\":"
     "{\"hhash\":3497389314530649856,\"p_idx\":1,\"fd\":19,\"epoch\":\"1\",\"fhash\":9,\"step\":\"3\","
     "\"ret\":4,"
     "\"level\":%s}}\n",
     "10",
     {"11", "1", "100", "-10", "10.5", "10 ", "null", "false", "\"10\"", "10,\"more\":2", "[1]"}},
    {"{\"id\":111,\"name\":\"pread\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":7,\"ts\":1,\"dur\":2,\"ph\":\"X\","
     "\"args\":"
     "{\"hhash\":3497389314530649856,\"p_idx\":1,\"fd\":%s,\"epoch\":\"1\",\"fhash\":9,\"step\":\"3\","
     "\"ret\":4,"
     "\"level\":10}}\n",
     "19",
     {"20", "20,\"more\":2", "3,\"more\":2", "null,\"more\":2", "20 "}},
    {"{\"id\":%s,\"name\":\"pread\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":7,\"ts\":1,\"dur\":2,\"ph\":\"X\","
     "\"args\":"
     "{\"hhash\":3497389314530649856,\"p_idx\":1,\"fd\":19,\"epoch\":\"1\",\"fhash\":9,\"step\":\"3\","
     "\"ret\":4,"
     "\"level\":10}}\n",
     "1",
     {"0", "01", "-1", "1.5", "null", "\"a\"", "\"a\\n\"", "123456789012345678901234567", "true", "{}",
      "1 "}},
};

static void add_form(struct sta_buffer *text, size_t form, const char *value)
{
    char line[512];
    snprintf(line, sizeof line, forms[form].form, value);
    sta_put_text(text, line);
}

/* ---- what is decoded, as a text */

static void show_args(struct sta_buffer *out, const struct decoded *d, uint32_t key)
{
    for (uint32_t c = 0; c < d->batch.args_count; c++) {
        const struct sta_args_column *column = &d->batch.args[c];
        for (uint32_t i = 0; column->key == key && i < column->count; i++) {
            const bool is_text = column->kinds[i] == STA_VALUE_TEXT;
            sta_put_format(out, "row %u kind %d %lld %s\n", column->rows[i], column->kinds[i],
                           is_text ? 0 : (long long)column->values[i].integer,
                           is_text ? text_of(sta_tables_values(d->tables, key), column->values[i].code) : "");
        }
    }
}

static void show(struct sta_buffer *out, const struct decoded *d)
{
    const struct sta_batch *batch = &d->batch;
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct sta_thread thread = sta_tables_thread(d->tables, batch->thread[i]);
        sta_put_format(out, "%lld %lld %d %s %s %s %lld %lld %s\n", (long long)batch->ts[i],
                       (long long)batch->dur[i], batch->ts_ns != NULL ? batch->ts_ns[i] : 0,
                       text_of(sta_tables_names(d->tables), batch->name[i]),
                       text_of(sta_tables_cats(d->tables), batch->cat[i]),
                       text_of(sta_tables_file_refs(d->tables), batch->file[i]), (long long)thread.pid,
                       (long long)thread.tid, text_of(sta_tables_host_refs(d->tables), thread.host));
    }
    static const char *const keys[] = {"p_idx", "fd",   "epoch", "step", "ret",
                                       "level", "more", "fhash", "hhash"};
    for (size_t k = 0; k < STA_COUNT_OF(keys); k++) {
        const uint32_t code = sta_dictionary_find(sta_tables_keys(d->tables), keys[k], strlen(keys[k]));
        sta_put_format(out, "%s\n", keys[k]);
        if (code != STA_NO_CODE)
            show_args(out, d, code);
    }
    sta_put_format(out, "%llu lines, %llu malformed, %llu events, %llu repaired\n",
                   (unsigned long long)d->source.counts.lines, (unsigned long long)d->source.counts.malformed,
                   (unsigned long long)d->source.counts.events,
                   (unsigned long long)d->source.counts.repaired);
}

static void decode_and_show(const struct sta_buffer *text, enum sta_decode_path path, struct sta_buffer *out)
{
    struct decoded decoded = {.tables = sta_tables_create(NULL)};
    decoded.source.path = sta_strdup("a.pfw");
    sta_decode_memory(text->data, text->size, path, decoded.tables, &decoded.source, &decoded.batch);
    show(out, &decoded);
    decoded_fini(&decoded);
}

static void expect_same(const struct sta_buffer *text, const char *what)
{
    struct sta_buffer fast = {0}, strict = {0};
    decode_and_show(text, STA_DECODE_BOTH, &fast);
    decode_and_show(text, STA_DECODE_STRICT_ONLY, &strict);
    cr_assert_gt(strict.size, 0);
    cr_assert_eq(fast.size, strict.size, "%s", what);
    cr_assert(memcmp(fast.data, strict.data, fast.size) == 0, "%s", what);
    sta_buffer_fini(&fast);
    sta_buffer_fini(&strict);
}

Test(paths, usual_lines_are_read_as_by_the_full_parser)
{
    struct sta_buffer text = {0};
    add_usual(&text, 0, 5000);
    expect_same(&text, "usual lines");
    sta_buffer_fini(&text);
}

Test(paths, a_line_that_differs_is_read_as_by_the_full_parser)
{
    for (size_t form = 0; form < STA_COUNT_OF(forms); form++)
        for (size_t i = 0; i < STA_COUNT_OF(forms[form].others) && forms[form].others[i] != NULL; i++) {
            struct sta_buffer text = {0};
            add_usual(&text, 0, USUAL);
            add_form(&text, form, forms[form].usual);
            add_form(&text, form, forms[form].others[i]);
            add_usual(&text, USUAL, 40);
            expect_same(&text, forms[form].others[i]);
            sta_buffer_fini(&text);
        }
}

Test(paths, lines_that_differ_again_and_again_are_read_as_by_the_full_parser)
{
    struct sta_buffer text = {0};
    for (unsigned round = 0; round < 60; round++) {
        const size_t form = round % STA_COUNT_OF(forms);
        add_usual(&text, round * 1000, 1 + round * 17 % 400);
        for (size_t i = 0; i < STA_COUNT_OF(forms[form].others) && forms[form].others[i] != NULL; i++) {
            add_form(&text, form, forms[form].others[i]);
            add_usual(&text, round, round % 23);
        }
    }
    expect_same(&text, "many that differ");
    sta_buffer_fini(&text);
}

Test(paths, lines_of_several_templates_in_any_order_are_read_as_by_the_full_parser)
{
    static const char *const usual[] = {"open\",\"cat\":\"POSIX\",%s\"fhash\":%u,\"ret\":%u}}",
                                        "pread\",\"cat\":\"POSIX\",%s\"fd\":%u,\"ret\":%u,\"level\":3}}",
                                        "close\",\"cat\":\"POSIX\",%s\"fd\":%u,\"ret\":\"%u\"}}"};
    static const char *const others[] = {"close\",\"cat\":\"POSIX\",%s\"fd\":%u,\"ret\":%u.5}}",
                                         "close\",\"cat\":\"PO\xffSIX\",%s\"fd\":%u,\"ret\":%u}}",
                                         "close\",\"cat\":\"POSIX\",%s\"fd\":%u,\"ret\":%u"};
    static const char *const ends[] = {",\n", "\r\n", "\n\n", "\n ", "\n,", "\n["};
    struct sta_buffer text = {0};
    uint32_t random = 1;
    for (unsigned i = 0; i < 12000; i++) {
        char times[128];
        random = random * 1664525 + 1013904223;
        const uint32_t choice = random >> 16;
        const unsigned long long ts = choice % 13 == 0 ? 4600000000000000 : 1744611979000000 + i;
        snprintf(times, sizeof times, "\"pid\":7,\"tid\":%u,\"ts\":%llu,\"dur\":%u,\"ph\":\"X\",\"args\":{",
                 7 + choice % 2, ts, choice % 1300);
        sta_put_format(&text, "{\"id\":%u,\"name\":\"", i);
        sta_put_format(&text, choice % 29 != 0 ? usual[choice % 3] : others[choice % 3], times, choice % 30,
                       i);
        sta_put_text(&text, choice % 17 != 0 ? "\n" : ends[choice % 6]);
    }
    expect_same(&text, "lines of several templates");
    sta_buffer_fini(&text);
}

/* Replaces one byte of every fiftieth line, in about. */
static void damage(struct sta_buffer *text, uint32_t random)
{
    static const char bytes[] = "0123456789\",:}. -e";
    for (size_t at = 100 << 10; at < text->size; at += (random >> 16) % 20000) {
        random = random * 1664525 + 1013904223;
        text->data[at] = bytes[(random >> 16) % (sizeof bytes - 1)];
    }
}

Test(paths, damaged_lines_are_read_as_by_the_full_parser_and_so_are_those_behind_them)
{
    static const char *const args[] = {"open\",\"cat\":\"POSIX\",%s\"fd\":%u,\"ret\":%u,\"flags\":0}}",
                                       "pread\",\"cat\":\"POSIX\",%s\"fd\":%u,\"ret\":%u,\"level\":3}}",
                                       "close\",\"cat\":\"POSIX\",%s\"fd\":%u,\"ret\":\"%u\"}}"};
    for (uint32_t seed = 1; seed <= 30; seed++) {
        struct sta_buffer text = {0};
        for (unsigned i = 0; i < 6000; i++) {
            char times[128];
            snprintf(times, sizeof times,
                     "\"pid\":7,\"tid\":8,\"ts\":%llu,\"dur\":%u,\"ph\":\"X\",\"args\":{",
                     1744611979000000ULL + i, 100 + i * 7919 % 900);
            sta_put_format(&text, "{\"id\":%u,\"name\":\"", 1000 + i);
            sta_put_format(&text, args[i % seed % 3], times, 19U, i * 104729 % (seed % 2 ? 10 : 70000));
            sta_put_text(&text, "\n");
        }
        damage(&text, seed);
        expect_same(&text, "damaged lines");
        sta_buffer_fini(&text);
    }
}
