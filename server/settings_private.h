/* settings_private.h - shared by settings*.c only. */
#ifndef STA_SERVER_SETTINGS_PRIVATE_H
#define STA_SERVER_SETTINGS_PRIVATE_H

#include "server/settings.h"

/* A setting as it was given, before it is parsed. */
struct sta_given {
    char **items; /* several for lists */
    size_t count;
    char *where; /* "config.yaml:12", "STRATA_LISTEN", "--listen"; NULL: not given */
};

enum sta_setting_index {
#define X(type, field, fallback, help) STA_SETTING_##field,
    STA_SETTINGS_LIST(X)
#undef X
        STA_SETTING_COUNT
};

/** Index of the setting named so, or STA_SETTING_COUNT. */
size_t sta_setting_find(const char *name, size_t length);
bool sta_setting_is_list(size_t index);
/** "assets, cache, ..": all names, for messages; free() it. */
char *sta_setting_names(void);
/** Replaces what was given before.  @items are copied. */
void sta_given_set(struct sta_given *given, const char *const *items, size_t count, const char *where);

/** Reads a configuration file into @given, by setting. */
STA_MUSTCHECK int sta_settings_read_file(const char *path, struct sta_given given[STA_SETTING_COUNT],
                                         struct sta_error *err);

/** Sets what is empty or 0 to what fits this machine and where the program lies. */
void sta_settings_resolve(struct sta_settings *settings);

#endif
