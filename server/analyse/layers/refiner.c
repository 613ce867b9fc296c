/* File classes and refined categories. */
#include <stdlib.h>
#include <string.h>

#include "analyse/layers/preset_build.h"
#include "analyse/layers/refiner.h"
#include "common/buffer.h"
#include "common/memory.h"

_Static_assert(STA_REFINEMENT_LIMIT <= 14, "refinements are bits 1 .. 14 of a file class");

static bool contains(struct sta_text text, const char *part)
{
    return memmem(text.bytes, text.length, part, strlen(part)) != NULL;
}

static bool is_refinable(const struct sta_preset *preset, struct sta_text cat)
{
    for (size_t i = 0; i < preset->refine_category_count; i++) {
        if (contains(cat, preset->refine_categories[i]))
            return true;
    }
    return false;
}

/* The categories of the trace first, so that a category that nothing refines keeps its code. */
static int copy_cats(struct sta_refiner *refiner, const struct sta_dictionary *cats, struct sta_error *err)
{
    refiner->cat_count = sta_dictionary_count(cats);
    refiner->refinable = sta_account_alloc(refiner->account, refiner->cat_count, 1, "categories", err);
    if (refiner->refinable == NULL)
        return err->status;
    for (uint32_t code = 0; code < refiner->cat_count; code++) {
        struct sta_text text = sta_dictionary_text(cats, code);
        uint32_t copy = sta_dictionary_intern(refiner->cats, text.bytes, text.length);
        if (copy != code)
            return sta_account_failure(refiner->account, err);
        refiner->refinable[code] = is_refinable(refiner->preset, text);
    }
    return STA_OK;
}

int sta_refiner_create(const struct sta_preset *preset, const struct sta_snapshot *snapshot,
                       struct sta_account *account, struct sta_refiner **refiner, struct sta_error *err)
{
    const struct sta_entities *entities = sta_snapshot_entities(snapshot);
    struct sta_refiner *fresh = sta_alloc(sizeof *fresh);
    *fresh = (struct sta_refiner){.preset = preset, .entities = entities, .account = account};
    fresh->file_classes = sta_account_calloc(account, (size_t)entities->file_ref_count + 1,
                                             sizeof *fresh->file_classes, "the classes of files", err);
    if (fresh->file_classes != NULL)
        fresh->file_classes[0] = STA_FILE_CLASS_NONE;
    fresh->cats = sta_dictionary_create_in(account);
    int status = fresh->file_classes != NULL
                     ? copy_cats(fresh, sta_tables_cats(sta_snapshot_tables(snapshot)), err)
                     : err->status;
    if (status != STA_OK) {
        sta_refiner_destroy(fresh);
        fresh = NULL;
    }
    *refiner = fresh;
    return status;
}

void sta_refiner_destroy(struct sta_refiner *refiner)
{
    if (refiner == NULL)
        return;
    sta_dictionary_destroy(refiner->cats);
    sta_account_free(refiner->account, refiner->refinable);
    sta_account_free(refiner->account, (void *)refiner->file_classes);
    free(refiner);
}

static uint32_t examine_text(const struct sta_preset *preset, struct sta_text file)
{
    uint32_t class = STA_FILE_CLASS_NONE;
    for (size_t i = 0; i < preset->refinement_count; i++)
        class |= (uint32_t)contains(file, preset->refinements[i].contains) << (i + 1);
    for (size_t i = 0; i < preset->drop_file_count; i++) {
        if (contains(file, preset->drop_files[i]))
            return class | STA_FILE_CLASS_DROPPED;
    }
    return class;
}

uint32_t sta_refiner_examine(struct sta_refiner *refiner, uint32_t ref)
{
    uint32_t file = refiner->entities->file_of_ref[ref];
    uint32_t class = file == STA_NO_CODE
                         ? STA_FILE_CLASS_NONE /* a hash that no line defines */
                         : examine_text(refiner->preset, sta_dictionary_text(refiner->entities->files, file));
    atomic_store_explicit(&refiner->file_classes[ref + 1], (uint16_t) class, memory_order_relaxed);
    return class;
}

uint32_t sta_refiner_cat(struct sta_refiner *refiner, uint32_t cat, uint32_t file_class)
{
    uint32_t rules = file_class & ~(STA_FILE_CLASS_NONE | STA_FILE_CLASS_DROPPED);
    if (cat == STA_NO_CODE || rules == 0 || !refiner->refinable[cat])
        return cat;
    struct sta_buffer text;
    sta_buffer_init(&text);
    struct sta_text base = sta_dictionary_text(refiner->cats, cat);
    sta_put(&text, base.bytes, base.length);
    for (size_t i = 0; i < refiner->preset->refinement_count; i++) {
        if (rules >> (i + 1) & 1)
            sta_put_text(&text, refiner->preset->refinements[i].append);
    }
    STA_ASSERT(!text.failed);
    uint32_t code = sta_dictionary_intern(refiner->cats, text.data, text.size);
    sta_buffer_fini(&text);
    return code;
}
