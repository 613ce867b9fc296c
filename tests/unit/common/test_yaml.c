/* YAML files as trees: what is read, and how mistakes are told. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/yaml.h"

static struct sta_yaml *parse(const char *text)
{
    struct sta_yaml *yaml;
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_yaml_parse("f.yaml", text, strlen(text), &yaml, &err), STA_OK, "%s", err.text);
    return yaml;
}

static void expect_mistake(const char *text, int status, const char *message)
{
    struct sta_yaml *yaml;
    struct sta_error err = STA_ERROR_INIT;
    cr_expect_eq(sta_yaml_parse("f.yaml", text, strlen(text), &yaml, &err), status, "%s", text);
    cr_expect_null(yaml);
    cr_expect_not_null(strstr(err.text, message), "\"%s\" says \"%s\"", text, err.text);
}

Test(yaml, nodes_know_their_kind_line_and_text)
{
    struct sta_yaml *yaml = parse("# comment\na: 1\nb:\n  - x y\n  - \"\"\nc: {d: e}\n");
    const struct sta_yaml_node *b = sta_yaml_find(yaml->root, "b"), *c = sta_yaml_find(yaml->root, "c");
    cr_assert_eq(yaml->root->kind, STA_YAML_MAPPING);
    cr_assert_eq(yaml->root->count, 3);
    cr_assert_str_eq(sta_yaml_find(yaml->root, "a")->text, "1");
    cr_assert_eq(sta_yaml_find(yaml->root, "a")->line, 2);
    cr_assert_eq(b->kind, STA_YAML_SEQUENCE);
    cr_assert_eq(b->count, 2);
    cr_assert_str_eq(b->items[0]->text, "x y");
    cr_assert_eq(b->items[1]->line, 5);
    cr_assert_eq(b->items[1]->quoted, true);
    cr_assert_str_eq(sta_yaml_find(c, "d")->text, "e");
    cr_assert_null(sta_yaml_find(yaml->root, "d"));
    sta_yaml_destroy(yaml);
}

Test(yaml, nothing_is_told_from_an_empty_text)
{
    struct sta_yaml *yaml = parse("a:\nb: ~\nc: null\nd: ''\ne: 'null'\n");
    for (size_t i = 0; i < 3; i++)
        cr_expect_str_eq(sta_yaml_describe(yaml->root->items[i]), "nothing");
    cr_expect_str_eq(sta_yaml_describe(yaml->root->items[3]), "a text");
    cr_expect_str_eq(sta_yaml_describe(yaml->root->items[4]), "a text");
    sta_yaml_destroy(yaml);
    yaml = parse("# nothing but this\n");
    cr_expect_str_eq(sta_yaml_describe(yaml->root), "nothing");
    sta_yaml_destroy(yaml);
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_yaml_parse("empty", NULL, 0, &yaml, &err), STA_OK);
    cr_expect_str_eq(sta_yaml_describe(yaml->root), "nothing");
    sta_yaml_destroy(yaml);
}

Test(yaml, aliases_share_the_node)
{
    struct sta_yaml *yaml = parse("a: &x [1, 2]\nb: *x\nc: {d: *x}\n");
    cr_assert_eq(sta_yaml_find(yaml->root, "a"), sta_yaml_find(yaml->root, "b"));
    cr_assert_eq(sta_yaml_find(sta_yaml_find(yaml->root, "c"), "d")->count, 2);
    sta_yaml_destroy(yaml);
}

Test(yaml, mistakes_name_file_and_line)
{
    expect_mistake("a: 1\nb: [1, 2\nc: 3\n", STA_EINPUT, "f.yaml:3: ");
    expect_mistake("a: 1\nb: 2\na: 3\n", STA_EINPUT, "f.yaml:3: \"a\" stands here twice, first in line 1");
    expect_mistake("a: *x\n", STA_EINPUT, "f.yaml:1: alias of an anchor that does not stand before it");
    expect_mistake("a: &x [*x]\n", STA_EINPUT, "f.yaml:1: alias of an anchor");
    expect_mistake("a: 1\n? [k]\n: 2\n", STA_EINPUT, "f.yaml:2: a key must be a text");
    expect_mistake("a: 1\n---\nb: 2\n", STA_EINPUT, "f.yaml:2: a second document");
    expect_mistake("a: \"x\\0y\"\n", STA_EINPUT, "f.yaml:1: a text holds a zero character");
    expect_mistake("a: \x01\n", STA_EINPUT, "f.yaml: ");
    expect_mistake("a: \xff\n", STA_EINPUT, "f.yaml: ");
}

Test(yaml, depth_is_bounded)
{
    char text[2 * STA_YAML_DEPTH + 8];
    memset(text, '[', STA_YAML_DEPTH);
    memset(text + STA_YAML_DEPTH, ']', STA_YAML_DEPTH);
    text[2 * STA_YAML_DEPTH] = '\0';
    sta_yaml_destroy(parse(text));
    memset(text, '[', STA_YAML_DEPTH + 2);
    memset(text + STA_YAML_DEPTH + 2, ']', STA_YAML_DEPTH + 2);
    text[2 * STA_YAML_DEPTH + 4] = '\0';
    expect_mistake(text, STA_EINPUT, "nested too deep");
}

Test(yaml, aliases_cannot_multiply_without_end)
{
    struct sta_buffer text;
    sta_buffer_init(&text);
    sta_put_text(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 9; i++) {
        sta_put_format(&text, "a%d: &a%d [", i, i);
        for (int j = 0; j < 10; j++)
            sta_put_format(&text, "%s*a%d", j > 0 ? ", " : "", i - 1);
        sta_put_text(&text, "]\n");
    }
    char *laughs = sta_buffer_take_text(&text);
    expect_mistake(laughs, STA_EINPUT, "too many values, aliases counted as copies");
    free(laughs);
}

Test(yaml, a_file_that_is_not_there_is_named)
{
    struct sta_yaml *yaml;
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_yaml_read("/nowhere/x.yaml", &yaml, &err), STA_ENOTFOUND);
    cr_assert_not_null(strstr(err.text, "/nowhere/x.yaml"));
}
