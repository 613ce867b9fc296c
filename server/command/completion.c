/* Completion for bash and zsh, written from the tables of commands and options. */
#include <stdio.h>
#include <string.h>

#include "server/command/command.h"

static void put_names(void)
{
    for (size_t i = 0; i < sta_command_count; i++)
        printf("%s%s", i > 0 ? " " : "", sta_commands[i].name);
}

/* What a word behind a command may be: folders, traces or neither. */
static const char *words_of(const struct sta_command *command)
{
    return strstr(command->words, "DIR") != NULL     ? "folder"
           : strstr(command->words, "TRACE") != NULL ? "trace"
                                                     : "none";
}

static void put_cases(const char *indent)
{
    for (size_t i = 0; i < sta_command_count; i++)
        printf("%s%s) options=\"%s%s%s\"; kind=%s ;;\n", indent, sta_commands[i].name,
               sta_commands[i].run != NULL ? "--url --help" : "", *sta_commands[i].options ? " " : "",
               sta_commands[i].options, words_of(&sta_commands[i]));
}

static void put_bash(void)
{
    printf("# bash completion of strata; made from its tables of commands and options\n_strata()\n{\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} options kind\n    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" = 1 ]; then\n        mapfile -t COMPREPLY < <(compgen -W \"");
    put_names();
    printf(" --help --version\" -- \"$word\")\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    put_cases("    ");
    printf("    *) return ;;\n    esac\n"
           "    case $word in\n    -*) mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\") ;;\n"
           "    *) case $kind in\n"
           "        folder) mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;\n"
           "        trace) local IFS=$'\\n'; mapfile -t COMPREPLY < <(compgen -W \"$(\"${COMP_WORDS[0]}\" ls "
           "--names 2>/dev/null)\" -- \"$word\") ;;\n"
           "        esac ;;\n    esac\n}\ncomplete -F _strata strata\n");
}

static void put_zsh(void)
{
    printf("#compdef strata\n# made from its tables of commands and options\n_strata() {\n"
           "    local options kind\n    local -a commands\n    commands=(\n");
    for (size_t i = 0; i < sta_command_count; i++)
        printf("        '%s:%s'\n", sta_commands[i].name, sta_commands[i].text);
    printf("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n"
           "    fi\n    case $words[2] in\n");
    put_cases("    ");
    printf("    esac\n    if [[ $words[CURRENT] == -* ]]; then\n        compadd -- ${=options}\n"
           "    elif [[ $kind == folder ]]; then\n        _files -/\n"
           "    elif [[ $kind == trace ]]; then\n"
           "        compadd -- ${(f)\"$($words[1] ls --names 2>/dev/null)\"}\n    fi\n}\n_strata \"$@\"\n");
}

int sta_completion_print(const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        put_bash();
    else if (strcmp(shell, "zsh") == 0)
        put_zsh();
    else
        return sta_command_fail(STA_EXIT_REQUEST, "completion is for bash or zsh, not %s", shell);
    return 0;
}
