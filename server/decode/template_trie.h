/* template_trie.h - the trie of templates, as matching sees it (private to template*.c).
 *
 * DESIGN.  A node is a fragment of text and the kind of value behind it; a path from the root to a leaf is a
 * line that was seen.  The few texts that say what a line is about (name, cat, ph) are taken into the
 * fragment itself: so the tree branches there, by one comparison, and below a name the order of args hardly
 * varies.  Which of many children fits is predicted from a hash of the text where they begin to differ; a
 * wrong prediction costs a search, never a wrong match.  Where a value ends is predicted too, so that a
 * line's values need not wait for one another: this is what makes matching fast (see predicted_length()). The
 * end of a path keeps the plan for the events of its template, so that it is made once.
 *
 * There is a match function for each instruction set, compiled from one text, template_match.h. */
#ifndef STA_DECODE_TEMPLATE_TRIE_H
#define STA_DECODE_TEMPLATE_TRIE_H

#include <string.h>

#include "decode/record.h"
#include "decode/template.h"

#define STA_TEMPLATE_FRAGMENT 96   /* longest fragment: a multiple of a vector */
#define STA_TEMPLATE_CONSTANTS 3   /* texts inside one fragment */
#define STA_TEMPLATE_PREDICTORS 64 /* of a node with many children; a power of two */

enum sta_template_kind {
    STA_TEMPLATE_END,    /* the fragment ends the object */
    STA_TEMPLATE_INT,    /* an integer: nothing else was seen yet */
    STA_TEMPLATE_BARE,   /* any number, true, false or null */
    STA_TEMPLATE_HASH,   /* an integer of which only the text is wanted */
    STA_TEMPLATE_STRING, /* the fragment ends with the opening quote */
    STA_TEMPLATE_NUMERAL /* the same, where a string of digits was seen first */
};

/* A text that is part of the fragment. */
struct sta_template_constant {
    uint8_t field, offset, length;
};

/* What every line needs of a node comes first: with a short fragment it is one line of the cache. */
struct sta_template_node {
    _Alignas(64) struct sta_template_node *likely; /* the child that fitted last */
    struct sta_template_node *
        *predictors;    /* which child to expect after which text; NULL: `likely`, while children are few */
    uint32_t mask;      /* which of the first 32 bytes belong to the fragment */
    uint32_t key;       /* of an arg */
    uint16_t predicted; /* length of the value behind the fragment when it was last seen */
    uint8_t length;     /* of the fragment */
    uint8_t kind;       /* enum sta_template_kind */
    uint8_t field;      /* enum sta_record_field, of the value behind the fragment */
    uint8_t constant_count;
    uint8_t shared;                       /* bytes that the fragments of all children have in common */
    char fragment[STA_TEMPLATE_FRAGMENT]; /* zeros behind it */
    struct sta_template_node *first_child, *next_sibling;
    uint16_t child_count; /* the first is the longest */
    struct sta_template_constant constants[STA_TEMPLATE_CONSTANTS];
    bool decided; /* an end: name, cat and ph were constants on the way, as far as they are there */
    struct sta_event_plan plan;
};

struct sta_templates {
    void *block;                     /* that the nodes lie in */
    struct sta_template_node *nodes; /* at the start of a cache line; the first is the root */
    struct sta_template_node *(*predictors)[STA_TEMPLATE_PREDICTORS];
    size_t count, predictor_count;
    const char *(*match)(struct sta_template_node *root, const char *at, struct sta_record *record);
};

const char *sta_template_match_portable(struct sta_template_node *root, const char *at,
                                        struct sta_record *record);
const char *sta_template_match_avx2(struct sta_template_node *root, const char *at,
                                    struct sta_record *record);

/* The smallest number that is written with so many digits; more than any for what is no plain integer. */
extern const uint64_t sta_template_least[33];

/** A number with a fraction, an exponent or very many digits, or a literal.  Return: what follows it, or
 * NULL. */
const char *sta_template_bare_value(const char *at, struct sta_json_value *value);

#endif
