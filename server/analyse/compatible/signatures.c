/* Signatures of events. */
#include "analyse/compatible/signatures.h"

#include "common/buffer.h"
#include "common/memory.h"

void sta_signatures_init(struct sta_signatures *signatures, const struct sta_bound_query *bound,
                         const struct sta_hlm_options *options, struct sta_account *account)
{
    *signatures = (struct sta_signatures){
        .bound = bound, .options = options, .account = account, .texts = sta_dictionary_create_in(account)};
    uv_mutex_init(&signatures->lock);
}

void sta_signatures_fini(struct sta_signatures *signatures)
{
    sta_dictionary_destroy(signatures->texts);
    sta_account_free(signatures->account, signatures->items);
    uv_mutex_destroy(&signatures->lock);
}

/* ---- as texts */

/* So that no text is the beginning of another: ends with two zeros, where a zero inside is 0 1. */
static void put_ordered(struct sta_buffer *out, struct sta_text text)
{
    for (uint32_t i = 0; i < text.length; i++) {
        sta_put_char(out, text.bytes[i]);
        if (text.bytes[i] == '\0')
            sta_put_char(out, '\1');
    }
    sta_put(out, "\0", 2);
}

static int find(struct sta_signatures *signatures, const struct sta_signature *signature, uint32_t *code,
                struct sta_error *err)
{
    struct sta_buffer text;
    int rc = STA_OK;
    sta_buffer_init(&text);
    put_ordered(&text, signature->cat);
    sta_put_char(&text, (char)signature->io_cat);
    put_ordered(&text, signature->func);
    sta_put(&text, signature->class.members, sizeof signature->class.members);
    if (text.failed)
        rc = sta_fail(err, STA_ENOMEM, "no memory for the name of a function");
    uv_mutex_lock(&signatures->lock);
    if (rc == 0)
        rc = STA_ACCOUNT_GROW(signatures->account, signatures->items, signatures->capacity,
                              signatures->count + 1, "functions and categories", err);
    if (rc == 0)
        *code = sta_dictionary_intern(signatures->texts, text.data, text.size);
    if (rc == 0 && *code == signatures->count)
        signatures->items[signatures->count++] = *signature;
    uv_mutex_unlock(&signatures->lock);
    sta_buffer_fini(&text);
    return rc;
}

/* ---- of a class */

static bool takes(const struct sta_signatures *signatures, const struct sta_class *class)
{
    const struct sta_hlm_options *options = signatures->options;
    if (class->fate != STA_FATE_KEPT)
        return false;
    if (options->layer != STA_NO_LAYER)
        return sta_class_has(class, options->layer);
    for (uint32_t l = 0; l < signatures->bound->preset->layer_count; l++)
        if (sta_class_has(class, l))
            return true;
    return options->unmatched;
}

/* Whether someone looks at the sizes and files of a class. */
static bool shows(const struct sta_signatures *signatures, const struct sta_class *class)
{
    const struct sta_hlm_options *options = signatures->options;
    const struct sta_preset *preset = signatures->bound->preset;
    bool any = options->all_members;
    for (uint32_t l = 0; l < preset->layer_count; l++)
        any |= sta_layer_has_files(&preset->layers[l]) &&
               (options->layer == STA_NO_LAYER || options->layer == l) && sta_class_has(class, l);
    return any;
}

static struct sta_text text_of(const struct sta_signatures *signatures, enum sta_logical column,
                               uint32_t code)
{
    return sta_dictionary_text(sta_columns_texts(signatures->bound->columns, column), code);
}

/* @cat: as traced; that of the class is refined. */
static uint8_t io_cat_of(const struct sta_signatures *signatures, struct sta_text name, uint32_t cat)
{
    const struct sta_view_query *query = signatures->bound->query;
    struct sta_text text = sta_dictionary_text(sta_tables_cats(sta_snapshot_tables(query->snapshot)), cat);
    if (!sta_presets_is_io_category(query->presets, text.bytes, text.length))
        return STA_IO_OTHER;
    return (uint8_t)sta_presets_io_cat(query->presets, name.bytes, name.length);
}

/* ---- combinations */

void sta_combinations_init(struct sta_combinations *combinations, struct sta_account *account)
{
    *combinations = (struct sta_combinations){0};
    sta_composite_map_init(&combinations->numbers, account);
}

void sta_combinations_fini(struct sta_combinations *combinations, struct sta_account *account)
{
    sta_composite_map_fini(&combinations->numbers);
    sta_account_free(account, combinations->items);
}

int sta_combinations_add(struct sta_combinations *combinations, struct sta_signatures *signatures,
                         uint32_t name, uint32_t cat, uint32_t code, struct sta_error *err)
{
    struct sta_signature signature = {.class = sta_classes_get(signatures->bound->classes, code)};
    const struct sta_class *class = &signature.class;
    struct sta_combination fresh = {.class = code, .name = name, .cat = cat, .signature = STA_NO_CODE};
    int rc = STA_ACCOUNT_GROW(signatures->account, combinations->items, combinations->capacity,
                              combinations->count + 1, "functions and categories", err);
    if (rc == 0 && name != STA_NO_CODE && class->cat != STA_NO_CODE && takes(signatures, class)) {
        signature.cat = text_of(signatures, STA_LOGICAL_cat, class->cat);
        signature.func = text_of(signatures, STA_LOGICAL_func_name, name);
        signature.io_cat = cat != STA_NO_CODE ? io_cat_of(signatures, signature.func, cat) : STA_IO_OTHER;
        fresh.shown = shows(signatures, class);
        rc = find(signatures, &signature, &fresh.signature, err);
    }
    if (rc == 0)
        rc = sta_composite_map_add(&combinations->numbers, name, cat, code, (uint32_t)combinations->count,
                                   err);
    if (rc == 0)
        combinations->items[combinations->count++] = fresh;
    return rc;
}
