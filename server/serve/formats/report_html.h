/* report_html.h - the pieces that a report in HTML is written of: its style, text, tables. */
#ifndef STA_SERVE_REPORT_HTML_H
#define STA_SERVE_REPORT_HTML_H

#include "common/buffer.h"
#include "common/table.h"

/** The style sheet: for light and dark screens of any width, and for paper. */
extern const char sta_html_style[];

/** Text with the characters of markup escaped. */
void sta_html_text(struct sta_buffer *out, const char *text);
/** The colour of the cause of this number. */
const char *sta_html_color(size_t number);
/** At most @most rows, and how many there are; seconds and bytes are written as in sentences.  Nothing for an
 * empty table.  @labels: of the columns, NULL: their names.  @colored: each row begins with its colour. */
void sta_html_table(struct sta_buffer *out, const struct sta_table *table, size_t most,
                    const char *const *labels, bool colored);

#endif
