/* functions.h - functions.yaml: which functions read, write, synchronise (private to analyse). */
#ifndef STA_ANALYSE_LAYERS_FUNCTIONS_H
#define STA_ANALYSE_LAYERS_FUNCTIONS_H

#include "analyse/analyse.h"
#include "common/dictionary.h"
#include "common/yaml.h"

#define STA_FUNCTION_UNCLASSIFIED 0 /* in no class, so that it counts as STA_IO_OTHER */

struct sta_functions {
    struct sta_dictionary *categories; /* whose functions have classes */
    struct sta_dictionary *names;      /* of the functions of all classes */
    uint8_t *classes;                  /* by code of the name: enum sta_io_cat */
    size_t capacity;
};

/** @functions is to be given to fini also after a failure. */
STA_MUSTCHECK int sta_functions_init(struct sta_functions *functions, const struct sta_yaml_node *root,
                                     struct sta_error *err);
void sta_functions_fini(struct sta_functions *functions);
/** enum sta_io_cat, or STA_FUNCTION_UNCLASSIFIED. */
unsigned sta_functions_class(const struct sta_functions *functions, const char *name, size_t length);

#endif
