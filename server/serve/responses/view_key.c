/* The key of a query: equal for all who ask the same. */
#include <string.h>
#include <xxhash.h>

#include "common/build_id.h"
#include "serve/formats/document_json.h"
#include "serve/responses/views.h"

static void put_value(struct sta_buffer *key, unsigned parameter, const struct sta_parameter_value *value)
{
    sta_put_format(key, "\n%u ", parameter);
    if (sta_parameters[parameter].type == STA_PARAMETER_SECONDS ||
        sta_parameters[parameter].type == STA_PARAMETER_NUMBER)
        sta_put_double(key, value->number);
    else if (sta_parameters[parameter].type == STA_PARAMETER_WIDTH ||
             sta_parameters[parameter].type == STA_PARAMETER_COUNT)
        sta_put_int(key, value->integer);
    else
        sta_put_text(key, value->text);
}

static void put_names(struct sta_buffer *key, const struct sta_name_list *list)
{
    sta_put_char(key, '\n');
    for (size_t i = 0; i < list->count; i++)
        sta_put_block(key, list->names[i], strlen(list->names[i]));
}

/* A canonical form: the same query asked in different words has the same key.  What is asked comes first,
 * then of which versions, in which order and columns, and at last which page: each beginning of the key names
 * what pages have in common. */
static void put_key(struct sta_view *view)
{
    struct sta_buffer *key = &view->key;
    sta_put_format(key, "%s %s %s", view->kind->name, view->preset, view->part);
    for (size_t i = 0; i < view->trace_count; i++) {
        sta_put_format(key, "\n%s ", view->traces[i].id);
        if (view->traces[i].label != NULL)
            sta_put_block(key, view->traces[i].label, strlen(view->traces[i].label));
    }
    for (unsigned i = 0; i < STA_PARAMETERS; i++)
        if (view->kind->key_values >> i & 1 && view->values[i].text != NULL)
            put_value(key, i, &view->values[i]);
    if (view->document != NULL)
        sta_put_request(key, view->document);
    view->identity_size = key->size;
    sta_put_u64(key, sta_presets_fingerprint(view->presets));
    sta_put_text(key, sta_build_id()); /* tags made of the key outlive the program, in browsers */
    for (size_t i = 0; i < view->trace_count; i++) {
        sta_put_u64(key, sta_snapshot_info(view->traces[i].snapshot)->version);
        sta_put_u64(key, sta_snapshot_info(view->traces[i].snapshot)->damaged);
    }
    view->rows_size = key->size;
    put_names(key, &view->order);
    put_names(key, &view->columns);
    view->order_size = key->size;
    sta_put_format(key, "\n%s %d %d %d %llu %llu %s", view->text_form != NULL ? view->text_form : "",
                   (int)view->page.format, (int)view->page.absolute, (int)view->page.has_limit,
                   (unsigned long long)view->page.limit, (unsigned long long)view->page.offset,
                   view->page.cursor != NULL ? view->page.cursor : "");
}

static void make_subject(struct sta_view *view)
{
    const char *key = view->key.data;
    view->page.subject = (struct sta_token_subject){
        .request = XXH3_64bits_withSeed(key + view->rows_size, view->order_size - view->rows_size,
                                        XXH3_64bits(key, view->identity_size)),
        .data = XXH3_64bits(key + view->identity_size, view->rows_size - view->identity_size),
    };
}

void sta_view_make_key(struct sta_view *view)
{
    put_key(view);
    make_subject(view);
}
