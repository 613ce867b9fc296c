/* settings.h - one table: name, type, default, help.  Only main.c reads settings; it hands each stage a plain
 * struct.
 *
 * Precedence: option, then STRATA_<SETTING> in the environment, then the file, then the default. */
#ifndef STA_SERVER_SETTINGS_H
#define STA_SERVER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"

/* X(TYPE, field, default as text, help)
 * TEXT: char *, "" when unset.  LIST: struct sta_text_list.  COUNT, SECONDS: uint64_t.  SIZE: uint64_t bytes.
 * BOOL: bool. */
#define STA_SETTINGS_LIST(X)                                                                                 \
    X(TEXT, listen, "127.0.0.1:7878",                                                                        \
      "address and port to serve on; port 0 takes a free one, [::1]:7878 is IPv6; unix:PATH is a socket in " \
      "the file system, for the daemon's own user alone")                                                    \
    X(TEXT, store, "", "folder of the store; empty: $XDG_STATE_HOME/strata, else ~/.local/state/strata")     \
    X(LIST, roots, "", "folders below which traces may be read")                                             \
    X(TEXT, web, "", "folder of the dashboard; empty: the one built or installed with the program")          \
    X(TEXT, presets, "",                                                                                     \
      "folder of your own presets (*.yaml), read after the built-in ones; empty: presets in the store")      \
    X(TEXT, findings, "",                                                                                    \
      "folder of your own rules of findings (*.yaml), read after the built-in ones; empty: findings in the " \
      "store")                                                                                               \
    X(TEXT, config_dir, "",                                                                                  \
      "folder of functions.yaml, findings.yaml and the built-in presets; empty: the one built or installed " \
      "with the "                                                                                            \
      "program")                                                                                             \
    X(COUNT, workers, "0", "threads that work on one ingest or query; 0: the cores this process may use")    \
    X(SIZE, memory, "0",                                                                                     \
      "bytes that the daemon may hold for traces, ingest, queries and caches together; 0: a quarter of "     \
      "what this process may use, at least 256 MiB")                                                         \
    X(SIZE, cache, "0",                                                                                      \
      "bytes of answers to keep in memory, at most; part of memory, and they give way; 0: an eighth of it")  \
    X(SIZE, columns, "0",                                                                                    \
      "bytes of decoded columns to keep in memory, at most; part of memory, and they give way; 0: a "        \
      "quarter of it")                                                                                       \
    X(TEXT, tokens, "",                                                                                      \
      "file of access tokens; empty: no sign-in, and then only loopback addresses are served")               \
    X(TEXT, loopback, "own",                                                                                 \
      "whom a daemon without tokens serves: own, connections of its own user and root; or anyone, every "    \
      "user of this machine, as admin")                                                                      \
    X(LIST, trusted_proxies, "",                                                                             \
      "addresses, networks or unix, whose X-Forwarded-For header names the client")                          \
    X(TEXT, log_level, "info", "error, warning, info or debug")                                              \
    X(TEXT, log_format, "auto", "text, json, or auto: text on a terminal, else JSON lines")                  \
    X(LIST, hosts, "",                                                                                       \
      "further names by which clients may call this daemon (Host header), such as strata.lab.example")       \
    X(LIST, cors_origins, "",                                                                                \
      "origins of other sites whose pages may call the API, such as https://lab.example")                    \
    X(COUNT, connections, "1000", "open connections at most")                                                \
    X(COUNT, connections_per_client, "250", "open connections of one address at most")                       \
    X(SIZE, request_body, "1MiB", "largest request body")                                                    \
    X(SIZE, request_header, "32KiB", "largest request header")                                               \
    X(SECONDS, request_timeout, "30",                                                                        \
      "seconds in which a request must have arrived, and after which an idle connection is closed")          \
    X(SIZE, send_rate, "1KiB",                                                                               \
      "bytes per second that a client must take of its answer, measured over request_timeout; a slower one " \
      "is cut off")                                                                                          \
    X(COUNT, rows, "100000", "rows of one JSON answer at most")                                              \
    X(COUNT, running_jobs, "1",                                                                              \
      "large ingests at the same time; while they run, one small one (64 MiB of files) may run beside them") \
    X(COUNT, queued_jobs, "1000", "jobs that may wait")                                                      \
    X(TEXT, compaction, "on",                                                                                \
      "on: traces of many segments are compacted while the daemon is idle; off: only on request "            \
      "(POST /traces/{id}/compact)")                                                                         \
    X(TEXT, warm, "on",                                                                                      \
      "on: after a start, the columns that queries read before it are decoded while the daemon is idle; "    \
      "off: when a query reads them")                                                                        \
    X(COUNT, first_page_events, "50000000",                                                                  \
      "events of a trace from which on its ingest ends only when what the first page shows is computed; of " \
      "fewer this takes a moment after it")                                                                  \
    X(SIZE, json_bytes_per_file, "1TiB",                                                                     \
      "bytes of JSON that are read of one file; past that it is truncated, and the report says so")          \
    X(SECONDS, follow_interval, "1", "seconds between two versions of a live trace at least")                \
    X(TEXT, follow_changes, "auto",                                                                          \
      "how growth of live traces is noticed: auto, by inotify on local file systems and elsewhere by "       \
      "looking; or poll, by looking alone")                                                                  \
    X(SECONDS, follow_poll, "1",                                                                             \
      "seconds between two looks at the files of a live trace whose changes are not announced")              \
    X(SECONDS, follow_quiet, "1800",                                                                         \
      "seconds without growth after which a trace is not live any more; 0: only on request")                 \
    X(COUNT, running_queries, "4", "queries worked on at the same time")                                     \
    X(COUNT, queued_queries, "200",                                                                          \
      "queries that may wait; more are refused with 503 and when to try again")                              \
    X(SIZE, query_memory, "0", "bytes one query may hold; part of memory; 0: a third of it")                 \
    X(SECONDS, query_timeout, "120", "seconds one query may take")                                           \
    X(COUNT, timeline_cells, "2000000", "rows times pixels of one picture of the timeline at most")          \
    X(TEXT, spill, "",                                                                                       \
      "folder for what a query or an ingest cannot hold in memory, in files without names; empty: the "      \
      "store")                                                                                               \
    X(COUNT, rank_stripe, "8",                                                                               \
      "of a daemon of several MPI ranks: row groups next to each other that one rank works on")              \
    X(SIZE, rank_range, "4MiB",                                                                              \
      "of the same: least bytes of a range of a file, where ranks read several of one file")                 \
    X(SECONDS, rank_silence, "300",                                                                          \
      "of the same: seconds without a word from a rank after which the job is ended; after a fifth of it "   \
      "/healthz answers 503")

struct sta_text_list {
    char **items;
    size_t count;
};

struct sta_settings {
#define STA_SETTING_TYPE_TEXT char *
#define STA_SETTING_TYPE_LIST struct sta_text_list
#define STA_SETTING_TYPE_COUNT uint64_t
#define STA_SETTING_TYPE_SECONDS uint64_t
#define STA_SETTING_TYPE_SIZE uint64_t
#define X(type, field, fallback, help) STA_SETTING_TYPE_##type field;
    STA_SETTINGS_LIST(X)
#undef X
    struct sta_text_list traces; /* TRACE_DIR arguments */
    char *config;                /* --config FILE, or NULL */
    bool check_config, version, help;
};

/** Reads options, environment and file.  STA_EINPUT names option, variable, or file, line, key and what is
 * allowed.  Resolves the defaults that depend on the machine (workers, memory, cache, columns, query_memory,
 * store).  Fini also after a failure. */
STA_MUSTCHECK int sta_settings_read(struct sta_settings *settings, int argc, char **argv,
                                    struct sta_error *err);
void sta_settings_fini(struct sta_settings *settings);
/** Calls @visit for every setting with its value as text ("secret" ones left out by the caller). */
void sta_settings_each(const struct sta_settings *settings,
                       void (*visit)(void *context, const char *name, const char *value, const char *help),
                       void *context);
void sta_settings_print_help(void);

#endif
