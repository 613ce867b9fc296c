/* Text and tables of a report in HTML.  A wide table scrolls in a box of its own on a screen; on paper its
 * type is smaller and its words break, because it cannot scroll there. */
#include "serve/formats/report_html.h"

#include <string.h>

#include "analyse/analyse.h"
#include "findings/findings.h"

const char sta_html_style[] =
    ":root{color-scheme:light dark;--line:#8884;--soft:#8882;--critical:#c62828;--warning:#b26a00;"
    "--info:#1565c0;--ok:#2e7d32;--na:#666}"
    "@media screen and (prefers-color-scheme:dark){:root{--critical:#ff7a70;--warning:#ffb74d;"
    "--info:#7cb7ff;--ok:#81c784;--na:#aaa}}"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;"
    "overflow-wrap:anywhere}"
    "h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem;border-bottom:1px solid var(--line)}"
    ".t{overflow-x:auto}table{border-collapse:collapse;margin:.5rem 0;font-size:.9rem;overflow-wrap:normal}"
    "th,td{padding:.15rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}"
    ".n{text-align:right;font-variant-numeric:tabular-nums}td.n{white-space:nowrap}"
    ".k{display:inline-block;width:.8em;height:.8em;margin-right:.5em;"
    "background:var(--c);outline:1px solid var(--line)}"
    ".f{margin:.9rem 0;padding-left:.8rem;border-left:4px solid var(--na)}.f p{margin:.2rem 0}"
    ".f ul{margin:.2rem 0}"
    ".critical{border-color:var(--critical)}.warning{border-color:var(--warning)}"
    ".info{border-color:var(--info)}.ok{border-color:var(--ok)}.s{color:var(--na);font-size:.85rem}"
    ".bar{display:flex;height:1.4rem;margin:.5rem 0;background:var(--soft)}"
    ".bar i{display:block;height:100%}svg{display:block}"
    "@page{margin:14mm}"
    "@media print{:root{color-scheme:light}body{font-size:10pt;margin:0;padding:0;max-width:none}"
    ".t{overflow:visible}table{font-size:7pt}td{overflow-wrap:anywhere}th,td{padding:1px 3px}"
    "thead{display:table-header-group}tr,svg,.bar,.f>p{break-inside:avoid}"
    "h2,.f>p:not(.s){break-after:avoid}.ok>p,.na>p{break-after:auto!important}"
    ".bar i,.k,svg{-webkit-print-color-adjust:exact;print-color-adjust:exact}}";

static const char *const colors[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00",
                                     "#7b3294", "#9e8b00", "#546e7a", "#8f3a00", "#4d9221"};

const char *sta_html_color(size_t number)
{
    return colors[number % STA_COUNT_OF(colors)];
}

void sta_html_text(struct sta_buffer *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '<')
            sta_put_text(out, "&lt;");
        else if (*text == '>')
            sta_put_text(out, "&gt;");
        else if (*text == '&')
            sta_put_text(out, "&amp;");
        else if (*text == '"')
            sta_put_text(out, "&quot;");
        else
            sta_put_char(out, *text);
    }
}

/* ---- tables */

/* Whether the unit is one that sentences write for readers: 12.3 s, 4.5 MiB. */
static bool is_written(const char *unit)
{
    return unit != NULL && (strcmp(unit, "s") == 0 || strcmp(unit, "B") == 0 || strcmp(unit, "B/s") == 0);
}

/* Whether the column holds parts of a whole: sentences write those in percent. */
static bool is_share(const char *name)
{
    return strcmp(name, "share") == 0 || strcmp(name, "au") == 0 || strcmp(name, "au_dlio") == 0;
}

static void put_number(struct sta_buffer *out, const struct sta_table_column *column, size_t row)
{
    const bool whole = column->integers != NULL;
    const double number = whole ? (double)column->integers[row] : column->numbers[row];
    const char *unit = is_share(column->name) ? "%" : column->unit;
    if (is_share(column->name) || (is_written(unit) && number != 0)) {
        const struct sta_figure figure = {.type = STA_TYPE_FLOAT, .number = number};
        sta_figure_put(&figure, unit, strlen(unit), out);
    } else if (whole) {
        sta_put_int(out, column->integers[row]);
    } else {
        sta_put_format(out, "%.4g", number);
    }
}

static void put_cell(struct sta_buffer *out, const struct sta_table_column *column, size_t row,
                     const char *color)
{
    const bool number = column->texts == NULL;
    sta_put_text(out, number ? "<td class=n>" : "<td>");
    if (color != NULL)
        sta_put_format(out, "<i class=k style=\"--c:%s\"></i>", color);
    if (column->missing[row])
        sta_put_text(out, "");
    else if (!number)
        sta_html_text(out, column->texts[row].bytes);
    else if (column->type == STA_TYPE_BOOL)
        sta_put_text(out, column->integers[row] != 0 ? "yes" : "no");
    else
        put_number(out, column, row);
    sta_put_text(out, "</td>");
}

/* A column's name as words. */
static void put_words(struct sta_buffer *out, const char *name)
{
    for (; *name != '\0'; name++)
        sta_put_char(out, *name == '_' ? ' ' : *name);
}

static void put_heading(struct sta_buffer *out, const struct sta_table_column *column, const char *label)
{
    sta_put_text(out, column->texts == NULL ? "<th class=n>" : "<th>");
    if (label != NULL)
        sta_html_text(out, label);
    else
        put_words(out, column->name);
    if (column->unit != NULL && !is_written(column->unit))
        sta_put_format(out, " (%s)", column->unit);
    sta_put_text(out, "</th>");
}

void sta_html_table(struct sta_buffer *out, const struct sta_table *table, size_t most,
                    const char *const *labels, bool colored)
{
    if (table->column_count == 0 || table->rows == 0)
        return;
    sta_put_text(out, "<div class=t><table><thead><tr>");
    for (size_t c = 0; c < table->column_count; c++)
        put_heading(out, &table->columns[c], labels != NULL ? labels[c] : NULL);
    sta_put_text(out, "</tr></thead><tbody>\n");
    for (size_t row = 0; row < table->rows && row < most; row++) {
        sta_put_text(out, "<tr>");
        for (size_t c = 0; c < table->column_count; c++)
            put_cell(out, &table->columns[c], row, colored && c == 0 ? sta_html_color(row) : NULL);
        sta_put_text(out, "</tr>\n");
    }
    sta_put_text(out, "</tbody></table></div>\n");
    if (table->rows > most)
        sta_put_format(out, "<p class=s>The first %zu of %zu rows.</p>\n", most, table->rows);
}
