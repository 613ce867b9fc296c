/* The table of the API. */
#include "serve/api/routes.h"

#include <string.h>

#include "common/memory.h"
#include "serve/responses/views.h"

#define WHATIF_TEXT                                                                                          \
    "A model of the data loading is made of the trace's steps and samples. It first reproduces the run as "  \
    "it was, member check, then simulates scenarios: other workers, prefetch, storage, preprocessing, "      \
    "accelerators, a page cache, no stragglers, no barrier; and sweeps over some of them. A trace that the " \
    "model does not fit is refused with 422 and a reason."
#define ALIGN_TEXT                                                                                           \
    "How much shorter stalls would be if the fetches of a batch took equally long on all ranks, or had "     \
    "started at the same moment: a row for each combination. An imported training log answers with its "     \
    "own epoch 1 from iteration 11 on, and with the files of the published simulation."
#define OVERLAP_TEXT                                                                                         \
    "Busy time of sets of events, their overlap, each without the other, combinations, idle time and "       \
    "concurrency, exactly, by the intervals of every event within each unit of the scope; a row per unit. "  \
    "Beyond that, as asked: exposure of single events, a series over time, the numbers of the older "        \
    "analyser. With attribution in place of all that: moments of a target, such as stall, split into "       \
    "causes "                                                                                                \
    "that add up, by unit, epoch, step or bin of time; and for the layers, which of them blocks."
#define OVERLAP_INTERVALS_TEXT                                                                               \
    "The maximal intervals in which a condition on the sets holds, such as io and not compute, with the "    \
    "events that fill them."
#define OVERLAP_PAGE_TEXT                                                                                    \
    "What DFTracer 1.0.8's analyser prints of a trace, for sets named compute, io, app_io."

#define TIMELINE_LANES_TEXT                                                                                  \
    "The tree of hosts, rank groups, processes and threads with events that touch the window: pre-order, "   \
    "with figures of each."
#define TIMELINE_EVENTS_TEXT                                                                                 \
    "Events by thread and row for a picture of so many pixels: those longer than a pixel singly, shorter "   \
    "ones merged into blocks that say how many they are. Times are ticks from the origin, texts indexes."
#define TIMELINE_DENSITY_TEXT                                                                                \
    "How much of each cell events of each label are on top, per lane of any level: runs of cells of equal "  \
    "time."
#define CALL_TREE_TEXT                                                                                       \
    "Events merged by the path of their labels, with total and self time; with name, what it calls or what " \
    "calls it. format=folded and speedscope are stacks for flame graphs."
#define GAPS_TEXT                                                                                            \
    "Maximal intervals in which no matching event of a unit runs, longest first, with the events before "    \
    "and after."
#define STATISTICS_TEXT                                                                                      \
    "Count, time, self time, union on the clock and bytes of the window's events, by label."
#define SEARCH_TEXT "The next or previous event that satisfies the filter, in event order; else it wraps."
#define DASF_TEXT                                                                                            \
    "Of a trace of kind dasf. Where the time went: function_bottleneck, task_bottleneck. What workers "      \
    "held: "                                                                                                 \
    "task_balance. The task graph: graph, critical_path, as_it_ran, slack, transfers, function_graph. Over " \
    "time: parallelism, resources. Offsets of the hosts' clocks: clocks. semantics=compatible gives the "    \
    "first three and graph by the rules and headings of dasf.profile.analysis."

#define FINDINGS_TEXT                                                                                        \
    "Why the run is slow and what to do: each rule's finding with its figures, threshold, stake in "         \
    "seconds, "                                                                                              \
    "advice, evidence and the page that shows it; and what was checked and is in order."
#define UTILISATION_TEXT                                                                                     \
    "By rank and epoch, how much of the time from the end of the warm-up steps on accelerators compute, "    \
    "and DLIO's number of the same. Needs a preset whose phases have compute, epoch and step."
#define STRAGGLERS_TEXT                                                                                      \
    "Members (ranks, processes, threads, hosts, files) that lie far from the median of all, by robust z: "   \
    "0.6745 (value - median) / median absolute deviation. measure: busy, exposed, time, size, count, bw; "   \
    "arrival: which rank ends steps last."
#define ACCESS_TEXT                                                                                          \
    "Which data calls go on where the last one of their thread and file ended, skip ahead, or go back; how " \
    "many bytes, how many different ones within an epoch; the files of which most is moved again."

/* What most routes begin with.  Their handlers: inline, on an I/O thread, or by a view. */
#define CALL(method_, path_, id_, tag_, role_, place_, handle_)                                              \
    .method = STA_##method_, .path = path_, .id = id_, .tag = tag_, .role = STA_ROLE_##role_,                \
    .place = STA_##place_, .handle = handle_
#define VIEW(method_, path_, id_, tag_, view_)                                                               \
    .method = STA_##method_, .path = path_, .id = id_, .tag = tag_, .role = STA_ROLE_VIEWER,                 \
    .place = STA_QUESTION, .view = &view_

const struct sta_route sta_routes[] = {
    {CALL(GET, STA_HEALTH_PATH, "health", "daemon", NONE, INLINE, sta_api_health), .no_store = true,
     .response = "health", .summary = "Liveness",
     .text = "Answers at once whatever the daemon is working on."},
    {CALL(GET, "/metrics", "metrics", "daemon", VIEWER, IO_TASK, sta_api_metrics), .no_store = true,
     .content_type = "text/plain; version=0.0.4; charset=utf-8", .summary = "Figures for Prometheus",
     .text = "Requests, latencies, cache, jobs, traces, ingest and memory in the Prometheus text format."},
    {CALL(GET, "/api/v1/version", "version", "daemon", NONE, INLINE, sta_api_version), .response = "version",
     .summary = "Version, build and features", .text = "What this daemon is and can do."},
    {CALL(GET, "/api/v1/settings", "settings", "daemon", ADMIN, INLINE, sta_api_settings), .no_store = true,
     .response = "settings", .summary = "Settings in force",
     .text = "Every setting with its value and what it is for; secrets are left out."},
    {CALL(GET, "/api/v1/tokens", "tokens", "daemon", ADMIN, INLINE, sta_api_tokens), .no_store = true,
     .response = "tokens", .summary = "Who has a token",
     .text = "Name and role of every token in force; none without a tokens file."},
    {.method = STA_GET,
     .path = "/api/v1/openapi.json",
     .id = "openapi",
     .tag = "daemon",
     .role = STA_ROLE_NONE,
     .place = STA_CUSTOM,
     .arrange = sta_api_openapi,
     .response = "openapi",
     .summary = "This document",
     .text = "The OpenAPI 3.1 description of the API."},
    {CALL(GET, "/api/v1/session", "session", "session", NONE, INLINE, sta_api_session), .no_store = true,
     .response = "session", .summary = "Who is signed in",
     .text = "The role of the caller, and whether a sign-in is needed here."},
    {CALL(POST, "/api/v1/session", "sign_in", "session", NONE, INLINE, sta_api_session_create),
     .audit = "Sign-in", .body = "session_create", .response = "session", .summary = "Sign in",
     .text = "Exchanges a token for a session cookie (HttpOnly, SameSite=Strict) that ends after 12 hours."},
    {CALL(DELETE, "/api/v1/session", "sign_out", "session", NONE, INLINE, sta_api_session_delete),
     .audit = "Sign-out", .status = 204, .summary = "Sign out", .text = "Ends the session of the cookie."},
    {CALL(GET, "/api/v1/traces", "traces", "traces", VIEWER, IO_TASK, sta_api_traces), .response = "traces",
     .summary = "Registered traces", .text = "All of them, in the order of their registration."},
    {CALL(POST, "/api/v1/traces", "register", "traces", EDITOR, IO_TASK, sta_api_trace_create),
     .audit = "Registration of a trace", .body = "trace_create", .response = "trace_accepted", .status = 202,
     .other_status = 200, .summary = "Register a trace",
     .text = "Registers a trace directory or file inside an allowed root and starts to ingest it. The same "
             "path again, unchanged, answers 200 with the existing trace. With \"follow\" the trace is live: "
             "what is "
             "written to its files is read as they grow."},
    {CALL(GET, "/api/v1/traces/{id}", "trace", "traces", VIEWER, IO_TASK, sta_api_trace), .response = "trace",
     .summary = "One trace", .text = "Its state, figures and preset."},
    {CALL(PATCH, "/api/v1/traces/{id}", "change_trace", "traces", EDITOR, IO_TASK, sta_api_trace_patch),
     .audit = "Change of a trace", .body = "trace_patch", .response = "trace",
     .summary = "Rename, tag or follow a trace", .text = "Members that are not given stay as they are."},
    {CALL(DELETE, "/api/v1/traces/{id}", "forget_trace", "traces", EDITOR, IO_TASK, sta_api_trace_delete),
     .audit = "Deletion of a trace", .status = 204, .summary = "Forget a trace",
     .text = "Stops its job and deletes what the store keeps of it, never the source."},
    {CALL(POST, "/api/v1/traces/{id}/refresh", "refresh", "traces", EDITOR, IO_TASK, sta_api_trace_refresh),
     .audit = "Refresh of a trace", .response = "trace_accepted", .status = 202, .summary = "Refresh a trace",
     .text = "Ingests what is new or changed in its directory."},
    {CALL(POST, "/api/v1/traces/{id}/compact", "compact", "traces", EDITOR, IO_TASK, sta_api_trace_compact),
     .audit = "Compaction of a trace", .response = "trace_accepted", .status = 202,
     .summary = "Compact a trace",
     .text = "Writes its store again as few segments, sorted by time and packed better, in the background. "
             "Answers stay as they are; a cursor that was given out before is refused after it."},
    {CALL(GET, "/api/v1/traces/{id}/notes", "notes", "traces", VIEWER, IO_TASK, sta_api_notes),
     .response = "notes", .summary = "Notes on a trace",
     .text = "What people wrote of the run, oldest first, with who and when. A trace that is registered "
             "again has its notes again."},
    {CALL(POST, "/api/v1/traces/{id}/notes", "add_note", "traces", EDITOR, IO_TASK, sta_api_note_create),
     .audit = "Note on a trace", .body = "note_text", .response = "note", .status = 201,
     .summary = "Write a note", .text = "Adds it; notes are not changed, but deleted and written again."},
    {CALL(DELETE, "/api/v1/traces/{id}/notes/{note}", "delete_note", "traces", EDITOR, IO_TASK,
          sta_api_note_delete),
     .audit = "Deletion of a note", .status = 204, .summary = "Delete a note", .text = "Forgets it."},
    {CALL(GET, "/api/v1/browse", "browse", "traces", VIEWER, IO_TASK, sta_api_browse),
     .parameters = STA_HAS(PATH), .response = "browse", .summary = "Look for traces",
     .text = "Folders and candidate traces of a folder inside the allowed roots."},
    {CALL(GET, "/api/v1/jobs", "jobs", "jobs", VIEWER, IO_TASK, sta_api_jobs), .response = "jobs",
     .summary = "Jobs", .text = "Those queued, running and lately ended, newest first."},
    {CALL(GET, "/api/v1/jobs/{id}", "job", "jobs", VIEWER, INLINE, sta_api_job), .response = "job",
     .summary = "One job", .text = "Its state and progress."},
    {CALL(DELETE, "/api/v1/jobs/{id}", "cancel_job", "jobs", EDITOR, INLINE, sta_api_job_delete),
     .audit = "Cancellation of a job", .response = "job", .status = 202, .summary = "Cancel a job",
     .text = "Asks it to stop; a job that has ended stays as it is."},
    {.method = STA_GET,
     .path = "/api/v1/jobs/{id}/events",
     .id = "job_events",
     .tag = "jobs",
     .role = STA_ROLE_VIEWER,
     .place = STA_CUSTOM,
     .arrange = sta_api_job_events,
     .no_store = true,
     .content_type = "text/event-stream",
     .summary = "Follow a job",
     .text = "Server-sent events named progress, each with the job as its data, at every change; ends after "
             "the final state."},
    {CALL(GET, "/api/v1/presets", "presets", "presets", VIEWER, IO_TASK, sta_api_presets),
     .response = "presets", .summary = "Presets",
     .text =
         "All presets with layers, conditions and parents, and the files of your own that made no sense at "
         "a start and were renamed."},
    {CALL(GET, "/api/v1/presets/{name}", "preset", "presets", VIEWER, INLINE, sta_api_preset),
     .response = "preset", .summary = "One preset",
     .text = "Its layers, filters, refinement, logical views and metrics."},
    {CALL(PUT, "/api/v1/presets/{name}", "put_preset", "presets", EDITOR, IO_TASK, sta_api_preset_put),
     .audit = "Change of a preset", .body = "preset_text", .response = "preset", .other_status = 201,
     .summary = "Write a preset",
     .text = "A preset of your own, as YAML; one of a built-in name overrides it. Refused with the list of "
             "all its "
             "mistakes."},
    {CALL(DELETE, "/api/v1/presets/{name}", "delete_preset", "presets", EDITOR, IO_TASK,
          sta_api_preset_delete),
     .audit = "Deletion of a preset", .status = 204, .summary = "Delete a preset",
     .text = "One of your own; the built-in one that it overrode is in force again."},
    {VIEW(GET, "/api/v1/traces/{id}/presets/preview", "preset_preview", "presets", sta_view_preset_preview),
     .response = "preset_preview", .summary = "Try a preset",
     .text = "How many events of the trace each layer takes, and which functions no layer takes. Default: "
             "the trace's preset."},
    {VIEW(POST, "/api/v1/traces/{id}/presets/preview", "preset_preview_of_text", "presets",
          sta_view_preset_preview),
     .body = "preset_preview_text", .response = "preset_preview",
     .summary = "Try a preset that is being written",
     .text = "The same for a YAML text, or the list of all its mistakes. Nothing is kept."},
    {CALL(GET, "/api/v1/metrics", "metrics_explained", "views", VIEWER, INLINE, sta_api_metrics_explained),
     .response = "metrics", .summary = "Columns of layered tables",
     .text = "What each is: formula, unit, semantics, meaning."},
    {CALL(GET, "/api/v1/metrics/{name}", "metric_explained", "views", VIEWER, INLINE,
          sta_api_metric_explained),
     .response = "metric", .summary = "One column of layered tables",
     .text = "What it is under each semantics, with or without the layer before its name."},
    {CALL(GET, "/api/v1/language", "language", "queries", VIEWER, INLINE, sta_api_language),
     .response = "language", .summary = "The expression language",
     .text = "Functions, aggregates and methods with signature, meaning, and an example with its result; "
             "keywords and operators. What the parser knows, and no more."},
    {VIEW(GET, "/api/v1/traces/{id}/summary", "summary", "views", sta_view_summary), .response = "summary",
     .tabular = true, .summary = "Summary by layer",
     .text = "Totals of the trace and a row for each layer of the preset."},
    {VIEW(GET, "/api/v1/traces/{id}/hlm", "hlm", "views", sta_view_hlm), .response = "view", .tabular = true,
     .summary = "High-level metrics",
     .text = "Sums by view types, category, kind of I/O and function, of one layer or of all; "
             "semantics=compatible only."},
    {VIEW(GET, "/api/v1/traces/{id}/views/main", "view_main", "views", sta_view_main), .response = "view",
     .tabular = true, .summary = "Main view",
     .text = "A layer's sums by all view types together. Only semantics=compatible has it, which is the "
             "default here."},
    {VIEW(GET, "/api/v1/traces/{id}/views/layer", "view_layer", "views", sta_view_layer), .response = "view",
     .tabular = true, .summary = "Layer view",
     .text = "One layer, a row for each bin of time, process, file, .."},
    {VIEW(GET, "/api/v1/traces/{id}/views/flat", "view_flat", "views", sta_view_flat), .response = "view",
     .tabular = true, .summary = "Flat view",
     .text = "All layers side by side, a row for each bin of time, process, file, .."},
    {VIEW(GET, "/api/v1/traces/{id}/timeseries", "timeseries", "views", sta_view_timeseries),
     .parameters = STA_HAS(TIME_BASE), .response = "timeseries", .tabular = true, .summary = "Time series",
     .text = "Metrics of layers over time bins, or counters, for charts. from and to pick bins and change "
             "nothing "
             "of what is in them: an event that began before from counts in full, where other calls cut it."},
    {VIEW(GET, "/api/v1/traces/{id}/events", "events", "queries", sta_view_events),
     .parameters = STA_HAS(TIME_BASE), .response = "events", .tabular = true, .summary = "Events as they are",
     .text = "The rows of the trace, filtered, in the order of time or another, with the columns that are "
             "wanted."},
    {VIEW(GET, "/api/v1/traces/{id}/query", "query", "queries", sta_view_query),
     .parameters = STA_HAS(TIME_BASE), .response = "table", .tabular = true,
     .summary = "Run a query by parameters",
     .text = "Filter, derive, group, aggregate, order, next stage: the request as JSON in q, as plain "
             "parameters, or both."},
    {VIEW(POST, "/api/v1/traces/{id}/query", "query_post", "queries", sta_view_query),
     .parameters = STA_HAS(TIME_BASE), .body = "query", .response = "table", .tabular = true,
     .summary = "Run a query",
     .text = "Filter, derive, group, aggregate, order, next stage, as a JSON object. A query that takes "
             "more than a "
             "second is a job, and can be cancelled as one; so can it by closing the connection."},
    {VIEW(POST, "/api/v1/query", "query_traces", "queries", sta_view_query_traces), .body = "query_traces",
     .response = "table", .tabular = true, .summary = "Ask several traces",
     .text = "The same of the traces that the member traces names: a list of ids, or an object of ids by "
             "label. In a list, "
             "{\"tag\": \"nightly\"} and {\"name\": \"unet3d-*\"} stand for all traces with that tag, or "
             "such a name. With the "
             "member compare, a comparison to one of them."},
    {VIEW(GET, "/api/v1/compare", "compare", "views", sta_view_compare),
     .parameters = STA_HAS(TRACES) | STA_HAS(PRESET), .response = "comparison", .tabular = true,
     .summary = "Compare runs",
     .text = "A layered view of several traces, run by run under each key, and for each number x its "
             "x_baseline, x_delta = "
             "x - baseline and x_ratio = x / baseline. The preset of the baseline is that of all, unless one "
             "is named."},
    {CALL(GET, "/api/v1/queries", "saved_queries", "queries", VIEWER, IO_TASK, sta_api_queries),
     .response = "saved_queries", .summary = "Saved queries", .text = "All of them, by name."},
    {CALL(GET, "/api/v1/queries/{name}", "saved_query", "queries", VIEWER, IO_TASK, sta_api_saved),
     .response = "saved_query", .summary = "One saved query",
     .text = "Its text: a request as JSON, or whatever was saved."},
    {CALL(PUT, "/api/v1/queries/{name}", "save_query", "queries", EDITOR, IO_TASK, sta_api_saved_put),
     .audit = "Change of a saved query", .body = "saved_query_text", .response = "saved_query",
     .summary = "Save a query", .text = "Under this name, instead of what was there."},
    {CALL(DELETE, "/api/v1/queries/{name}", "delete_saved_query", "queries", EDITOR, IO_TASK,
          sta_api_saved_delete),
     .audit = "Deletion of a saved query", .status = 204, .summary = "Delete a saved query",
     .text = "Forgets it."},
    {VIEW(GET, "/api/v1/traces/{id}/columns", "columns", "queries", sta_view_columns), .response = "columns",
     .tabular = true, .summary = "Columns that a query may name",
     .text =
         "Type, unit, missing and distinct values, range, and the most frequent texts of every column of the "
         "trace's events."},
    {VIEW(GET, "/api/v1/traces/{id}/columns/{name}/values", "column_values", "queries",
          sta_view_column_values),
     .response = "column_values", .tabular = true, .summary = "Values of a column",
     .text = "The distinct values with their counts, most frequent first, for completion."},
    {VIEW(GET, "/api/v1/traces/{id}/overlap", "overlap_of_layers", "overlap", sta_view_overlap),
     .response = "overlap", .tabular = true, .summary = "Overlap of layers, or of sets",
     .text = OVERLAP_TEXT},
    {VIEW(POST, "/api/v1/traces/{id}/overlap", "overlap", "overlap", sta_view_overlap),
     .body = "overlap_request", .response = "overlap", .tabular = true, .summary = "Overlap of sets",
     .text = OVERLAP_TEXT},
    {VIEW(GET, "/api/v1/traces/{id}/findings", "findings", "findings", sta_view_findings),
     .response = "findings", .content_type = "text/markdown; charset=utf-8", .tabular = true,
     .summary = "Findings", .text = FINDINGS_TEXT},
    {VIEW(POST, "/api/v1/traces/{id}/findings/preview", "findings_preview", "findings",
          sta_view_findings_preview),
     .body = "rule_preview", .response = "finding", .summary = "Try a rule",
     .text = "The finding that a rule would give of the trace, or the place of its first mistake. Nothing is "
             "kept."},
    {VIEW(GET, "/api/v1/compare/findings", "compare_findings", "findings", sta_view_compare_findings),
     .response = "findings_comparison", .summary = "Compare the findings of two runs",
     .text = "Of two traces, the baseline first: which findings are new, gone, worse, better, the same; and "
             "the difference of the stall by cause."},
    {VIEW(GET, "/api/v1/traces/{id}/report.html", "run_report", "findings", sta_view_run_report),
     .content_type = "text/html; charset=utf-8", .summary = "Report in one file",
     .text = "Verdict, findings, where the time went, layers, steps, stragglers and ledger as one HTML file "
             "without external resources."},
    {CALL(GET, "/api/v1/findings/rules", "rules", "findings", VIEWER, INLINE, sta_api_rules),
     .response = "rules", .summary = "Rules", .text = "All of them, in the order of their files."},
    {CALL(GET, "/api/v1/findings/rules/{name}", "rule", "findings", VIEWER, INLINE, sta_api_rule),
     .response = "rule", .summary = "One rule", .text = "What it looks at, its thresholds and sentences."},
    {CALL(PUT, "/api/v1/findings/rules/{name}", "put_rule", "findings", EDITOR, IO_TASK, sta_api_rule_put),
     .audit = "Change of a rule", .body = "rule_text", .response = "rule", .other_status = 201,
     .summary = "Write a rule",
     .text = "A rule of your own, as YAML or as an object. Refused with the place of its first mistake."},
    {CALL(DELETE, "/api/v1/findings/rules/{name}", "delete_rule", "findings", EDITOR, IO_TASK,
          sta_api_rule_delete),
     .audit = "Deletion of a rule", .status = 204, .summary = "Delete a rule", .text = "One of your own."},
    {VIEW(GET, "/api/v1/traces/{id}/utilisation", "utilisation", "findings", sta_view_utilisation),
     .response = "utilisation", .tabular = true, .summary = "Utilisation of accelerators",
     .text = UTILISATION_TEXT},
    {VIEW(POST, "/api/v1/traces/{id}/stragglers", "stragglers", "findings", sta_view_stragglers),
     .body = "stragglers_request", .response = "stragglers", .tabular = true, .summary = "Stragglers",
     .text = STRAGGLERS_TEXT},
    {VIEW(GET, "/api/v1/traces/{id}/access", "access", "findings", sta_view_access), .response = "access",
     .tabular = true, .summary = "Access patterns", .text = ACCESS_TEXT},
    {VIEW(GET, "/api/v1/traces/{id}/overlap/intervals", "overlap_intervals_of_layers", "overlap",
          sta_view_overlap_intervals),
     .response = "overlap_intervals", .tabular = true, .summary = "Intervals of layers, or of sets",
     .text = OVERLAP_INTERVALS_TEXT},
    {VIEW(POST, "/api/v1/traces/{id}/overlap/intervals", "overlap_intervals", "overlap",
          sta_view_overlap_intervals),
     .body = "overlap_intervals_request", .response = "overlap_intervals", .tabular = true,
     .summary = "Intervals of sets", .text = OVERLAP_INTERVALS_TEXT},
    {VIEW(GET, "/api/v1/traces/{id}/overlap/page", "overlap_page", "overlap", sta_view_overlap_page),
     .content_type = "text/plain; charset=utf-8", .summary = "The page of DFTracer's analyser",
     .text = OVERLAP_PAGE_TEXT},
    {VIEW(GET, "/api/v1/traces/{id}/whatif", "whatif_of_parameters", "what if", sta_view_whatif),
     .response = "whatif", .tabular = true, .summary = "What if, by parameters", .text = WHATIF_TEXT},
    {VIEW(POST, "/api/v1/traces/{id}/whatif", "whatif", "what if", sta_view_whatif), .body = "whatif_request",
     .response = "whatif", .tabular = true, .summary = "What if", .text = WHATIF_TEXT},
    {VIEW(GET, "/api/v1/traces/{id}/whatif/align", "align_of_parameters", "what if", sta_view_align),
     .response = "table", .tabular = true, .summary = "Alignments of fetches, by parameters",
     .text = ALIGN_TEXT},
    {VIEW(POST, "/api/v1/traces/{id}/whatif/align", "align", "what if", sta_view_align),
     .body = "align_request", .response = "table", .tabular = true, .summary = "Alignments of fetches",
     .text = ALIGN_TEXT},
    {CALL(POST, "/api/v1/whatif/align", "align_log", "what if", VIEWER, IO_TASK, sta_api_align_log),
     .body = "align_log", .body_limit = UINT64_C(64) << 20, .response = "aligned_log",
     .summary = "Alignments of a log that is not registered",
     .text = "The same of the text of a training log and its sim_conf.json. Nothing is kept. "
             "The body may have 64 MiB."},
    {VIEW(GET, "/api/v1/traces/{id}/timeline/lanes", "timeline_lanes", "timeline", sta_view_timeline_lanes),
     .response = "table", .tabular = true, .summary = "Lanes", .text = TIMELINE_LANES_TEXT},
    {VIEW(POST, "/api/v1/traces/{id}/timeline/lanes", "timeline_lanes_post", "timeline",
          sta_view_timeline_lanes),
     .body = "timeline_request", .response = "table", .tabular = true, .summary = "Lanes",
     .text = TIMELINE_LANES_TEXT},
    {VIEW(GET, "/api/v1/traces/{id}/timeline/events", "timeline_events", "timeline",
          sta_view_timeline_events),
     .response = "timeline_events", .summary = "Events of a window", .text = TIMELINE_EVENTS_TEXT},
    {VIEW(POST, "/api/v1/traces/{id}/timeline/events", "timeline_events_post", "timeline",
          sta_view_timeline_events),
     .body = "timeline_request", .response = "timeline_events", .summary = "Events of a window",
     .text = TIMELINE_EVENTS_TEXT},
    {VIEW(GET, "/api/v1/traces/{id}/timeline/density", "timeline_density", "timeline",
          sta_view_timeline_density),
     .response = "timeline_density", .summary = "Density of lanes", .text = TIMELINE_DENSITY_TEXT},
    {VIEW(POST, "/api/v1/traces/{id}/timeline/density", "timeline_density_post", "timeline",
          sta_view_timeline_density),
     .body = "timeline_request", .response = "timeline_density", .summary = "Density of lanes",
     .text = TIMELINE_DENSITY_TEXT},
    {VIEW(GET, "/api/v1/traces/{id}/timeline/search", "timeline_search", "timeline",
          sta_view_timeline_search),
     .response = "timeline_search", .summary = "Find an event", .text = SEARCH_TEXT},
    {VIEW(POST, "/api/v1/traces/{id}/timeline/search", "timeline_search_post", "timeline",
          sta_view_timeline_search),
     .body = "timeline_request", .response = "timeline_search", .summary = "Find an event",
     .text = SEARCH_TEXT},
    {VIEW(GET, "/api/v1/traces/{id}/timeline/statistics", "timeline_statistics", "timeline",
          sta_view_timeline_statistics),
     .response = "timeline_table", .tabular = true, .summary = "Statistics of a window",
     .text = STATISTICS_TEXT},
    {VIEW(POST, "/api/v1/traces/{id}/timeline/statistics", "timeline_statistics_post", "timeline",
          sta_view_timeline_statistics),
     .body = "timeline_request", .response = "timeline_table", .tabular = true,
     .summary = "Statistics of a window", .text = STATISTICS_TEXT},
    {VIEW(GET, "/api/v1/traces/{id}/calltree", "calltree", "timeline", sta_view_call_tree),
     .response = "timeline_table", .tabular = true, .content_type = "text/plain; charset=utf-8",
     .summary = "Call tree", .text = CALL_TREE_TEXT},
    {VIEW(POST, "/api/v1/traces/{id}/calltree", "calltree_post", "timeline", sta_view_call_tree),
     .parameters = STA_HAS(CALL_TREE_FORMAT), .body = "timeline_request", .response = "timeline_table",
     .tabular = true, .content_type = "text/plain; charset=utf-8", .summary = "Call tree",
     .text = CALL_TREE_TEXT},
    {VIEW(GET, "/api/v1/traces/{id}/gaps", "gaps", "timeline", sta_view_gaps), .response = "timeline_table",
     .tabular = true, .summary = "Gaps", .text = GAPS_TEXT},
    {VIEW(POST, "/api/v1/traces/{id}/gaps", "gaps_post", "timeline", sta_view_gaps),
     .body = "timeline_request", .response = "timeline_table", .tabular = true, .summary = "Gaps",
     .text = GAPS_TEXT},
    {VIEW(GET, "/api/v1/traces/{id}/events/{event}", "event", "timeline", sta_view_timeline_event),
     .response = "timeline_event", .summary = "One event in its context",
     .text = "The event with all its columns, its parents, children, neighbours, and what ran beside it."},
    {VIEW(GET, "/api/v1/traces/{id}/dasf/{table}", "dasf", "dasf", sta_view_dasf), .response = "dasf",
     .tabular = true, .summary = "Tables of a Dask computation", .text = DASF_TEXT},
    {VIEW(GET, "/api/v1/traces/{id}/report", "report", "traces", sta_view_report), .response = "report",
     .summary = "Ingest report", .text = "The ledger: what became of every file, byte and line."},
};
const size_t sta_route_count = STA_COUNT_OF(sta_routes);

/* Those of a view: what it depends on, and how its response is given. */
static sta_parameter_set parameters_of_view(const struct sta_view_kind *view, enum sta_method method)
{
    sta_parameter_set set = STA_HAS(PARTIAL) | view->key_values;
    if (view->layered)
        set |= STA_HAS(PRESET);
    if (method == STA_GET)
        set |= view->document_values;
    if (view->result != NULL)
        set |= STA_HAS_PAGES;
    if (view->text_forms != NULL)
        set &= ~STA_HAS(FORMAT); /* the view has one with more words */
    if ((set & STA_HAS(OFFSETS)) != 0)
        set &= ~STA_HAS(ROW_OFFSET); /* they have one name */
    if (view->arranged)
        set |= STA_HAS_ORDER;
    return set | (view->explain != NULL ? STA_HAS(EXPLAIN) : 0);
}

sta_parameter_set sta_route_parameters(const struct sta_route *route)
{
    return route->parameters |
           (route->place == STA_QUESTION ? parameters_of_view(route->view, route->method) : 0);
}

const struct sta_route *sta_route_find(const char *path, enum sta_method method,
                                       struct sta_capture captures[STA_CAPTURES], unsigned *allowed)
{
    *allowed = 0;
    if (method == STA_HEAD)
        method = STA_GET;
    for (size_t i = 0; i < sta_route_count; i++) {
        if (!sta_path_match(sta_routes[i].path, path, captures))
            continue;
        if (sta_routes[i].method == method)
            return &sta_routes[i];
        *allowed |= 1u << sta_routes[i].method;
    }
    return NULL;
}

void sta_route_methods(unsigned allowed, char text[STA_METHODS_TEXT])
{
    size_t used = 0;
    if (allowed & 1u << STA_GET)
        allowed |= 1u << STA_HEAD;
    allowed |= 1u << STA_OPTIONS;
    for (enum sta_method method = STA_GET; method < STA_METHODS; method++)
        if (allowed & 1u << method)
            used += (size_t)snprintf(text + used, STA_METHODS_TEXT - used, "%s%s", used ? ", " : "",
                                     sta_method_name(method));
}
