/* built_in.h - the presets of config/, for tests. */
#ifndef STA_TESTS_ANALYSE_BUILT_IN_H
#define STA_TESTS_ANALYSE_BUILT_IN_H

#include <criterion/criterion.h>

#include "analyse/analyse.h"

/** @own_folder: presets of one's own, or NULL. */
static inline struct sta_presets *load_built_in(const char *own_folder)
{
    const char *folders[] = {STA_TEST_CONFIG "/presets", own_folder};
    struct sta_presets *presets;
    struct sta_error err = STA_ERROR_INIT;
    int status = sta_presets_load(STA_TEST_CONFIG "/functions.yaml", folders, own_folder != NULL ? 2 : 1,
                                  &presets, &err);
    cr_assert_eq(status, STA_OK, "%s", err.text);
    return presets;
}

#endif
