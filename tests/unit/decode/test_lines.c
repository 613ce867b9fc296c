/* Every line is accounted for; a bad one says why and leaves its neighbours alone. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "common/buffer.h"
#include "decoded.h"

#define GOOD "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"good\"}\n"

/* A malformed line between two good ones. */
static const struct {
    const char *line, *reason;
} malformed[] = {
    {"{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"cut", "cut off inside a string"},
    {"{\"ph\":\"X\",\"ts\":1,\"dur\":", "cut off before a value"},
    {"{\"ph\":\"X\",\"ts\":1", "cut off inside an object"},
    {"{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"a\":tr", "cut off inside a word"},
    {"{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"a\\qb\"}", "bad escape"},
    {"{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"\\u12g4\"}", "bad escape"},
    {"{\"ph\":\"X\",\"ts\":01,\"dur\":1}", "bad number"},
    {"{\"ph\":\"X\",\"ts\":NaN,\"dur\":1}", "unexpected character"},
    {"{'ph':'X'}", "a key is no string"},
    {"{\"ph\" \"X\"}", "no colon after a key"},
    {"{\"ph\":\"X\" \"ts\":1}", "no comma between members"},
    {"{\"ph\":\"X\",\"ts\":1,\"dur\":1} trailing", "text behind the object"},
    {"\"text\"", "not an object"},
    {"42", "not an object"},
    {"{\"ph\":\"X\",\"dur\":1}", "ts is missing"},
    {"{\"ph\":\"X\",\"ts\":1}", "dur is missing"},
    {"{\"ph\":\"X\",\"ts\":\"noon\",\"dur\":1}", "ts is not a number"},
    {"{\"ph\":\"X\",\"ts\":1,\"dur\":true}", "dur is not a number"},
    {"{\"ph\":\"X\",\"ts\":99999999999999999,\"dur\":1}", "ts is out of range"},
    {"{\"ph\":\"X\",\"ts\":1e300,\"dur\":1}", "ts is out of range"},
    {"{\"ph\":\"X\",\"ts\":1,\"dur\":-1}", "dur is negative"},
    {"{\"ph\":\"X\",\"ts\":1,\"dur\":\"-7\"}", "dur is negative"},
    {"{\"ph\":\"X\",\"ts\":5,\"dur\":-0.5}", "dur is negative"},
    {"{\"id\":1,\"name\":\"bro{\"id\":2,\"ph\":\"X\",\"ts\":1,\"dur\":1}", "no comma between members"},
};

Test(lines, a_malformed_line_says_why_and_neighbours_survive)
{
    for (size_t i = 0; i < STA_COUNT_OF(malformed); i++) {
        char text[1024];
        snprintf(text, sizeof text, GOOD "%s\n" GOOD, malformed[i].line);
        struct decoded d = decode_text(text);
        cr_assert_eq(d.batch.count, 2, "%s", malformed[i].line);
        cr_assert_eq(d.source.counts.malformed, 1, "%s", malformed[i].line);
        cr_assert_eq(d.source.counts.lines, 3, "%s", malformed[i].line);
        const struct sta_line_note *note = &d.source.malformed.items[0];
        cr_assert(note->line == 2 && note->offset == strlen(GOOD));
        cr_assert_str_eq(note->reason, malformed[i].reason, "%s: %s", malformed[i].line, note->reason);
        cr_assert_str_eq(note->text, malformed[i].line);
        decoded_fini(&d);
    }
}

Test(lines, framing_blanks_and_the_rest_are_counted)
{
    struct decoded d = decode_text("\xef\xbb\xbf[\n\n  \t\r\n" GOOD
                                   "],\n{\"ph\":\"C\",\"ts\":1}\n{\"ph\":\"i\"}\n{}\n{\"ph\":7}\n"
                                   "{\"ph\":\"M\",\"name\":\"PR\"},,\n]\n");
    cr_assert_eq(d.source.counts.framing, 3);
    cr_assert_eq(d.source.counts.blank, 2);
    cr_assert_eq(d.source.counts.events, 1);
    cr_assert_eq(d.source.counts.counters, 1);
    cr_assert_eq(d.source.counts.other, 3);
    cr_assert_eq(d.source.counts.metadata, 1);
    cr_assert_eq(d.source.counts.malformed, 0);
    cr_assert_eq(d.source.counts.lines, 11);
    decoded_fini(&d);
}

Test(lines, glued_objects_are_both_read)
{
    struct decoded d = decode_text("{\"ph\":\"X\",\"ts\":1,\"dur\":1}{\"ph\":\"X\",\"ts\":2,\"dur\":1}, "
                                   "{\"ph\":\"X\",\"ts\":3,\"dur\":1}\n"
                                   "{\"ph\":\"X\",\"ts\":4,\"dur\":1}{\"ph\":\n");
    cr_assert_eq(d.batch.count, 4);
    cr_assert_eq(d.source.counts.lines, 5);
    cr_assert_eq(d.source.counts.malformed, 1);
    cr_assert_eq(d.source.counts.physical_lines, 2);
    decoded_fini(&d);
}

Test(lines, brackets_beside_an_object_are_tolerated)
{
    struct decoded d =
        decode_text("[{\"ph\":\"X\",\"ts\":1,\"dur\":1},\n{\"ph\":\"X\",\"ts\":2,\"dur\":1}]\n");
    cr_assert_eq(d.batch.count, 2);
    cr_assert_eq(d.source.counts.lines, 2);
    decoded_fini(&d);
}

Test(lines, faults_of_real_traces_are_repaired)
{
    struct decoded d = decode_text("{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"a\tb\"}\n"
                                   "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"a\xff\xc3(\xe6\x95z\"}\n"
                                   "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"\\ud800x\"}\n");
    cr_assert_eq(d.batch.count, 3);
    cr_assert_eq(d.source.counts.repaired, 3);
    cr_assert_str_eq(text_of(sta_tables_names(d.tables), d.batch.name[0]), "a\tb");
    cr_assert_str_eq(text_of(sta_tables_names(d.tables), d.batch.name[1]),
                     "a\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbdz");
    cr_assert_str_eq(text_of(sta_tables_names(d.tables), d.batch.name[2]), "\xef\xbf\xbdx");
    cr_assert_eq(d.source.repaired.count, 3);
    decoded_fini(&d);
}

/* An event whose args hold @before, then "a" with so many lists around nothing, then @after. */
static struct decoded decode_nested(const char *before, size_t depth, const char *after)
{
    struct sta_buffer text = {0};
    sta_put_format(&text, GOOD "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{%s\"a\":", before);
    for (size_t i = 0; i < 2 * depth; i++)
        sta_put_char(&text, i < depth ? '[' : ']');
    sta_put_format(&text, "%s}}\n" GOOD, after);
    struct decoded d = decode_bytes(text.data, text.size);
    sta_buffer_fini(&text);
    return d;
}

Test(lines, what_is_nested_too_deep_is_left_out_of_its_event)
{
    static const struct {
        const char *before, *after;
        size_t depth;
        uint64_t unstored;
        bool kept; /* "a" has a value */
    } cases[] = {{"", "", 512, 0, true},          {"", "", 513, 1, false},
                 {"", "", 200000, 1, false},      {"\"b\":5,", ",\"c\":\"x\"", 600, 1, false},
                 {"\"a\":5,", "", 600, 1, false}, {"", ",\"a\":5", 600, 0, true}};
    for (size_t i = 0; i < STA_COUNT_OF(cases); i++) {
        struct decoded d = decode_nested(cases[i].before, cases[i].depth, cases[i].after);
        cr_assert(d.batch.count == 3 && d.source.counts.malformed == 0, "case %zu", i);
        cr_assert_eq(d.source.counts.unstored_args, cases[i].unstored, "case %zu", i);
        cr_assert_eq(args_of(&d, "a") != NULL, cases[i].kept, "case %zu", i);
        cr_assert_eq(args_of(&d, "b") != NULL, cases[i].before[0] != '\0' && cases[i].before[1] == 'b');
        decoded_fini(&d);
    }
}

Test(lines, what_is_nested_deep_must_still_be_json)
{
    static const char *const after[] = {"]", "}", ",", "x"};
    for (size_t i = 0; i < STA_COUNT_OF(after); i++) {
        struct decoded d = decode_nested("", 600, after[i]);
        cr_assert(d.batch.count == 2 && d.source.counts.malformed == 1, "case %zu", i);
        decoded_fini(&d);
    }
}

#define MARK "\xef\xbb\xbf"

/* Files that begin with a byte order mark, joined: by lines, or one glued to the other's last line. */
Test(lines, a_byte_order_mark_before_an_object_is_a_blank)
{
    static const char text[] =
        MARK GOOD MARK GOOD MARK "[\n" MARK "\n" MARK "{\"ph\":\"X\",\"ts\":1,\"dur\":1}" MARK
                                 "{\"ph\":\"X\",\"ts\":2,\"dur\":1},\n" MARK "]\n" MARK "{\"x\n";
    struct decoded d = decode_text(text);
    cr_assert_eq(d.batch.count, 4);
    cr_assert_eq(d.source.counts.lines, 8);
    cr_assert(d.source.counts.framing == 2 && d.source.counts.blank == 1);
    cr_assert(d.source.counts.malformed == 1 && d.source.malformed.items[0].line == 7);
    cr_assert_eq(d.source.malformed.items[0].offset, sizeof text - 1 - strlen(MARK "{\"x\n"));
    decoded_fini(&d);
}

Test(lines, a_line_past_the_limit_is_skipped)
{
    struct sta_buffer text;
    sta_buffer_init(&text);
    sta_put_text(&text, GOOD);
    for (size_t i = 0; i < 20 * 16384; i++)
        sta_put_text(&text, "0123456789012345678901234567890123456789012345678901234567890123");
    sta_put_text(&text, "\n" GOOD);
    struct decoded d = decode_bytes(text.data, text.size);
    cr_assert_eq(d.batch.count, 2);
    cr_assert_eq(d.source.counts.lines, 3);
    cr_assert_str_eq(d.source.malformed.items[0].reason, "longer than 16 MiB");
    cr_assert_eq(d.source.malformed.items[0].line, 2);
    decoded_fini(&d);
    sta_buffer_fini(&text);
}

Test(lines, the_last_line_may_lack_its_end)
{
    struct decoded d = decode_text(GOOD "{\"ph\":\"X\",\"ts\":2,\"dur\":1}");
    cr_assert_eq(d.batch.count, 2);
    decoded_fini(&d);
}

Test(lines, only_so_many_notes_are_kept)
{
    char *text = sta_alloc(10 * 300 + 1);
    for (int i = 0; i < 300; i++)
        strcat(text, "bad line\n");
    struct decoded d = decode_text(text);
    cr_assert_eq(d.source.counts.malformed, 300);
    cr_assert_eq(d.source.malformed.count, STA_LINE_NOTES);
    cr_assert_eq(d.source.malformed.items[99].line, 100);
    decoded_fini(&d);
    free(text);
}
