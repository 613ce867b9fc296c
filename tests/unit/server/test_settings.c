/* Settings: option over environment over file over default, and every mistake named with its place. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/settings.h"

static struct sta_settings settings;
static struct sta_error err;

#define WORDS(...) ((const char *[]){"stratad", __VA_ARGS__})
#define READ(...) read_words(WORDS(__VA_ARGS__), sizeof WORDS(__VA_ARGS__) / sizeof(char *))

static int read_words(const char **words, size_t count)
{
    err = STA_ERROR_INIT;
    return sta_settings_read(&settings, (int)count, (char **)words, &err);
}

static char *write_file(const char *text)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/strata-settings-XXXXXX");
    int fd = mkstemp(path);
    cr_assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    return path;
}

static void expect_refusal(const char *text, const char *part)
{
    char *path = write_file(text);
    cr_assert_eq(READ("--config", path), STA_EINPUT, "%s", text);
    cr_assert_not_null(strstr(err.text, part), "%s", err.text);
    cr_assert_not_null(strstr(err.text, path), "%s", err.text);
    unlink(path);
    sta_settings_fini(&settings);
}

Test(settings, defaults_fit_the_machine)
{
    setenv("XDG_STATE_HOME", "/tmp/state", 1);
    cr_assert_eq(READ("--log-level", "info"), STA_OK, "%s", err.text);
    cr_assert_str_eq(settings.listen, "127.0.0.1:7878");
    cr_assert_str_eq(settings.store, "/tmp/state/strata");
    cr_assert_geq(settings.workers, 1);
    cr_assert_geq(settings.memory, UINT64_C(256) << 20);
    cr_assert_eq(settings.request_body, 1 << 20);
    sta_settings_fini(&settings);
}

Test(settings, options_win_over_environment_over_file)
{
    char *path =
        write_file("listen: 127.0.0.1:1\nlog_level: debug\nworkers: 3\nroots:\n  - /tmp\n  - /usr\n");
    setenv("STRATA_LISTEN", "127.0.0.1:2", 1);
    setenv("STRATA_LOG_LEVEL", "warning", 1);
    cr_assert_eq(READ("--config", path, "--listen", "127.0.0.1:3", "/usr/share"), STA_OK, "%s", err.text);
    cr_assert_str_eq(settings.listen, "127.0.0.1:3");
    cr_assert_str_eq(settings.log_level, "warning");
    cr_assert_eq(settings.workers, 3);
    cr_assert_eq(settings.roots.count, 2);
    cr_assert_str_eq(settings.roots.items[1], "/usr");
    cr_assert_eq(settings.traces.count, 1);
    sta_settings_fini(&settings);
    unlink(path);
}

Test(settings, lists_add_up_and_equals_signs_work)
{
    cr_assert_eq(READ("--root", "/tmp", "--root=/usr", "--memory=512MiB"), STA_OK, "%s", err.text);
    cr_assert_eq(settings.roots.count, 2);
    cr_assert_eq(settings.memory, UINT64_C(512) << 20);
    sta_settings_fini(&settings);
}

Test(settings, mistakes_in_a_file_name_line_key_and_what_is_allowed)
{
    expect_refusal("listen: a\n\nlissten: b\n", ":3");
    expect_refusal("lissten: b\n", "listen");
    expect_refusal("workers: many\n", "whole number");
    expect_refusal("\nmemory: 5 apples\n", ":2");
    expect_refusal("log_level: loud\n", "error, warning, info, debug");
    expect_refusal("roots: [/nowhere/at/all]\n", "/nowhere/at/all");
    expect_refusal("listen: [a, b]\n", "listen");
    expect_refusal("listen: {a: b}\n", "listen");
    expect_refusal("workers: 1\nworkers: 2\n", ":2");
    expect_refusal("- a\n", ":1");
    expect_refusal("a: [\n", "");
    expect_refusal("connections: 0\n", "at least 1");
}

Test(settings, mistakes_in_options_are_named)
{
    cr_assert_eq(READ("--nonsense", "1"), STA_EINPUT);
    cr_assert_not_null(strstr(err.text, "--nonsense"));
    sta_settings_fini(&settings);
    cr_assert_eq(READ("--workers", "x"), STA_EINPUT);
    cr_assert_not_null(strstr(err.text, "--workers"));
    sta_settings_fini(&settings);
    cr_assert_eq(READ("--listen"), STA_EINPUT);
    cr_assert_not_null(strstr(err.text, "needs a value"));
    sta_settings_fini(&settings);
}

Test(settings, an_empty_file_changes_nothing)
{
    char *path = write_file("# only a comment\n");
    cr_assert_eq(READ("--config", path), STA_OK, "%s", err.text);
    cr_assert_str_eq(settings.listen, "127.0.0.1:7878");
    sta_settings_fini(&settings);
    unlink(path);
}
