/* Options of the commands, and a command line split by them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "server/command/command.h"

const struct sta_command_option sta_command_options[] = {
    {"--url", "URL", NULL,
     "the daemon; default: STRATA_URL, else http://127.0.0.1:7878; unix:PATH is a socket"},
    {"--json", NULL, NULL, "the answer of the API as it is"},
    {"--csv", NULL, NULL, "comma-separated values, also on a terminal"},
    {"--ndjson", NULL, NULL, "one JSON object a line"},
    {"--arrow", NULL, NULL, "an Arrow IPC stream"},
    {"--table", NULL, NULL, "a table as wide as the terminal, also when piped"},
    {"--markdown", NULL, NULL, "Markdown"},
    {"--follow", NULL, NULL, "go on to read what is written to the folder"},
    {"--wait", NULL, NULL, "until the ingest has ended"},
    {"--name", "NAME", NULL, "a name in place of the folder's"},
    {"--names", NULL, NULL, "the names alone, one a line"},
    {"--print", NULL, NULL, "the request as JSON, without asking"},
    {"--preset", "NAME", "preset", "layers of this preset"},
    {"--from", "SECONDS", "from", "from this moment on, from the origin of the trace"},
    {"--to", "SECONDS", "to", "up to this moment"},
    {"--filter", "EXPRESSION", "filter", "only events for which it holds"},
    {"--by", "NAME", "by", "rows by process, host, file, .."},
    {"--view", "NAME", "view", "summary, layer or flat"},
    {"--layer", "NAME", "layer", "one layer"},
    {"--columns", "LIST", "columns", "these columns, with commas between"},
    {"--order-by", "LIST", "order_by", "sorted by these columns, -NAME for descending"},
    {"--limit", "N", "limit", "so many rows"},
    {"--severity", "LIST", "severity", "findings of these severities"},
};
const size_t sta_command_option_count = STA_COUNT_OF(sta_command_options);

int sta_command_fail(int status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fputs("strata: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    return status;
}

bool sta_list_has(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static const struct sta_command_option *find_option(const struct sta_command *command, const char *name)
{
    for (size_t i = 0; i < sta_command_option_count; i++)
        if (strcmp(sta_command_options[i].name, name) == 0)
            return strcmp(name, "--url") == 0 || sta_list_has(command->options, name)
                       ? &sta_command_options[i]
                       : NULL;
    return NULL;
}

static void set_flag(struct sta_command_arguments *arguments, const char *name)
{
    static const struct {
        const char *name;
        enum sta_response_shape shape;
    } shapes[] = {{"--json", STA_SHAPE_JSON},     {"--csv", STA_SHAPE_CSV},
                  {"--ndjson", STA_SHAPE_NDJSON}, {"--arrow", STA_SHAPE_ARROW},
                  {"--table", STA_SHAPE_TABLE},   {"--markdown", STA_SHAPE_MARKDOWN}};
    for (size_t i = 0; i < STA_COUNT_OF(shapes); i++)
        if (strcmp(shapes[i].name, name) == 0)
            arguments->shape = shapes[i].shape;
    arguments->follow = arguments->follow || strcmp(name, "--follow") == 0;
    arguments->wait = arguments->wait || strcmp(name, "--wait") == 0;
    arguments->names = arguments->names || strcmp(name, "--names") == 0;
    arguments->print = arguments->print || strcmp(name, "--print") == 0;
}

static int set_value(struct sta_command_arguments *arguments, const struct sta_command_option *option,
                     const char *value)
{
    if (value == NULL)
        return sta_command_fail(STA_EXIT_REQUEST, "%s needs %s behind it", option->name, option->value);
    if (strcmp(option->name, "--url") == 0) {
        arguments->url = value;
    } else if (strcmp(option->name, "--name") == 0) {
        arguments->name = value;
    } else {
        if (arguments->parameter_count == STA_MOST_PARAMETERS)
            return sta_command_fail(STA_EXIT_REQUEST, "at most %d options", STA_MOST_PARAMETERS);
        arguments->parameters[arguments->parameter_count].name = option->parameter;
        arguments->parameters[arguments->parameter_count++].value = value;
    }
    return 0;
}

/* An option, at argv[0].  Sets *used to how many words it took. */
static int read_option(const struct sta_command *command, int argc, char **argv,
                       struct sta_command_arguments *arguments, int *used)
{
    char name[32];
    const char *equals = strchr(argv[0], '=');
    snprintf(name, sizeof name, "%.*s", (int)(equals != NULL ? equals - argv[0] : (long)strlen(argv[0])),
             argv[0]);
    const struct sta_command_option *option = find_option(command, name);
    *used = 1;
    if (option == NULL)
        return sta_command_fail(STA_EXIT_REQUEST, "%s has no option %s; it has --url%s%s", command->name,
                                argv[0], *command->options ? " " : "", command->options);
    if (option->value == NULL) {
        set_flag(arguments, name);
        return 0;
    }
    if (equals != NULL)
        return set_value(arguments, option, equals + 1);
    *used = 2;
    return set_value(arguments, option, argc > 1 ? argv[1] : NULL);
}

int sta_arguments_read(const struct sta_command *command, int argc, char **argv,
                       struct sta_command_arguments *arguments)
{
    bool only_words = false; /* behind -- */
    *arguments = (struct sta_command_arguments){.url = NULL};
    for (int i = 0, used = 1; i < argc; i += used) {
        used = 1;
        if (!only_words && strcmp(argv[i], "--") == 0) {
            only_words = true;
        } else if (!only_words && strncmp(argv[i], "--", 2) == 0) {
            int status = read_option(command, argc - i, argv + i, arguments, &used);
            if (status != 0)
                return status;
        } else if (arguments->word_count == command->most) {
            return sta_command_fail(STA_EXIT_REQUEST, "usage: strata %s %s; '%s' is too much", command->name,
                                    command->words, argv[i]);
        } else {
            arguments->words[arguments->word_count++] = argv[i];
        }
    }
    if (arguments->word_count < command->least)
        return sta_command_fail(STA_EXIT_REQUEST, "usage: strata %s %s", command->name, command->words);
    return 0;
}
