/* Function classes and presets: what the files in config/ say, how files extend each other, and how each
 * mistake is told. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyse/layers/presets.h"
#include "common/files.h"
#include "common/memory.h"
#include "built_in.h"

static const struct sta_layer *layer(const struct sta_preset *preset, const char *name)
{
    for (size_t i = 0; i < preset->layer_count; i++) {
        if (strcmp(preset->layers[i].name, name) == 0)
            return &preset->layers[i];
    }
    cr_assert_fail("no layer %s", name);
    return NULL;
}

/* ---- what config/ says */

Test(presets, the_built_in_ones_come_in_order_of_detection)
{
    static const char *const names[] = {"dlio", "ai", "posix", "generic", "dask"};
    struct sta_presets *presets = load_built_in(NULL);
    cr_assert_eq(sta_presets_count(presets), STA_COUNT_OF(names));
    for (size_t i = 0; i < STA_COUNT_OF(names); i++)
        cr_expect_str_eq(sta_presets_at(presets, i)->name, names[i]);
    cr_expect_null(sta_presets_find(presets, "dftracer"), "a template is no preset");
    cr_expect_str_eq(sta_presets_at(presets, 0)->detect_layer, "app");
    cr_expect_str_eq(sta_presets_at(presets, 2)->detect_layer, "posix");
    cr_expect_null(sta_presets_at(presets, 3)->detect_layer);
    cr_expect_null(sta_presets_at(presets, 4)->detect_layer, "of the kind of trace, not found by content");
    sta_presets_release(presets);
}

Test(presets, dlio_is_what_the_field_knows)
{
    static const char *const names[] = {"app",
                                        "training",
                                        "compute",
                                        "fetch_data",
                                        "data_loader",
                                        "data_loader_fork",
                                        "reader",
                                        "reader_posix_lustre",
                                        "checkpoint",
                                        "checkpoint_posix_lustre",
                                        "checkpoint_posix_ssd",
                                        "other_posix"};
    struct sta_presets *presets = load_built_in(NULL);
    const struct sta_preset *dlio = sta_presets_find(presets, "dlio");
    cr_assert_eq(dlio->layer_count, STA_COUNT_OF(names));
    for (size_t i = 0; i < STA_COUNT_OF(names); i++)
        cr_expect_str_eq(dlio->layers[i].name, names[i]);
    cr_expect_str_eq(layer(dlio, "checkpoint_posix_ssd")->parent, "checkpoint");
    cr_expect_null(layer(dlio, "other_posix")->parent);
    cr_expect_str_eq(layer(dlio, "app")->condition, "func_name == \"DLIOBenchmark.run\"");
    cr_expect_eq(layer(dlio, "other_posix")->metric_count, 10);
    cr_expect_eq(layer(dlio, "data_loader")->metric_count, 2);
    cr_expect_eq(layer(dlio, "reader")->metric_count, 4);
    cr_expect_eq(layer(dlio, "checkpoint")->metric_count, 0);
    cr_expect_eq(dlio->drop_file_count, 12);
    cr_expect_eq(dlio->drop_function_count, 39);
    cr_expect_eq(dlio->drop_pattern_count, 3);
    cr_expect_eq(dlio->refinement_count, 4);
    cr_expect_eq(dlio->view_count, 5);
    cr_expect_eq(dlio->additional_count, 3);
    cr_expect_str_eq(dlio->overlap_with, "compute");
    sta_presets_release(presets);
}

Test(presets, ai_is_as_dlio_but_for_its_layers)
{
    struct sta_presets *presets = load_built_in(NULL);
    const struct sta_preset *ai = sta_presets_find(presets, "ai"), *dlio = sta_presets_find(presets, "dlio");
    cr_expect_eq(ai->layer_count, 14);
    cr_expect_eq(layer(ai, "posix")->metric_count, 10);
    cr_expect_eq(ai->drop_function_count, dlio->drop_function_count);
    cr_expect_eq(ai->refinement_count, 4);
    cr_expect_eq(ai->additional_count, 3);
    cr_expect_str_eq(ai->overlap_with, "compute");
    cr_expect_str_neq(ai->description, dlio->description);
    const struct sta_preset *posix = sta_presets_find(presets, "posix"),
                            *generic = sta_presets_find(presets, "generic");
    cr_expect_eq(posix->layer_count, 1);
    cr_expect_eq(posix->drop_file_count, 12);
    cr_expect_eq(posix->additional_count, 0);
    cr_expect_null(posix->overlap_with);
    cr_expect_eq(generic->layers_from_categories, true);
    cr_expect_eq(generic->drop_file_count + generic->drop_function_count + generic->refinement_count, 0);
    cr_expect_eq(generic->view_count, 5);
    sta_presets_release(presets);
}

Test(presets, colours_are_told_apart_and_all_layers_have_one)
{
    struct sta_presets *presets = load_built_in(NULL);
    for (size_t p = 0; p < sta_presets_count(presets); p++) {
        const struct sta_preset *preset = sta_presets_at(presets, p);
        for (size_t i = 0; i < preset->layer_count; i++) {
            cr_expect_eq(strlen(preset->layers[i].color), 7);
            for (size_t j = 0; j < i; j++)
                cr_expect_str_neq(preset->layers[i].color, preset->layers[j].color, "%s: %s, %s",
                                  preset->name, preset->layers[i].name, preset->layers[j].name);
        }
    }
    sta_presets_release(presets);
}

Test(presets, functions_have_their_classes)
{
    static const struct {
        const char *function;
        enum sta_io_cat class;
    } cases[] = {{"read", STA_IO_READ},          {"pwritev", STA_IO_WRITE}, {"fsync", STA_IO_SYNC},
                 {"__xstat64", STA_IO_METADATA}, {"fork", STA_IO_PROCESS},  {"semop", STA_IO_IPC},
                 {"pread64", STA_IO_OTHER},      {"", STA_IO_OTHER}};
    struct sta_presets *presets = load_built_in(NULL);
    for (size_t i = 0; i < STA_COUNT_OF(cases); i++)
        cr_expect_eq(sta_presets_io_cat(presets, cases[i].function, strlen(cases[i].function)),
                     cases[i].class, "%s", cases[i].function);
    cr_expect(sta_presets_is_io_category(presets, "posix", 5));
    cr_expect(sta_presets_is_io_category(presets, "stdio", 5));
    cr_expect_not(sta_presets_is_io_category(presets, "posix_reader", 12));
    sta_presets_release(presets);
}

/* ---- files of one's own */

struct scratch {
    char folder[32];
    char *presets;
};

static struct scratch scratch_begin(void)
{
    struct scratch scratch = {.folder = "/tmp/strata-presets-XXXXXX"};
    cr_assert_not_null(mkdtemp(scratch.folder));
    scratch.presets = sta_path_join(scratch.folder, "presets");
    cr_assert_eq(mkdir(scratch.presets, 0700), 0);
    return scratch;
}

static void scratch_end(struct scratch *scratch)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_tree_remove(scratch->folder, &err), STA_OK, "%s", err.text);
    free(scratch->presets);
}

static void put_file(const char *folder, const char *name, const char *text)
{
    char *path = sta_path_join(folder, name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
    free(path);
}

Test(presets, users_extend_and_override)
{
    struct scratch scratch = scratch_begin();
    put_file(scratch.presets, "dlio.yaml",
             "extends: dlio\ndescription: ours\noverlap_with: reader\ndrop: {files: [/scratch/]}\n");
    put_file(scratch.presets, "mine.yaml",
             "extends: dlio\nmetric_sets: {reader: {big: size > 100 & args.depth == 3}}\nadditional: "
             "{}\noverlap_with:\n"
             "layers:\n  - {name: one, metrics: reader}\n  - {name: two, parent: one, metrics: posix, "
             "condition: 'args.queue.str.len() > 2'}\n");
    struct sta_presets *presets = load_built_in(scratch.presets), *plain = load_built_in(NULL);
    const struct sta_preset *dlio = sta_presets_find(presets, "dlio"),
                            *mine = sta_presets_find(presets, "mine");
    cr_expect_eq(sta_presets_count(presets), 6);
    cr_expect_str_eq(dlio->description, "ours");
    cr_expect_str_eq(dlio->overlap_with, "reader");
    cr_expect_eq(dlio->layer_count, 12);
    cr_expect_eq(dlio->drop_file_count, 1);
    cr_expect_eq(dlio->drop_function_count, 0, "a key replaces the one below whole");
    cr_expect_null(dlio->detect_layer, "detection is not taken over");
    cr_expect_eq(mine->layer_count, 2);
    cr_expect_null(mine->layers[0].condition);
    cr_expect_str_eq(mine->layers[0].label, "one");
    cr_expect_eq(mine->layers[0].metric_count, 1);
    cr_expect_eq(mine->layers[1].metric_count, 10, "metric sets add up");
    cr_expect_eq(mine->drop_file_count, 1, "of the dlio that is in force");
    cr_expect_null(mine->overlap_with);
    cr_expect_neq(sta_presets_fingerprint(presets), sta_presets_fingerprint(plain));
    sta_presets_release(presets);
    sta_presets_release(plain);
    scratch_end(&scratch);
}

Test(presets, the_fingerprint_depends_on_the_files_only)
{
    struct sta_presets *a = load_built_in(NULL), *b = load_built_in(NULL);
    cr_expect_eq(sta_presets_fingerprint(a), sta_presets_fingerprint(b));
    sta_presets_release(sta_presets_retain(a));
    cr_expect_eq(sta_presets_count(a), 5, "one reference is left");
    sta_presets_release(a);
    sta_presets_release(b);
}

/* ---- mistakes: each names file, line and key, and what is allowed */

static void expect_mistake(const char *functions, const char *preset, const char *message)
{
    struct scratch scratch = scratch_begin();
    put_file(scratch.folder, "functions.yaml", functions);
    put_file(scratch.presets, "x.yaml", preset);
    char *path = sta_path_join(scratch.folder, "functions.yaml");
    const char *folders[] = {scratch.presets};
    struct sta_presets *presets;
    struct sta_error err = STA_ERROR_INIT;
    cr_expect_lt(sta_presets_load(path, folders, 1, &presets, &err), 0, "%s", preset);
    cr_expect_null(presets);
    cr_expect_not_null(strstr(err.text, message), "\n%s\nsays \"%s\"\nnot  \"%s\"", preset, err.text,
                       message);
    free(path);
    scratch_end(&scratch);
}

#define FUNCTIONS "categories: [posix]\nclasses: {read: [read]}\n"

Test(presets, mistakes_in_presets_are_told)
{
    static const char *const cases[][2] = {
        {"layer: []\n",
         "x.yaml:1: unknown key \"layer\"; a preset may have: template, description, extends, "},
        {"[a]\n", "x.yaml:1: a preset must be a mapping, not a list"},
        {"", "x.yaml:1: a preset must be a mapping, not nothing"},
        {"description: a\n",
         "x.yaml:1: a preset needs layers, layers_from_categories: true, or template: true"},
        {"template: yes\n", "x.yaml:1: template must be true or false, not \"yes\""},
        {"extends: y\n", "x.yaml:1: extends \"y\", but there is no other preset or template of that name"},
        {"extends: x\n", "x.yaml:1: extends \"x\", but there is no other preset"},
        {"layers: {}\n", "x.yaml:1: layers must be a list, not a mapping"},
        {"layers:\n  - condition: pid == 1\n", "x.yaml:2: a layer needs name"},
        {"layers:\n  - name: 1a\n",
         "x.yaml:2: name \"1a\" must be made of letters, digits and _, not begin with a digit"},
        {"layers:\n  - name: a\n  - name: a\n", "x.yaml:3: there is a layer \"a\" already"},
        {"layers:\n  - name: a\n    colour: '#000000'\n",
         "x.yaml:3: unknown key \"colour\"; a layer may have: name, label, color, parent, condition, "
         "metrics"},
        {"layers:\n  - name: a\n    color: red\n",
         "x.yaml:3: color must be \"#rrggbb\" in quotes, not \"red\""},
        {"layers:\n  - name: a\n    parent: b\n",
         "x.yaml:3: parent \"b\" of layer a is no layer of this preset"},
        {"layers:\n  - {name: a, parent: b}\n  - {name: b, parent: a}\n",
         "x.yaml:2: the parents of layer a go round in a circle"},
        {"layers:\n  - {name: a, parent: a}\n", "x.yaml:2: the parents of layer a go round in a circle"},
        {"layers:\n  - name: a\n    condition: func_nme == \"x\"\n", "x.yaml:3: condition, character 1: "},
        {"layers:\n  - name: a\n    condition: func_name ==\n", "x.yaml:3: condition, character "},
        {"layers:\n  - name: a\n    condition: size + 1\n", "x.yaml:3: condition"},
        {"layers:\n  - name: a\n    condition: args.x == 1 & args.x == \"a\"\n", "x.yaml:3: condition"},
        {"layers:\n  - name: a\n    condition: func_name.str.contains(\"(\")\n", "x.yaml:3: condition"},
        {"layers:\n  - name: a\n    metrics: posix\n", "x.yaml:3: there is no metric set \"posix\""},
        {"layers:\n  - name: a\n    metrics: [b]\n",
         "x.yaml:3: metrics (the name of a metric set, or a mapping) must be a text, not a list"},
        {"layers:\n  - name: a\n    metrics:\n      m: nam == 1\n",
         "x.yaml:4: condition of a metric, character 1: "},
        {"layers:\n  - name: a\nmetric_sets:\n  s:\n    m: io_cat = 1\n", "x.yaml:5: condition of a metric"},
        {"layers:\n  - name: a\ndetect: {layer: b, rank: 1}\n",
         "x.yaml:3: detect: layer names \"b\", but x has no such layer"},
        {"layers:\n  - name: a\ndetect: {layer: a}\n", "x.yaml:3: detect needs rank"},
        {"layers:\n  - name: a\ndetect: {layer: a, rank: first}\n",
         "x.yaml:3: rank must be an integer from 1 to 1000, not \"first\""},
        {"layers:\n  - name: a\noverlap_with: compute\n",
         "x.yaml:3: overlap_with names \"compute\", but x has no such layer"},
        {"layers:\n  - name: a\ndrop: {file: [a]}\n",
         "x.yaml:3: unknown key \"file\"; drop may have: files, functions, patterns"},
        {"layers:\n  - name: a\ndrop: {files: a}\n", "x.yaml:3: files must be a list, not a text"},
        {"layers:\n  - name: a\ndrop:\n  patterns: ['a', '(']\n", "x.yaml:4: pattern \"(\""},
        {"layers:\n  - name: a\nrefine:\n  files:\n    - {contains: x}\n",
         "x.yaml:5: each of refine: files needs append"},
        {"layers:\n  - name: a\nviews:\n  v: dirnam(file_name)\n", "x.yaml:4: view, character "},
        {"layers:\n  - name: a\nadditional:\n  u: a_{T} / b_{T}\n",
         "x.yaml:4: additional: \"b_time_sum\" is no column of a layer"},
        {"layers:\n  - name: a\nadditional:\n  u: a_{X}\n",
         "x.yaml:4: additional: only {T} and {epsilon} may stand in braces"},
        {"layers:\n  - name: a\nadditional:\n  u: a_{T} /\n", "x.yaml:4: additional: "},
        {"layers_from_categories: true\nlayers:\n  - name: a\n",
         "x.yaml:3: a preset has layers or layers_from_categories, not both"},
        {"layers:\n  - name: a\n", "no preset has layers_from_categories: true"},
    };
    for (size_t i = 0; i < STA_COUNT_OF(cases); i++)
        expect_mistake(FUNCTIONS, cases[i][0], cases[i][1]);
}

Test(presets, mistakes_in_functions_are_told)
{
    static const char *const cases[][2] = {
        {"classes: {reed: [a]}\n", "functions.yaml:1: unknown key \"reed\"; classes may have: read, write, "
                                   "metadata, process, ipc, other, sync"},
        {"categories: posix\nclasses: {}\n", "functions.yaml:1: categories must be a list, not a text"},
        {"classes:\n  read: [a, b]\n  write: [b]\n",
         "functions.yaml:3: function \"b\" is in a class already"},
        {"classes:\n  read: [[a]]\n", "functions.yaml:2: read must be a text, not a list"},
        {"categories: []\n", "functions.yaml:1: functions.yaml needs classes"},
    };
    for (size_t i = 0; i < STA_COUNT_OF(cases); i++)
        expect_mistake(cases[i][0], "layers_from_categories: true\n", cases[i][1]);
}

Test(presets, extending_in_a_circle_ends)
{
    struct scratch scratch = scratch_begin();
    put_file(scratch.presets, "a.yaml", "extends: b\n");
    put_file(scratch.presets, "b.yaml", "extends: a\n");
    const char *folders[] = {scratch.presets};
    struct sta_presets *presets;
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_presets_load(STA_TEST_CONFIG "/functions.yaml", folders, 1, &presets, &err), STA_EINPUT);
    cr_expect_not_null(strstr(err.text, "a.yaml:1: extends goes round in a circle"), "%s", err.text);
    scratch_end(&scratch);
}

Test(presets, deeper_layers_are_lighter)
{
    struct sta_arena memory = {0};
    cr_expect_lt(strcmp(sta_palette_color(0, 0, &memory), sta_palette_color(0, 2, &memory)), 0);
    sta_arena_fini(&memory);
}
