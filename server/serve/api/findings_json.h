/* findings_json.h - findings as JSON. */
#ifndef STA_SERVE_FINDINGS_JSON_H
#define STA_SERVE_FINDINGS_JSON_H

#include "serve/responses/views.h"
#include "findings/findings.h"

/** An object. */
void sta_put_finding(struct sta_buffer *out, const struct sta_finding *finding);
/** @figure: NULL: null */
void sta_put_member_figure(struct sta_buffer *out, const char *name, const struct sta_figure *figure);
/** The findings of one of the view's traces, kept as a result: release it.  Context: the view's compute. */
STA_MUSTCHECK int sta_view_make_findings(struct sta_view *view, size_t trace, const struct sta_budget *budget,
                                         struct sta_result **result,
                                         const struct sta_findings_result **findings, struct sta_error *err);
/** `check` of kinds whose parameters are those of findings. */
STA_MUSTCHECK int sta_view_check_findings(struct sta_view *view, struct sta_error *err);
#define STA_FINDINGS_VALUES (STA_HAS(PRESET) | STA_HAS(FROM) | STA_HAS(TO) | STA_HAS(FILTER) | STA_HAS(GOAL))

#endif
