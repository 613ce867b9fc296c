/* Roles: a few words at the end of names, asked once per distinct name. */
#include "analyse/roles/found.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

enum name_bits {
    ENDS_COMPUTE = 1,
    IS_COMPUTE = 2,
    IS_FETCH = 4,
    IS_YIELD = 8,
    ENDS_GETITEM = 16,
    IS_ITEM = 32,
    IS_PREPROCESS = 64,
    IS_TRAIN = 128,
    BEGINS_EPOCH = 256,
    ENDS_READ_INDEX = 512,
    IS_FORK = 1024
};

enum cat_bits {
    CAT_STORAGE = 1,
    CAT_POSIX = 2,
    CAT_FRAMEWORK = 4,
    CAT_COMPUTE = 8,
    CAT_LOADER = 16,
    CAT_DATA = 32,
    CAT_CHECKPOINT = 64,
    CAT_PIPELINE = 128,
    CAT_READER = 256
};

enum form { IS, BEGINS, ENDS };
struct word {
    const char *text;
    enum form form;
    uint16_t bits;
};

static const struct word name_words[] = {
    {".compute", ENDS, ENDS_COMPUTE},
    {"compute", IS, IS_COMPUTE},
    {"loop.iter", IS, IS_FETCH},
    {"<module>.iter", IS, IS_FETCH},
    {"fetch-data.iter", IS, IS_FETCH},
    {"fetch.iter", IS, IS_FETCH},
    {"loop.yield", IS, IS_YIELD},
    {"<module>.yield", IS, IS_YIELD},
    {"fetch-data.yield", IS, IS_YIELD},
    {"fetch.yield", IS, IS_YIELD},
    {".__getitem__", ENDS, ENDS_GETITEM},
    {"item", IS, IS_ITEM},
    {"preprocess", IS, IS_PREPROCESS},
    {".preprocess", ENDS, IS_PREPROCESS},
    {"DLIOBenchmark._train", IS, IS_TRAIN},
    {"epoch", BEGINS, BEGINS_EPOCH},
    {".read_index", ENDS, ENDS_READ_INDEX},
    {"fork", IS, IS_FORK},
    {"vfork", IS, IS_FORK},
    {"clone", IS, IS_FORK},
};

static const struct word cat_words[] = {
    {"posix", IS, CAT_STORAGE | CAT_POSIX},
    {"stdio", IS, CAT_STORAGE},
    {"ai_framework", IS, CAT_FRAMEWORK},
    {"compute", IS, CAT_COMPUTE},
    {"data_loader", IS, CAT_LOADER},
    {"data", IS, CAT_DATA},
    {"checkpoint", IS, CAT_CHECKPOINT},
    {"pipeline", IS, CAT_PIPELINE},
    {"reader", IS, CAT_READER},
};

static bool has_form(struct sta_text text, const struct word *word)
{
    size_t length = strlen(word->text);
    if (text.length < length || (word->form == IS && text.length != length))
        return false;
    return memcmp(word->form == ENDS ? text.bytes + text.length - length : text.bytes, word->text, length) ==
           0;
}

static uint16_t *bits_of(const struct sta_dictionary *texts, const struct word *words, size_t word_count,
                         uint32_t *count, struct sta_account *account, struct sta_error *err)
{
    *count = sta_dictionary_count(texts);
    uint16_t *bits =
        sta_account_calloc(account, (size_t)*count + 1, sizeof *bits, "the roles of functions", err);
    for (uint32_t code = 0; bits != NULL && code < *count; code++)
        for (size_t w = 0; w < word_count; w++)
            if (has_form(sta_dictionary_text(texts, code), &words[w]))
                bits[code] |= words[w].bits;
    return bits;
}

int sta_role_classes_init(struct sta_role_classes *classes, const struct sta_tables *tables,
                          struct sta_account *account, struct sta_error *err)
{
    *classes = (struct sta_role_classes){.account = account};
    classes->of_name = bits_of(sta_tables_names(tables), name_words, STA_COUNT_OF(name_words),
                               &classes->names, account, err);
    if (classes->of_name != NULL)
        classes->of_cat = bits_of(sta_tables_cats(tables), cat_words, STA_COUNT_OF(cat_words), &classes->cats,
                                  account, err);
    return classes->of_cat != NULL ? STA_OK : err->status;
}

void sta_role_classes_fini(struct sta_role_classes *classes)
{
    sta_account_free(classes->account, classes->of_name);
    sta_account_free(classes->account, classes->of_cat);
    *classes = (struct sta_role_classes){0};
}

unsigned sta_role_of(const struct sta_role_classes *classes, uint32_t cat_code, uint32_t name_code,
                     bool *fork)
{
    const unsigned name = name_code < classes->names ? classes->of_name[name_code] : 0;
    const unsigned cat = cat_code < classes->cats ? classes->of_cat[cat_code] : 0;
    *fork = (cat & CAT_POSIX) != 0 && (name & IS_FORK) != 0;
    if (cat & CAT_STORAGE)
        return STA_EVENT_STORAGE;
    if (((cat & CAT_FRAMEWORK) && (name & ENDS_COMPUTE)) || ((cat & CAT_COMPUTE) && (name & IS_COMPUTE)))
        return STA_EVENT_COMPUTE;
    if (name & IS_FETCH)
        return STA_EVENT_FETCH;
    if (name & IS_YIELD)
        return STA_EVENT_YIELD;
    if (((cat & CAT_LOADER) && (name & ENDS_GETITEM)) || ((cat & CAT_DATA) && (name & IS_ITEM)))
        return STA_EVENT_ITEM;
    if (name & IS_PREPROCESS)
        return STA_EVENT_PREPROCESS;
    if (cat & CAT_CHECKPOINT)
        return STA_EVENT_CHECKPOINT;
    if ((name & IS_TRAIN) || ((cat & CAT_PIPELINE) && (name & BEGINS_EPOCH)))
        return STA_EVENT_EPOCH;
    return (cat & CAT_READER) && (name & ENDS_READ_INDEX) ? STA_EVENT_READ_INDEX : STA_EVENT_NO_ROLE;
}
