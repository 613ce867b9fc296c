/* Columns of integers, and the texts that they are indexes of. */
#include "serve/api/timeline_columns.h"

#include "serve/api/response.h"
#include "timeline/timeline.h"

void sta_put_text_value(struct sta_buffer *out, struct sta_text text)
{
    if (text.bytes == NULL)
        sta_put_text(out, "null");
    else
        sta_put_json_text(out, text.bytes);
}

static void put_texts(struct sta_buffer *out, const char *name, const struct sta_text *texts, size_t count)
{
    sta_begin_list(out, name);
    for (size_t i = 0; i < count; i++) {
        sta_put_text(out, i > 0 ? "," : "");
        sta_put_text_value(out, texts[i]);
    }
    sta_put_char(out, ']');
}

static void put_integers(struct sta_buffer *out, const char *name, const int64_t *items, size_t count)
{
    sta_begin_list(out, name);
    for (size_t i = 0; i < count; i++) {
        sta_put_text(out, i > 0 ? "," : "");
        sta_put_int(out, items[i]);
    }
    sta_put_char(out, ']');
}

static void put_lanes(struct sta_buffer *out, const struct sta_timeline_columns *columns)
{
    sta_begin_list(out, "lanes");
    for (size_t i = 0; i < columns->lane_count; i++) {
        sta_put_text(out, i > 0 ? ",{" : "{");
        sta_put_member(out, "id");
        sta_put_text_value(out, columns->lanes[i]);
        sta_put_member(out, columns->of_density ? "threads" : "rows");
        sta_put_int(out, columns->lane_figures[i]);
        sta_put_char(out, '}');
    }
    sta_put_char(out, ']');
}

static void put_group(struct sta_buffer *out, const char *name, const struct sta_timeline_columns *columns,
                      size_t group)
{
    sta_begin_object(out, name);
    for (size_t c = 0; columns->names[group][c] != NULL; c++)
        put_integers(out, columns->names[group][c], columns->columns[group][c].items,
                     columns->columns[group][c].count);
    sta_put_char(out, '}');
}

static void put_head(struct sta_buffer *out, const struct sta_timeline_columns *columns)
{
    sta_put_char(out, '{');
    sta_put_member(out, "ticks_per_second");
    sta_put_int(out, columns->ticks_per_second);
    sta_put_member(out, "origin_ns");
    sta_put_char(out, '"');
    sta_put_wide(out, columns->origin_ns);
    sta_put_char(out, '"');
    sta_put_member(out, "from");
    sta_put_int(out, columns->from);
    sta_put_member(out, "to");
    sta_put_int(out, columns->to);
    sta_put_member(out, "resolution");
    sta_put_int(out, columns->resolution);
    put_lanes(out, columns);
}

static void put_layer_colors(struct sta_buffer *out, const struct sta_timeline_columns *columns)
{
    sta_begin_list(out, "label_colors");
    for (size_t i = 0; i < columns->layer_count; i++)
        sta_put_format(out, "%s%zu", i > 0 ? "," : "", i);
    sta_put_char(out, ']');
}

void sta_put_timeline_events(struct sta_buffer *out, const struct sta_timeline_columns *columns)
{
    put_head(out, columns);
    put_texts(out, "names", columns->labels, columns->label_count);
    put_texts(out, "categories", columns->categories, columns->category_count);
    sta_put_member_texts(out, "layers", columns->layers, columns->layer_count);
    put_integers(out, "name_colors", columns->label_colors, columns->label_count);
    put_integers(out, "category_colors", columns->category_colors, columns->category_count);
    put_group(out, "events", columns, 0);
    put_group(out, "blocks", columns, 1);
    sta_put_char(out, '}');
}

void sta_put_timeline_density(struct sta_buffer *out, const struct sta_timeline_columns *columns)
{
    put_head(out, columns);
    if (columns->by_layer) {
        sta_put_member_texts(out, "labels", columns->layers, columns->layer_count);
        put_layer_colors(out, columns);
    } else {
        put_texts(out, "labels", columns->labels, columns->label_count);
        put_integers(out, "label_colors", columns->label_colors, columns->label_count);
    }
    put_group(out, "cells", columns, 0);
    sta_put_char(out, '}');
}
