/* yaml.h - a configuration file as a tree of nodes that know their lines.
 *
 * Nothing but scalars, sequences and mappings: what a scalar means is for the reader of the tree to say, so
 * that each mistake can be reported as "FILE:LINE: .." with what is allowed.  Anchors and aliases work (an
 * aliased node is shared); a mapping holds each key once.  Size, depth and the number of nodes, aliases
 * counted as copies, are bounded. */
#ifndef STA_COMMON_YAML_H
#define STA_COMMON_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"
#include "common/memory.h"

#define STA_YAML_BYTES (4u << 20) /* largest file */
#define STA_YAML_DEPTH 32         /* nodes inside nodes */
#define STA_YAML_NODES 20000      /* nodes of a file, each alias counted as a copy */

enum sta_yaml_kind { STA_YAML_SCALAR, STA_YAML_SEQUENCE, STA_YAML_MAPPING };

struct sta_yaml_node {
    enum sta_yaml_kind kind;
    const char *path; /* of the file, as given; only for messages */
    unsigned line;    /* where it stands, from 1 */
    bool quoted;      /* scalar: written in quotes or as a block, so "" and "null" are texts */
    char *text;       /* scalar: zero-terminated, no zeros inside */
    size_t length;
    struct sta_yaml_node **items; /* sequence: items; mapping: values */
    struct sta_yaml_node **keys;  /* mapping: scalars, items[i] belongs to keys[i] */
    size_t count;
};

struct sta_yaml {
    struct sta_yaml_node *root; /* nothing, when there is nothing but blanks and comments */
    struct sta_arena arena;     /* all of it */
};

/** sta_yaml_read - read a file.  STA_EINPUT ("FILE:LINE: what"), STA_ELIMIT, or why the file can't be read.
 * Release with sta_yaml_destroy. */
STA_MUSTCHECK int sta_yaml_read(const char *path, struct sta_yaml **yaml, struct sta_error *err);
/** The same from memory; @path names it in messages.  @bytes: may be NULL when @size is 0. */
STA_MUSTCHECK int sta_yaml_parse(const char *path, const char *bytes, size_t size, struct sta_yaml **yaml,
                                 struct sta_error *err);
void sta_yaml_destroy(struct sta_yaml *yaml); /* NULL allowed */

/** Says a mistake at a node: "FILE:LINE: ..".  Return: STA_EINPUT. */
int sta_yaml_fail(const struct sta_yaml_node *node, struct sta_error *err, const char *format, ...)
    STA_PRINTF(3, 4);
/** The value under a key of a mapping, or NULL. */
const struct sta_yaml_node *sta_yaml_find(const struct sta_yaml_node *mapping, const char *key);
/** "nothing", "a text", "a list", "a mapping": for messages.  @node may be NULL.  An unquoted empty scalar, ~
 * and null are nothing. */
const char *sta_yaml_describe(const struct sta_yaml_node *node);
/** Whether a node is there but says nothing (`key:`, `key: ~`, `key: null`), or is not there. */
bool sta_yaml_is_null(const struct sta_yaml_node *node);

#endif
