/* Settings from defaults, file, environment and options, the later over the earlier; then resolved. */
#include "server/settings.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/number.h"
#include "common/parallel.h"
#include "server/settings_private.h"

enum setting_type { TYPE_TEXT, TYPE_LIST, TYPE_COUNT, TYPE_SECONDS, TYPE_SIZE };

static const struct setting {
    enum setting_type type;
    const char *name, *fallback, *help;
    size_t offset;
} settings_table[STA_SETTING_COUNT] = {
#define X(type, field, fallback, help)                                                                       \
    {TYPE_##type, #field, fallback, help, offsetof(struct sta_settings, field)},
    STA_SETTINGS_LIST(X)
#undef X
};

size_t sta_setting_find(const char *name, size_t length)
{
    size_t index = 0;
    for (; index < STA_SETTING_COUNT; index++)
        if (strlen(settings_table[index].name) == length &&
            strncmp(settings_table[index].name, name, length) == 0)
            break;
    return index;
}

bool sta_setting_is_list(size_t index)
{
    return settings_table[index].type == TYPE_LIST;
}

char *sta_setting_names(void)
{
    char *names = sta_strdup(settings_table[0].name);
    for (size_t i = 1; i < STA_SETTING_COUNT; i++) {
        char *longer = sta_sprintf("%s, %s", names, settings_table[i].name);
        free(names);
        names = longer;
    }
    return names;
}

/* ---- what was given */

static void given_fini(struct sta_given *given)
{
    for (size_t i = 0; i < given->count; i++)
        free(given->items[i]);
    free(given->items);
    free(given->where);
    *given = (struct sta_given){0};
}

void sta_given_set(struct sta_given *given, const char *const *items, size_t count, const char *where)
{
    given_fini(given);
    given->items = sta_alloc_array(count, sizeof *given->items);
    for (size_t i = 0; i < count; i++)
        given->items[i] = sta_strdup(items[i]);
    given->count = count;
    given->where = sta_strdup(where);
}

/* A list in the environment or an option is separated by commas. */
static void given_split(struct sta_given *given, const char *text, const char *where)
{
    char *copy = sta_strdup(text);
    const char **items = sta_alloc_array(strlen(text) + 1, sizeof *items);
    size_t count = 0;
    char *rest = copy;
    for (char *item = strsep(&rest, ","); item != NULL; item = strsep(&rest, ","))
        if (item[0] != '\0')
            items[count++] = item;
    sta_given_set(given, items, count, where);
    free(items);
    free(copy);
}

static void give_text(struct sta_given *given, size_t index, const char *text, const char *where)
{
    if (sta_setting_is_list(index))
        given_split(given, text, where);
    else
        sta_given_set(given, &text, 1, where);
}

static void give_defaults(struct sta_given given[STA_SETTING_COUNT])
{
    for (size_t i = 0; i < STA_SETTING_COUNT; i++)
        give_text(&given[i], i, settings_table[i].fallback, "default");
}

static void give_environment(struct sta_given given[STA_SETTING_COUNT])
{
    for (size_t i = 0; i < STA_SETTING_COUNT; i++) {
        char *name = sta_sprintf("STRATA_%s", settings_table[i].name);
        for (char *at = name; *at != '\0'; at++)
            *at = (char)toupper((unsigned char)*at);
        const char *value = getenv(name);
        if (value != NULL)
            give_text(&given[i], i, value, name);
        free(name);
    }
}

/* ---- options */

/* "--log-level" -> log_level; "--root" is roots, one folder at a time. */
static size_t find_option(const char *name, size_t length)
{
    char setting[64];
    if (length >= sizeof setting)
        return STA_SETTING_COUNT;
    if (length == 4 && strncmp(name, "root", 4) == 0)
        return STA_SETTING_roots;
    for (size_t i = 0; i < length; i++)
        setting[i] = name[i];
    for (size_t i = 0; i < length; i++)
        if (setting[i] == '-')
            setting[i] = '_';
    return sta_setting_find(setting, length);
}

static void add_text(struct sta_text_list *list, const char *text)
{
    list->items = sta_realloc_array(list->items, list->count + 1, sizeof *list->items);
    list->items[list->count++] = sta_strdup(text);
}

static bool take_flag(struct sta_settings *settings, const char *name)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"check-config", &settings->check_config},
                 {"version", &settings->version},
                 {"help", &settings->help}};
    for (size_t i = 0; i < STA_COUNT_OF(flags); i++) {
        if (strcmp(name, flags[i].name) == 0) {
            *flags[i].flag = true;
            return true;
        }
    }
    return false;
}

/* One option with its value; of a list each further one adds. */
static int take_option(struct sta_settings *settings, struct sta_given options[STA_SETTING_COUNT],
                       const char *option, size_t length, const char *value, struct sta_error *err)
{
    if (length == 6 && strncmp(option, "config", 6) == 0) {
        free(settings->config);
        settings->config = sta_strdup(value);
        return STA_OK;
    }
    size_t index = find_option(option, length);
    if (index == STA_SETTING_COUNT) {
        char *names = sta_setting_names();
        int status = sta_fail(err, STA_EINPUT,
                              "unknown option --%.*s; there are --config, --root, --check-config, --version, "
                              "--help, and of every "
                              "setting its name: %s",
                              (int)length, option, names);
        free(names);
        return status;
    }
    struct sta_given *given = &options[index];
    if (sta_setting_is_list(index) && given->where != NULL) {
        given->items = sta_realloc_array(given->items, given->count + 1, sizeof *given->items);
        given->items[given->count++] = sta_strdup(value);
    } else {
        sta_given_set(given, &value, 1, "option");
    }
    free(given->where);
    given->where = sta_sprintf("--%.*s", (int)length, option);
    return STA_OK;
}

static int read_options(struct sta_settings *settings, struct sta_given options[STA_SETTING_COUNT], int argc,
                        char **argv, struct sta_error *err)
{
    bool only_traces = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (only_traces || strncmp(word, "--", 2) != 0) {
            if (word[0] == '-' && !only_traces)
                return sta_fail(err, STA_EINPUT, "unknown option %s; see --help", word);
            add_text(&settings->traces, word);
            continue;
        }
        only_traces = word[2] == '\0';
        if (only_traces || take_flag(settings, word + 2))
            continue;
        const char *equals = strchr(word, '=');
        size_t length = equals ? (size_t)(equals - word - 2) : strlen(word + 2);
        const char *value = equals ? equals + 1 : i + 1 < argc ? argv[++i] : NULL;
        if (value == NULL && find_option(word + 2, length) != STA_SETTING_COUNT)
            return sta_fail(err, STA_EINPUT, "%s needs a value", word);
        int status = take_option(settings, options, word + 2, length, value ? value : "", err);
        if (status != STA_OK)
            return status;
    }
    return STA_OK;
}

static void give_options(struct sta_given given[STA_SETTING_COUNT],
                         struct sta_given options[STA_SETTING_COUNT])
{
    for (size_t i = 0; i < STA_SETTING_COUNT; i++) {
        if (options[i].where == NULL)
            continue;
        given_fini(&given[i]);
        given[i] = options[i];
        options[i] = (struct sta_given){0};
    }
}

/* ---- parsing them */

static int parse_number(const struct setting *setting, const struct sta_given *given, uint64_t *value,
                        struct sta_error *err)
{
    const char *text = given->count == 1 ? given->items[0] : "";
    int64_t number;
    if (setting->type == TYPE_SIZE) {
        if (sta_parse_size(text, value))
            return STA_OK;
        return sta_fail(err, STA_EINPUT, "%s: %s is \"%s\", expected bytes such as 1048576, 512MiB or 2G",
                        given->where, setting->name, text);
    }
    if (!sta_parse_int(text, strlen(text), &number) || number < 0 || number > 1000000000)
        return sta_fail(err, STA_EINPUT, "%s: %s is \"%s\", expected a whole number%s from 0 to 1000000000",
                        given->where, setting->name, text,
                        setting->type == TYPE_SECONDS ? " of seconds" : "");
    *value = (uint64_t)number;
    return STA_OK;
}

static int parse_given(struct sta_settings *settings, struct sta_given given[STA_SETTING_COUNT],
                       struct sta_error *err)
{
    int status = STA_OK;
    for (size_t i = 0; i < STA_SETTING_COUNT && status == STA_OK; i++) {
        const struct setting *setting = &settings_table[i];
        void *field = (char *)settings + setting->offset;
        if (setting->type == TYPE_TEXT) {
            *(char **)field = sta_strdup(given[i].count > 0 ? given[i].items[0] : "");
        } else if (setting->type == TYPE_LIST) {
            *(struct sta_text_list *)field = (struct sta_text_list){given[i].items, given[i].count};
            given[i].items = NULL;
            given[i].count = 0;
        } else {
            status = parse_number(setting, &given[i], field, err);
        }
    }
    return status;
}

static int one_of(const char *value, const char *allowed, const struct sta_given *given, const char *name,
                  struct sta_error *err)
{
    size_t length = strlen(value);
    for (const char *at = allowed; length > 0 && (at = strstr(at, value)) != NULL; at += length)
        if ((at == allowed || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0'))
            return STA_OK;
    return sta_fail(err, STA_EINPUT, "%s: %s is \"%s\", expected one of %s", given->where, name, value,
                    allowed);
}

static int at_least(uint64_t value, uint64_t least, const struct sta_given *given, const char *name,
                    struct sta_error *err)
{
    if (value >= least)
        return STA_OK;
    return sta_fail(err, STA_EINPUT, "%s: %s is %llu, expected at least %llu", given->where, name,
                    (unsigned long long)value, (unsigned long long)least);
}

static int check_path(const char *path, bool folder, const struct sta_given *given, const char *name,
                      struct sta_error *err)
{
    struct stat st;
    if (path[0] == '\0')
        return STA_OK;
    if (stat(path, &st) != 0)
        return sta_fail(err, STA_EINPUT, "%s: %s: there is no %s", given->where, name, path);
    if (S_ISDIR(st.st_mode) != folder)
        return sta_fail(err, STA_EINPUT, "%s: %s: %s is not a %s", given->where, name, path,
                        folder ? "folder" : "file");
    return STA_OK;
}

static int check(const struct sta_settings *s, const struct sta_given given[STA_SETTING_COUNT],
                 struct sta_error *err)
{
    int status = STA_OK;
#define ONE_OF(field, allowed)                                                                               \
    if (status == STA_OK)                                                                                    \
    status = one_of(s->field, allowed, &given[STA_SETTING_##field], #field, err)
    ONE_OF(log_level, "error, warning, info, debug");
    ONE_OF(log_format, "auto, text, json");
    ONE_OF(loopback, "own, anyone");
    ONE_OF(compaction, "on, off");
    ONE_OF(warm, "on, off");
    ONE_OF(follow_changes, "auto, poll");
#undef ONE_OF
#define AT_LEAST(field, least)                                                                               \
    if (status == STA_OK)                                                                                    \
    status = at_least(s->field, least, &given[STA_SETTING_##field], #field, err)
    AT_LEAST(connections, 1);
    AT_LEAST(connections_per_client, 1);
    AT_LEAST(request_body, 1024);
    AT_LEAST(request_header, 1024);
    AT_LEAST(request_timeout, 1);
    AT_LEAST(rows, 1);
    AT_LEAST(running_jobs, 1);
    AT_LEAST(queued_jobs, 1);
    AT_LEAST(json_bytes_per_file, 1 << 20);
    AT_LEAST(follow_interval, 1);
    AT_LEAST(follow_poll, 1);
    AT_LEAST(running_queries, 1);
    AT_LEAST(queued_queries, 1);
    AT_LEAST(query_timeout, 1);
#undef AT_LEAST
    for (size_t i = 0; i < s->roots.count && status == STA_OK; i++)
        status = check_path(s->roots.items[i], true, &given[STA_SETTING_roots], "roots", err);
    if (status == STA_OK)
        status = check_path(s->web, true, &given[STA_SETTING_web], "web", err);
    if (status == STA_OK)
        status = check_path(s->presets, true, &given[STA_SETTING_presets], "presets", err);
    if (status == STA_OK)
        status = check_path(s->findings, true, &given[STA_SETTING_findings], "findings", err);
    if (status == STA_OK)
        status = check_path(s->config_dir, true, &given[STA_SETTING_config_dir], "config_dir", err);
    if (status == STA_OK)
        status = check_path(s->tokens, false, &given[STA_SETTING_tokens], "tokens", err);
    return status;
}

/* ---- all of it */

static int read_all(struct sta_settings *settings, struct sta_given given[STA_SETTING_COUNT],
                    struct sta_given options[STA_SETTING_COUNT], int argc, char **argv, struct sta_error *err)
{
    give_defaults(given);
    int status = read_options(settings, options, argc, argv, err);
    if (status == STA_OK && settings->config != NULL)
        status = sta_settings_read_file(settings->config, given, err);
    if (status != STA_OK)
        return status;
    give_environment(given);
    give_options(given, options);
    status = parse_given(settings, given, err);
    return status == STA_OK ? check(settings, given, err) : status;
}

int sta_settings_read(struct sta_settings *settings, int argc, char **argv, struct sta_error *err)
{
    struct sta_given given[STA_SETTING_COUNT] = {0};
    struct sta_given options[STA_SETTING_COUNT] = {0};
    *settings = (struct sta_settings){0};
    int status = read_all(settings, given, options, argc, argv, err);
    if (status == STA_OK)
        sta_settings_resolve(settings);
    for (size_t i = 0; i < STA_SETTING_COUNT; i++) {
        given_fini(&given[i]);
        given_fini(&options[i]);
    }
    return status;
}

static void list_fini(struct sta_text_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
}

void sta_settings_fini(struct sta_settings *settings)
{
    for (size_t i = 0; i < STA_SETTING_COUNT; i++) {
        void *field = (char *)settings + settings_table[i].offset;
        if (settings_table[i].type == TYPE_TEXT)
            free(*(char **)field);
        else if (settings_table[i].type == TYPE_LIST)
            list_fini(field);
    }
    list_fini(&settings->traces);
    free(settings->config);
    *settings = (struct sta_settings){0};
}

static char *value_text(const struct setting *setting, const void *field)
{
    if (setting->type == TYPE_TEXT)
        return sta_strdup(*(char *const *)field);
    if (setting->type != TYPE_LIST)
        return sta_sprintf("%llu", (unsigned long long)*(const uint64_t *)field);
    const struct sta_text_list *list = field;
    char *text = sta_strdup("");
    for (size_t i = 0; i < list->count; i++) {
        char *longer = sta_sprintf("%s%s%s", text, i ? "," : "", list->items[i]);
        free(text);
        text = longer;
    }
    return text;
}

void sta_settings_each(const struct sta_settings *settings,
                       void (*visit)(void *context, const char *name, const char *value, const char *help),
                       void *context)
{
    for (size_t i = 0; i < STA_SETTING_COUNT; i++) {
        char *value = value_text(&settings_table[i], (const char *)settings + settings_table[i].offset);
        visit(context, settings_table[i].name, value, settings_table[i].help);
        free(value);
    }
}

void sta_settings_print_help(void)
{
    puts("usage: stratad [options] [TRACE_DIR ...]\n"
         "\n"
         "Serves the traces below the allowed roots over HTTP.  Each TRACE_DIR becomes a root and is "
         "ingested at start.\n"
         "\n"
         "  --config FILE     YAML file of settings (config/stratad.yaml shows all of them)\n"
         "  --root DIR        a folder below which traces may be read; may be repeated\n"
         "  --check-config    say whether the configuration is valid, and exit\n"
         "  --version, --help print and exit\n"
         "\n"
         "Every setting is an option too (--log-level debug), or an environment variable "
         "(STRATA_LOG_LEVEL=debug); lists\n"
         "are separated by commas.  Option over environment over file over default:\n");
    for (size_t i = 0; i < STA_SETTING_COUNT; i++) {
        const struct setting *setting = &settings_table[i];
        printf("  %-24s %s%s%s%s\n", setting->name, setting->help, setting->fallback[0] ? " [" : "",
               setting->fallback, setting->fallback[0] ? "]" : "");
    }
}
