/* yaml_checks.h - values of configuration files, or a mistake that names file, line, key and what is
 * allowed.
 *
 * A failure is sticky: when @err holds one already they do nothing and return its status, so that several can
 * follow each other, and the first mistake is the one that is said. */
#ifndef STA_ANALYSE_LAYERS_YAML_CHECKS_H
#define STA_ANALYSE_LAYERS_YAML_CHECKS_H

#include "common/yaml.h"

/** @node must be a mapping with no keys but the @allowed ones; @what names it in messages ("a layer"). */
int sta_check_keys(const struct sta_yaml_node *node, const char *what, const char *const *allowed,
                   size_t count, struct sta_error *err);
/** A text that is not empty: borrowed from the tree. */
int sta_check_text(const struct sta_yaml_node *node, const char *key, const char **text,
                   struct sta_error *err);
/** [A-Za-z_][A-Za-z0-9_]*, at most 64 characters: what may become part of a column's name. */
int sta_check_name(const struct sta_yaml_node *node, const char *key, const char **text,
                   struct sta_error *err);
/** *value is what a mapping has under a key that it must have; @what names the mapping in messages. */
int sta_check_member(const struct sta_yaml_node *mapping, const char *what, const char *key,
                     const struct sta_yaml_node **value, struct sta_error *err);
/** A list of texts that are not empty, borrowed from the tree; nothing is an empty list.  @memory: for the
 * list. */
int sta_check_texts(const struct sta_yaml_node *node, const char *key, struct sta_arena *memory,
                    const char ***texts, size_t *count, struct sta_error *err);
int sta_check_bool(const struct sta_yaml_node *node, const char *key, bool *value, struct sta_error *err);
/** @node must be of @kind, or nothing, for which *node becomes NULL. */
int sta_check_kind(const struct sta_yaml_node **node, const char *key, enum sta_yaml_kind kind,
                   struct sta_error *err);

#endif
