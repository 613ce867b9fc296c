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
#include "decode/template_path.h"

#define STA_TEMPLATE_FRAGMENT 96    /* longest fragment: a multiple of a vector */
#define STA_TEMPLATE_CONSTANTS 3    /* texts inside one fragment */
#define STA_TEMPLATE_PREDICTORS 256 /* of a node with many children; a power of two */

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
    struct sta_template_path *path; /* of a node with the name: what is expected behind it; NULL: not known */
    struct sta_template_node *first_child, *next_sibling, *parent;
    uint16_t child_count; /* the first is the longest */
    struct sta_template_constant constants[STA_TEMPLATE_CONSTANTS];
    uint8_t doubts;                  /* of such a node: ends to come before a path is expected again */
    bool pathless;                   /* .. it leads to an end that cannot have a path */
    struct sta_template_path *whole; /* of an end, once it was made */
    bool decided; /* an end: name, cat and ph were constants on the way, as far as they are there */
    struct sta_event_plan plan;
};

struct sta_templates {
    void *block;                     /* that the nodes lie in */
    struct sta_template_node *nodes; /* at the start of a cache line; the first is the root */
    struct sta_template_node *(*predictors)[STA_TEMPLATE_PREDICTORS];
    struct sta_template_path *paths; /* all that were made */
    struct sta_template_path *last;  /* that the last line followed; NULL: none */
    size_t name_at;                  /* from a line's begin: where names begin to differ */
    struct sta_template_path *expected[STA_TEMPLATE_PREDICTORS]; /* by the text there; NULL: not known */
    size_t count, predictor_count, path_count;
    const char *(*match)(struct sta_templates *templates, const char *at, struct sta_record *record);
};

const char *sta_template_match_portable(struct sta_templates *templates, const char *at,
                                        struct sta_record *record);
const char *sta_template_match_avx2(struct sta_templates *templates, const char *at,
                                    struct sta_record *record);

/* Of the bytes of a vector, the first @length. */
static inline uint32_t sta_template_mask(unsigned length)
{
    return length >= 32 ? UINT32_MAX : (1u << length) - 1;
}

/* What digits are read with. */
struct sta_digit_tables {
    _Alignas(STA_TEMPLATE_VECTOR) char zeros[STA_TEMPLATE_VECTOR]; /* '0' */
    uint8_t nines[STA_TEMPLATE_VECTOR];                            /* 9 */
    int8_t to_the_end[48]; /* from the number of digits on: which byte goes where */
    uint64_t least[33]; /* by number of digits: the smallest number that is written so; more than any for what
                           is no plain integer */
};
extern const struct sta_digit_tables sta_digit_tables;

/** The tables, at an address that the compiler does not know: else it would make it, and constants, anew for
 * each number. */
static inline const struct sta_digit_tables *sta_load_digit_tables(void)
{
    const struct sta_digit_tables *tables = &sta_digit_tables;
    __asm__("" : "+r"(tables));
    return tables;
}

/** A number with a fraction, an exponent or very many digits, or a literal.  Return: what follows it, or
 * NULL. */
const char *sta_template_bare_value(const char *at, struct sta_json_value *value);

#endif
