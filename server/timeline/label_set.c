/* Maps codes to the ranks of their texts. */
#include "timeline/label_set.h"

#include "analyse/exec/sort.h"
#include "common/memory.h"

#define WHAT "the names of the timeline"
#define COLORS 24

void sta_label_set_init(struct sta_label_set *set, const struct sta_dictionary *texts,
                        const struct sta_budget *budget)
{
    *set = (struct sta_label_set){.budget = budget, .texts = texts};
    sta_map_init(&set->slots);
    set->slots.account = budget->account;
}

void sta_label_set_fini(struct sta_label_set *set)
{
    sta_map_fini(&set->slots);
    sta_account_free(set->budget->account, set->codes);
    sta_account_free(set->budget->account, set->places);
}

int sta_label_set_add(struct sta_label_set *set, uint32_t code, uint32_t *slot, struct sta_error *err)
{
    bool added;
    *slot = sta_map_intern(&set->slots, code, (uint32_t)set->count, &added);
    if (!added)
        return 0;
    int rc = STA_ACCOUNT_GROW(set->budget->account, set->codes, set->capacity, set->count + 1, WHAT, err);
    if (rc == 0)
        set->codes[set->count++] = code;
    return rc;
}

static struct sta_text text_of(const struct sta_label_set *set, uint32_t code)
{
    return code == STA_NO_CODE ? (struct sta_text){0} : sta_dictionary_text(set->texts, code);
}

static int compare_codes(const void *a, const void *b, void *context)
{
    const struct sta_label_set *set = context;
    struct sta_text x = text_of(set, *(const uint32_t *)a), y = text_of(set, *(const uint32_t *)b);
    if (x.bytes == NULL || y.bytes == NULL)
        return (x.bytes == NULL) - (y.bytes == NULL);
    return sta_text_order(x, y);
}

int sta_label_set_sort(struct sta_label_set *set, struct sta_error *err)
{
    set->places = sta_account_alloc(set->budget->account, set->count + 1, sizeof *set->places, WHAT, err);
    if (set->places == NULL)
        return err->status;
    int rc = sta_sort(set->budget, set->codes, set->count, sizeof *set->codes, compare_codes, set, err);
    for (size_t place = 0; rc == 0 && place < set->count; place++) {
        uint32_t slot = 0;
        sta_map_find(&set->slots, set->codes[place], &slot);
        set->places[slot] = (uint32_t)place;
    }
    return rc;
}

uint32_t sta_label_set_place(const struct sta_label_set *set, uint32_t code)
{
    uint32_t slot = 0;
    bool found = sta_map_find(&set->slots, code, &slot);
    STA_ASSERT(found);
    return set->places[slot];
}

int sta_label_set_take(const struct sta_label_set *set, struct sta_text **texts, int64_t **colors,
                       struct sta_error *err)
{
    struct sta_account *account = set->budget->account;
    *texts = sta_account_alloc(account, set->count + 1, sizeof **texts, WHAT, err);
    *colors = *texts != NULL ? sta_account_alloc(account, set->count + 1, sizeof **colors, WHAT, err) : NULL;
    if (*colors == NULL)
        return err->status;
    for (size_t place = 0; place < set->count; place++) {
        (*texts)[place] = text_of(set, set->codes[place]);
        (*colors)[place] = sta_label_color((*texts)[place]);
    }
    return 0;
}

int64_t sta_label_color(struct sta_text text)
{
    if (text.bytes == NULL)
        return -1;
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < text.length; i++)
        hash = (hash ^ (unsigned char)text.bytes[i]) * 16777619u;
    return hash % COLORS;
}
