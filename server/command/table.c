/* Tables of a few thousand rows at most: widths are those of what is shown. */
#include "server/command/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "common/buffer.h"
#include "common/memory.h"
#include "common/number.h"
#include "server/command/command.h"

#define GAP 2         /* blanks between columns */
#define LEAST_TEXT 20 /* a text is cut to no less */

struct column {
    const char *name;
    size_t index; /* in the rows */
    char *heading;
    char **cells;
    size_t width; /* cells of the terminal */
    bool numeric, omitted;
};

struct grid {
    struct column *columns;
    size_t column_count, row_count;
};

/* ---- values as text */

/* Six digits suffice to read a number; CSV and JSON have all. */
static void put_real(struct sta_buffer *out, double value)
{
    if (fabs(value) >= 1e6 && fabs(value) < 1e15)
        sta_put_format(out, "%.0f", value);
    else
        sta_put_format(out, "%.6g", value);
}

/* Text that moves no cursor. */
static void put_harmless(struct sta_buffer *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        sta_put_char(out, ((unsigned char)*c < 0x20 || *c == 0x7f) ? '?' : *c);
}

static char *cell_text(const json_t *value)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    if (json_is_string(value)) {
        put_harmless(&out, json_string_value(value));
    } else if (json_is_real(value)) {
        put_real(&out, json_real_value(value));
    } else if (value != NULL && !json_is_null(value)) {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        put_harmless(&out, text);
        free(text);
    } else {
        sta_put_char(&out, '-');
    }
    return sta_buffer_take_text(&out);
}

/* Bytes of the character at @at, and how many cells it takes. */
static size_t next_character(const char *at, size_t *cells)
{
    wchar_t wide;
    mbstate_t state = {0};
    size_t length = mbrtowc(&wide, at, strlen(at), &state);
    if (length == 0 || length > 8) {
        *cells = 1;
        return 1;
    }
    int width = wcwidth(wide);
    *cells = width < 0 ? 1 : (size_t)width;
    return length;
}

static size_t text_width(const char *text)
{
    size_t width = 0, cells;
    for (const char *at = text; *at != '\0';) {
        at += next_character(at, &cells);
        width += cells;
    }
    return width;
}

/* ---- which columns, and how wide */

static bool is_shown(const char *shown, const char *name)
{
    return shown == NULL || sta_list_has(shown, name);
}

/* What metrics are called where people read them; members of the API keep their names. */
static const char *words_of(const char *name)
{
    static const char *const words[][2] = {{"time", "call time"},
                                           {"time_delta", "more call time"},
                                           {"time_ratio", "times the call time"},
                                           {"busy", "wall time"},
                                           {"busy_ratio", "times the wall time"},
                                           {"bw_busy", "aggregate bandwidth"},
                                           {"exposed_group_sum", "not overlapped"},
                                           {"hidden_share", "overlapped"}};
    for (size_t i = 0; i < STA_COUNT_OF(words); i++)
        if (strcmp(words[i][0], name) == 0)
            return words[i][1];
    return name;
}

/* @named: whoever asks has named the columns, which stay as they are. */
static void fill_column(struct column *column, const json_t *units, const json_t *rows, bool named)
{
    const char *unit = json_string_value(json_object_get(units, column->name));
    size_t row;
    json_t *values;
    struct sta_buffer heading;
    sta_buffer_init(&heading);
    put_harmless(&heading, named ? column->name : words_of(column->name));
    if (unit != NULL)
        sta_put_format(&heading, " (%s)", unit);
    column->heading = sta_buffer_take_text(&heading);
    column->width = text_width(column->heading);
    column->cells = sta_alloc_array(json_array_size(rows) + 1, sizeof *column->cells);
    bool texts = false, numbers = false;
    json_array_foreach(rows, row, values)
    {
        const json_t *value = json_array_get(values, column->index);
        texts = texts || json_is_string(value);
        numbers = numbers || json_is_number(value);
        column->cells[row] = cell_text(value);
        column->width = STA_MAX(column->width, text_width(column->cells[row]));
    }
    column->numeric = numbers && !texts;
}

static size_t total_width(const struct grid *grid)
{
    size_t width = 0;
    for (size_t i = 0; i < grid->column_count; i++)
        if (!grid->columns[i].omitted)
            width += grid->columns[i].width + (width > 0 ? GAP : 0);
    return width;
}

static size_t terminal_width(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    long width = columns != NULL ? strtol(columns, NULL, 10) : 0;
    return width > 0 ? (size_t)width : 80;
}

/* Cuts the widest texts; then leaves out columns from the right, but for the first. */
static void fit(struct grid *grid, size_t width)
{
    while (total_width(grid) > width) {
        struct column *widest = NULL;
        for (size_t i = 0; i < grid->column_count; i++) {
            struct column *column = &grid->columns[i];
            if (!column->numeric && column->width > LEAST_TEXT &&
                (widest == NULL || column->width > widest->width))
                widest = column;
        }
        if (widest == NULL)
            break;
        widest->width--;
    }
    for (size_t i = grid->column_count; i-- > 1 && total_width(grid) > width;)
        grid->columns[i].omitted = true;
}

/* ---- output */

static void put_blanks(size_t count)
{
    printf("%*s", (int)count, "");
}

/* The first @width cells of a text.  Return: behind them. */
static const char *put_cells(const char *at, size_t width)
{
    size_t cells, used = 0;
    while (*at != '\0') {
        size_t bytes = next_character(at, &cells);
        if (used + cells > width)
            break;
        fwrite(at, 1, bytes, stdout);
        at += bytes;
        used += cells;
    }
    put_blanks(width - used);
    return at;
}

/* A text that is too wide keeps its beginning and its end. */
static void put_cut(const char *text, size_t width)
{
    size_t all = text_width(text), tail = (width - 1) / 2, skipped = 0, cells;
    const char *end = text;
    while (skipped < all - tail && *end != '\0') {
        end += next_character(end, &cells);
        skipped += cells;
    }
    put_cells(text, width - 1 - tail);
    fputs("\xe2\x80\xa6", stdout);
    put_cells(end, tail);
}

static void put_cell(const char *text, const struct column *column, bool last)
{
    size_t width = text_width(text);
    if (width > column->width)
        put_cut(text, column->width);
    else if (column->numeric) {
        put_blanks(column->width - width);
        fputs(text, stdout);
    } else {
        fputs(text, stdout);
        if (!last)
            put_blanks(column->width - width);
    }
}

/* @row: SIZE_MAX: the heading. */
static void put_row(const struct grid *grid, size_t row)
{
    size_t last = grid->column_count;
    while (last > 1 && grid->columns[last - 1].omitted)
        last--;
    for (size_t i = 0; i < last; i++) {
        const struct column *column = &grid->columns[i];
        if (column->omitted)
            continue;
        if (i > 0)
            put_blanks(GAP);
        put_cell(row == SIZE_MAX ? column->heading : column->cells[row], column, i + 1 == last);
    }
    putchar('\n');
}

static void say_omitted(const struct grid *grid)
{
    size_t count = 0;
    for (size_t i = 0; i < grid->column_count; i++)
        count += grid->columns[i].omitted;
    if (count == 0)
        return;
    fflush(stdout);
    fprintf(stderr, "not shown, the terminal is too narrow:");
    for (size_t i = 0; i < grid->column_count; i++)
        if (grid->columns[i].omitted)
            fprintf(stderr, " %s", grid->columns[i].name);
    fprintf(stderr, "; --csv has all\n");
}

static void free_grid(struct grid *grid)
{
    for (size_t i = 0; i < grid->column_count; i++) {
        for (size_t row = 0; row < grid->row_count; row++)
            free(grid->columns[i].cells[row]);
        free(grid->columns[i].cells);
        free(grid->columns[i].heading);
    }
    free(grid->columns);
}

void sta_table_print(const json_t *columns, const json_t *units, const json_t *rows, const char *shown)
{
    struct grid grid = {.row_count = json_array_size(rows)};
    size_t index;
    json_t *name;
    grid.columns = sta_alloc_array(json_array_size(columns) + 1, sizeof *grid.columns);
    json_array_foreach(columns, index, name)
    {
        if (!is_shown(shown, json_string_value(name)))
            continue;
        struct column *column = &grid.columns[grid.column_count++];
        *column = (struct column){.name = json_string_value(name), .index = index};
        fill_column(column, units, rows, shown == NULL);
    }
    if (grid.column_count > 0) {
        fit(&grid, terminal_width());
        put_row(&grid, SIZE_MAX);
        for (size_t row = 0; row < grid.row_count; row++)
            put_row(&grid, row);
        say_omitted(&grid);
    }
    free_grid(&grid);
}

static void put_csv(struct sta_buffer *out, const json_t *value)
{
    char *text;
    if (json_is_string(value)) {
        sta_put_csv_text(out, json_string_value(value), json_string_length(value));
    } else if (json_is_real(value)) {
        sta_put_double(out, json_real_value(value));
    } else if (value != NULL && !json_is_null(value)) {
        text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        sta_put_csv_text(out, text, strlen(text));
        free(text);
    }
}

static void put_csv_row(struct sta_buffer *out, const json_t *values)
{
    size_t index;
    json_t *value;
    json_array_foreach(values, index, value)
    {
        sta_put_text(out, index > 0 ? "," : "");
        put_csv(out, value);
    }
    sta_put_text(out, "\r\n"); /* as the daemon ends its lines */
}

void sta_table_print_csv(const json_t *columns, const json_t *rows)
{
    struct sta_buffer out;
    size_t index;
    json_t *values;
    sta_buffer_init(&out);
    put_csv_row(&out, columns);
    json_array_foreach(rows, index, values) put_csv_row(&out, values);
    fwrite(out.data, 1, out.size, stdout);
    sta_buffer_fini(&out);
}
