/* options.c - the command line of strata-generate. */
#include "generator.h"
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "strata-generate [options] FOLDER\n"
    "Writes a trace as a DLIO benchmark would, and prints its true totals as JSON. The same options give the "
    "same bytes.\n\n"
    "  --events N         complete events (default 100000); faults come on top\n"
    "  --hosts N          (default 1)\n"
    "  --ranks N          training processes (default 4)\n"
    "  --workers N        reader processes of each rank (default 2)\n"
    "  --epochs N         (default 5)\n"
    "  --files N          files of the dataset (default 168)\n"
    "  --output-files N   trace files, at most one a rank; 0: one a process (default 0)\n"
    "  --dialect D        hashed, plain or mixed (default hashed)\n"
    "  --preset P         shape of the workload: dlio or ai (default dlio)\n"
    "  --gzip M           none, one or many members (default none)\n"
    "  --level N          of gzip (default 6)\n"
    "  --overlap F        0 to 1: share of the samples read wholly during compute; the others wholly before\n"
    "  --together         ranks end their steps together, as a barrier makes them; else each goes by itself\n"
    "  --faults LIST      names, each with =COUNT if not 1; all: one of each but long\n"
    "  --truncate         leave the last gzip file without its end\n"
    "  --seed N           (default 1)\n"
    "  --threads N        (default: cores)\n\n"
    "Faults:\n";

static _Noreturn void refuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "strata-generate: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "; --help tells more\n");
    va_end(args);
    exit(2);
}

static const char *const fault_names[FAULTS] = {
#define X(id, name, help) [FAULT_##id] = name,
    FAULT_LIST(X)
#undef X
};

static void print_help(void)
{
    static const char *const helps[FAULTS] = {
#define X(id, name, help) [FAULT_##id] = help,
        FAULT_LIST(X)
#undef X
    };
    fputs(usage, stdout);
    for (int i = 0; i < FAULTS; i++)
        printf("  %-18s %s\n", fault_names[i], helps[i]);
}

static uint64_t number(const char *name, const char *text, uint64_t least, uint64_t most)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end || end == text || errno || *text == '-' || value < least || value > most)
        refuse("--%s takes a number from %llu to %llu, not %s", name, (unsigned long long)least,
               (unsigned long long)most, text);
    return value;
}

static unsigned one_of(const char *name, const char *text, const char *const *words)
{
    for (unsigned i = 0; words[i]; i++)
        if (!strcmp(words[i], text))
            return i;
    refuse("--%s does not know %s", name, text);
}

static void read_fault(struct options *options, char *item)
{
    char *equals = strchr(item, '=');
    uint64_t count = equals ? number("faults", equals + 1, 0, UINT64_C(1000000000)) : 1;
    bool known = false;
    if (equals)
        *equals = 0;
    for (int i = 0; i < FAULTS; i++) {
        bool named = !strcmp(item, fault_names[i]) || (!strcmp(item, "all") && i != FAULT_LONG);
        if (named)
            options->faults[i] = count;
        known |= named;
    }
    if (!known)
        refuse("--faults does not know %s", item);
}

static void read_faults(struct options *options, const char *text)
{
    char *list = strdup(text), *rest = NULL;
    if (!list)
        abort();
    for (char *item = strtok_r(list, ",", &rest); item; item = strtok_r(NULL, ",", &rest))
        read_fault(options, item);
    free(list);
}

static void read_option(struct options *options, const char *name, const char *value)
{
    static const char *const dialects[] = {"hashed", "plain", "mixed", NULL};
    static const char *const shapes[] = {"dlio", "ai", NULL};
    static const char *const gzips[] = {"none", "one", "many", NULL};
    struct {
        const char *name;
        unsigned *target;
        unsigned least, most;
    } numbers[] = {
        {"hosts", &options->hosts, 1, 100000},   {"ranks", &options->ranks, 1, 100000},
        {"workers", &options->workers, 0, 200},  {"epochs", &options->epochs, 1, 10000},
        {"files", &options->files, 1, 10000000}, {"output-files", &options->output_files, 0, 100000},
        {"threads", &options->threads, 1, 256}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(name, numbers[i].name))
            *numbers[i].target = (unsigned)number(name, value, numbers[i].least, numbers[i].most);
    if (!strcmp(name, "events"))
        options->events = number(name, value, 1, UINT64_C(100000000000));
    else if (!strcmp(name, "seed"))
        options->seed = number(name, value, 0, UINT64_MAX);
    else if (!strcmp(name, "level"))
        options->level = (int)number(name, value, 1, 9);
    else if (!strcmp(name, "dialect"))
        options->dialect = (enum dialect)one_of(name, value, dialects);
    else if (!strcmp(name, "preset"))
        options->shape = (enum shape)one_of(name, value, shapes);
    else if (!strcmp(name, "gzip"))
        options->gzip = (enum gzip_mode)one_of(name, value, gzips);
    else if (!strcmp(name, "overlap"))
        options->overlap = strtod(value, NULL);
    else if (!strcmp(name, "faults"))
        read_faults(options, value);
}

/* The least number of events that holds every rank's start, epochs and end. */
static uint64_t least_events(const struct options *options)
{
    return (uint64_t)options->ranks * (40 + 26 * (uint64_t)options->epochs + 5 * (uint64_t)options->workers);
}

static void check(const struct options *options)
{
    if (options->hosts > options->ranks)
        refuse("--hosts %u is more than --ranks %u", options->hosts, options->ranks);
    if (options->output_files > options->ranks)
        refuse("--output-files %u is more than --ranks %u", options->output_files, options->ranks);
    if (options->events < least_events(options))
        refuse("--events %llu is too few for so many ranks, workers and epochs; the least is %llu",
               (unsigned long long)options->events, (unsigned long long)least_events(options));
    if (options->overlap > 1 || options->overlap != options->overlap)
        refuse("--overlap takes a share from 0 to 1");
    if (options->overlap > 0 && !options->workers)
        refuse("--overlap needs workers: a rank that reads itself hides nothing");
    if (options->truncate && options->gzip == GZIP_NONE)
        refuse("--truncate needs --gzip");
}

void options_read(struct options *options, int argc, char **argv)
{
    static const struct option names[] = {{"events", 1, NULL, 0},
                                          {"hosts", 1, NULL, 0},
                                          {"ranks", 1, NULL, 0},
                                          {"workers", 1, NULL, 0},
                                          {"epochs", 1, NULL, 0},
                                          {"files", 1, NULL, 0},
                                          {"output-files", 1, NULL, 0},
                                          {"dialect", 1, NULL, 0},
                                          {"preset", 1, NULL, 0},
                                          {"gzip", 1, NULL, 0},
                                          {"level", 1, NULL, 0},
                                          {"overlap", 1, NULL, 0},
                                          {"faults", 1, NULL, 0},
                                          {"seed", 1, NULL, 0},
                                          {"threads", 1, NULL, 0},
                                          {"together", 0, NULL, 'g'},
                                          {"truncate", 0, NULL, 't'},
                                          {"help", 0, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int index, got;
    *options = (struct options){.events = 100000,
                                .seed = 1,
                                .hosts = 1,
                                .ranks = 4,
                                .workers = 2,
                                .epochs = 5,
                                .files = 168,
                                .level = 6,
                                .overlap = -1,
                                .threads = (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
    while ((got = getopt_long(argc, argv, "", names, &index)) != -1) {
        if (got == 'h') {
            print_help();
            exit(0);
        }
        if (got == '?')
            refuse("cannot read the options");
        if (got == 't')
            options->truncate = true;
        else if (got == 'g')
            options->together = true;
        else
            read_option(options, names[index].name, optarg);
    }
    if (optind != argc - 1)
        refuse("one folder to write into is needed");
    options->folder = argv[optind];
    check(options);
}
