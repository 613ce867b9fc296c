/* strata: asks a daemon from the shell; `strata check` needs none.  One table says which commands there are.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "server/command/command.h"
#ifdef STA_HAVE_CURL
#include "server/command/client_commands.h"
#include "server/command/daemon.h"
#endif

static int run_completion(const struct sta_command_arguments *arguments)
{
    return sta_completion_print(arguments->words[0]);
}

#define FORMATS "--json --csv --ndjson --arrow --table"
#define RANGE "--preset --from --to --filter"

/* check reads its own options: it runs the analysis itself, without a daemon. */
const struct sta_command sta_commands[] = {
#ifdef STA_HAVE_CURL
    {"ls", "", 0, 0, "--json --csv --table --names", "the traces that the daemon knows", sta_command_ls},
    {"add", "DIR", 1, 1, "--name --follow --wait", "register a folder and ingest it; prints the id",
     sta_command_add},
    {"rm", "TRACE ..", 1, STA_MOST_WORDS, "", "forget traces; their files stay", sta_command_rm},
    {"summary", "TRACE", 1, 1, RANGE " --by " FORMATS, "a row per layer", sta_command_summary},
    {"query", "TRACE QUERY", 2, 2, "--limit --print " FORMATS,
     "clauses, JSON, @FILE, or - for standard input", sta_command_query},
    {"compare", "TRACE TRACE ..", 2, STA_MOST_WORDS,
     RANGE " --by --view --layer --columns --order-by --limit " FORMATS, "runs against the first",
     sta_command_compare},
    {"findings", "TRACE", 1, 1, RANGE " --severity --json --csv --ndjson --table --markdown",
     "why it is slow, and what to do", sta_command_findings},
#endif
    {"check", "DIR", 1, 1, "--fail-on --preset --goal --markdown",
     "the findings of a folder, without a daemon", NULL},
    {"completion", "SHELL", 1, 1, "", "the completion script for bash or zsh", run_completion},
};
const size_t sta_command_count = STA_COUNT_OF(sta_commands);

static void print_options(const struct sta_command *command)
{
    for (size_t i = 0; i < sta_command_option_count; i++) {
        const struct sta_command_option *option = &sta_command_options[i];
        char shown[48];
        if (strcmp(option->name, "--url") != 0 && !sta_list_has(command->options, option->name))
            continue;
        snprintf(shown, sizeof shown, "%s %s", option->name, option->value != NULL ? option->value : "");
        printf("  %-22s %s\n", shown, option->text);
    }
}

static int print_help(const struct sta_command *command)
{
    if (command != NULL) {
        printf("usage: strata %s%s%s [options]\n\n%s\n\n", command->name, *command->words ? " " : "",
               command->words, command->text);
        print_options(command);
        return 0;
    }
    printf("usage: strata COMMAND ..\n\n");
    for (size_t i = 0; i < sta_command_count; i++) {
        char shown[48];
        snprintf(shown, sizeof shown, "%s %s", sta_commands[i].name, sta_commands[i].words);
        printf("  %-24s %s\n", shown, sta_commands[i].text);
    }
    printf("\nstrata COMMAND --help lists options.  A terminal gets tables, a pipe CSV.  See strata(1).\n");
    return 0;
}

/* A command that needs no daemon, or one that asks it. */
static int run(const struct sta_command *command, const struct sta_command_arguments *arguments)
{
    if (command->run == run_completion)
        return command->run(arguments);
#ifdef STA_HAVE_CURL
    int code = sta_daemon_open(arguments->url);
    if (code == 0)
        code = command->run(arguments);
    sta_daemon_close();
    return code;
#else
    return STA_EXIT_REQUEST;
#endif
}

static int fail_command(const char *name)
{
    const bool wanted = name != NULL;
    print_help(NULL);
    return sta_command_fail(STA_EXIT_REQUEST, "%s%s", wanted ? "there is no command " : "which command?",
                            wanted ? name : "");
}

int main(int argc, char **argv)
{
    static struct sta_command_arguments arguments;
    const struct sta_command *command = NULL;
    setlocale(LC_CTYPE, "");
    for (size_t i = 0; i < sta_command_count && argc > 1; i++)
        if (strcmp(sta_commands[i].name, argv[1]) == 0)
            command = &sta_commands[i];
    if (argc > 1 && strcmp(argv[1], "--version") == 0)
        return puts("strata " STA_VERSION) < 0;
    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return print_help(NULL);
    if (command == NULL)
        return fail_command(argc > 1 ? argv[1] : NULL);
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 && command->run != NULL)
            return print_help(command);
    if (command->run == NULL)
        return sta_command_check(argc - 2, argv + 2);
    int code = sta_arguments_read(command, argc - 2, argv + 2, &arguments);
    return code != 0 ? code : run(command, &arguments);
}
