/* command.h - the program strata: commands, their options, and what they share (private to command). */
#ifndef STA_SERVER_COMMAND_COMMAND_H
#define STA_SERVER_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* Exit statuses; strata.1 lists them. */
enum sta_exit {
    STA_EXIT_OK,
    STA_EXIT_FOUND,   /* check: a finding as grave as --fail-on says */
    STA_EXIT_REQUEST, /* the request is at fault, or what it asks about */
    STA_EXIT_DAEMON,  /* no daemon answers, or it broke off */
    STA_EXIT_OUTPUT   /* the output cannot be written */
};

/* How a result is printed.  AUTO: TABLE on a terminal, else CSV. */
enum sta_response_shape {
    STA_SHAPE_AUTO,
    STA_SHAPE_TABLE,
    STA_SHAPE_CSV,
    STA_SHAPE_JSON,
    STA_SHAPE_NDJSON,
    STA_SHAPE_ARROW,
    STA_SHAPE_MARKDOWN
};

#define STA_MOST_WORDS 64
#define STA_MOST_PARAMETERS 16

/* A command line, split.  All texts are borrowed from it. */
struct sta_command_arguments {
    const char *words[STA_MOST_WORDS]; /* behind the name of the command */
    size_t word_count;
    struct {
        const char *name, *value; /* of the API */
    } parameters[STA_MOST_PARAMETERS];
    size_t parameter_count;
    const char *url, *name;
    enum sta_response_shape shape;
    bool follow, wait, names, print;
};

struct sta_command {
    const char *name;
    const char *words;   /* "TRACE", "DIR": what stands behind the name */
    size_t least, most;  /* how many words */
    const char *options; /* those it has, "--preset --from", beside --url and --help */
    const char *text;    /* one line */
    int (*run)(const struct sta_command_arguments *arguments);
};

/* An option: what it sets is in arguments.c. */
struct sta_command_option {
    const char *name;
    const char *value;     /* what stands behind it, or NULL */
    const char *parameter; /* of the API that it gives, or NULL */
    const char *text;
};

extern const struct sta_command sta_commands[];
extern const size_t sta_command_count;
extern const struct sta_command_option sta_command_options[];
extern const size_t sta_command_option_count;

/** Whether @list, names with blanks between, has @name. */
bool sta_list_has(const char *list, const char *name);

/** Reads what stands behind the name of the command.  Return: 0, or STA_EXIT_REQUEST after a sentence. */
int sta_arguments_read(const struct sta_command *command, int argc, char **argv,
                       struct sta_command_arguments *arguments);

/** Writes "strata: " and a sentence to standard error.  Return: @status. */
int sta_command_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The script that completes commands, options and traces in "bash" or "zsh", to standard output. */
int sta_completion_print(const char *shell);

/** strata check; @argv begins behind that word. */
int sta_command_check(int argc, char **argv);

#endif
