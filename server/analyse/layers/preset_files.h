/* preset_files.h - preset files as they were read, before they become presets (private to analyse). */
#ifndef STA_ANALYSE_LAYERS_PRESET_FILES_H
#define STA_ANALYSE_LAYERS_PRESET_FILES_H

#include "analyse/analyse.h"
#include "common/yaml.h"

#define STA_PRESET_FILES 1000 /* at most */

struct sta_preset_file {
    char *name; /* of the file, without .yaml */
    struct sta_yaml *yaml;
    char *text;                         /* its content */
    bool own;                           /* of a folder after the first */
    bool changed;                       /* stands for a change, not for a file */
    uint64_t hash;                      /* of name and content */
    const struct sta_preset_file *base; /* the one it extends, or NULL */
    bool template;                      /* only to be extended */
    bool overridden;                    /* a file read later has the same name */
    unsigned rank;                      /* place in the order of detection, from 1; 0: not detected */
};

struct sta_preset_files {
    struct sta_preset_file *items; /* in the order read */
    size_t count, capacity;
};

/**
 * sta_preset_files_read - read every *.yaml of the folders, and find out what extends what
 * @change: stands for the file of its name in the folders after the first; NULL: there is none
 * @files is to be given to fini also after a failure.
 */
STA_MUSTCHECK int sta_preset_files_read(struct sta_preset_files *files, const char *const *folders,
                                        size_t folder_count, const struct sta_preset_change *change,
                                        struct sta_error *err);
void sta_preset_files_fini(struct sta_preset_files *files);

/** The value of a key, of the file itself or of the nearest it extends that has it.  NULL: nowhere. */
const struct sta_yaml_node *sta_preset_file_value(const struct sta_preset_file *file, const char *key);

#endif
