/* template_path.h - the lines of one template, read without the trie (private to template*.c, rows.c,
 * arg_values.c and lines.c).
 *
 * DESIGN.  What follows the name of an event is nearly always what followed it last time, and what stands
 * before it is not wanted.  The nodes of that path stand side by side here, so that a line is read without
 * one pointer leading to the next, and its values lie in the order of the line, where the event's plan finds
 * them by number.  A path remembers which one the next line followed, since the same calls follow each other;
 * else the text of the name says which is expected.  A line that leaves all these is read by the trie. */
#ifndef STA_DECODE_TEMPLATE_PATH_H
#define STA_DECODE_TEMPLATE_PATH_H

#include "decode/record.h"

#define STA_TEMPLATE_VECTOR 32 /* bytes of a fragment that are compared at once */
#define STA_BOUNDS_VECTOR 64   /* bytes of a part's text that are compared at once */

struct sta_template_node;
struct sta_templates;

/* What stands behind a fragment. */
enum sta_template_kind {
    STA_TEMPLATE_END,     /* the fragment ends the object */
    STA_TEMPLATE_INT,     /* an integer: nothing else was seen yet */
    STA_TEMPLATE_BARE,    /* any number, true, false or null */
    STA_TEMPLATE_HASH,    /* an integer of which only the text is wanted */
    STA_TEMPLATE_STRING,  /* the fragment ends with the opening quote */
    STA_TEMPLATE_NUMERAL, /* the same, where a string of digits was seen first */
    STA_TEMPLATE_PIECE    /* of a step: none, the fragment before it goes on */
};

/* A value, as the last line has it. */
struct sta_path_value {
    int64_t integer;
    const char *text;
    uint16_t predicted; /* length of the text when it was last seen */
    uint8_t kind;       /* enum sta_template_kind: INT or HASH, which most values are; or how it is read */
    uint8_t otherwise;  /* how values that are neither are read */
};

/* The text behind a value. */
struct sta_template_step {
    _Alignas(32) char fragment[STA_TEMPLATE_VECTOR]; /* zeros behind it */
    uint32_t mask;                                   /* which bytes belong to the fragment */
    uint8_t length;                                  /* of the fragment */
};

#define STA_PATH_STEPS 64
#define STA_PATH_VECTORS 32
#define STA_NO_STEP UINT8_MAX
#define STA_CONSTANT_TEXT 24 /* longest value that is remembered, to see whether it stays the same */

/* Which bytes may stand in 64 places: in each the least one, or up to so many more. */
struct sta_byte_bounds {
    _Alignas(64) uint8_t least[STA_BOUNDS_VECTOR];
    uint8_t more[STA_BOUNDS_VECTOR];
};

/* A value whose length stays the same. */
struct sta_fixed_value {
    struct sta_path_value *value; /* that it becomes */
    uint16_t at;                  /* from the beginning of its part's text */
    uint8_t length;
};

/* A value whose length varies, and the text behind it up to the next one: constants, and digits of values
 * whose length stays the same. */
struct sta_template_part {
    struct sta_path_value *value; /* NULL: the line begins with the text */
    uint16_t length;              /* of the text */
    uint8_t vector_count;         /* of the text's bounds */
    uint8_t fixed_count;          /* of the values in the text that are to be read */
};

/* Values are numbered as their steps. */
struct sta_template_path {
    void *block; /* that it lies in */
    struct sta_template_path *older;
    struct sta_template_path *next; /* that the line behind the last one of this path followed; NULL: none */
    struct sta_template_node *end;
    uint32_t name, cat;                    /* as the event's plan has them, like the following */
    uint8_t ts, dur, pid, tid, file, host; /* STA_NO_STEP: no file, no host */
    enum sta_reference file_kind, host_kind;
    unsigned stored_count;
    struct sta_stored_arg stored[STA_LAYOUT_ITEMS]; /* `arg` is a step */
    uint64_t ignored;                               /* values that are not wanted */
    uint64_t usual;                                 /* values that are no others in most events */
    uint64_t hashes;                                /* .. that are a file or host by its hash */
    uint64_t plain;                                 /* .. that are integers when they are no others */
    uint16_t lines;                                 /* that follow it until its values are looked at */
    uint8_t step_count;
    uint8_t looks;                                  /* done */
    uint64_t varying;                               /* values that were another at some look */
    uint64_t resized;                               /* .. whose length varies, or that are no numbers */
    char looked[STA_PATH_STEPS][STA_CONSTANT_TEXT]; /* the texts that were seen */
    uint16_t looked_length[STA_PATH_STEPS];
    uint8_t resizes[STA_PATH_STEPS];             /* how often the length of a fixed value changed soon */
    uint64_t others;                             /* which values of the last line are .. */
    struct sta_json_value other[STA_PATH_STEPS]; /* .. these: neither plain integers nor hashes */
    uint32_t alike;                              /* lines since the parts were made */
    unsigned part_count;                         /* 0: lines are read step by step */
    struct sta_template_part parts[STA_PATH_STEPS];
    struct sta_fixed_value fixed[STA_PATH_STEPS];    /* of all parts */
    struct sta_byte_bounds bounds[STA_PATH_VECTORS]; /* likewise */
    struct sta_path_value values[STA_PATH_STEPS];    /* before the steps */
    struct sta_template_step steps[STA_PATH_STEPS];
};

static inline bool sta_path_has_other(const struct sta_template_path *path, unsigned step)
{
    return path->others >> step & 1;
}

/** A value of the last line. */
static inline struct sta_json_value sta_path_value(const struct sta_template_path *path, unsigned step)
{
    const struct sta_path_value *of = &path->values[step];
    if (sta_path_has_other(path, step))
        return path->other[step];
    return (struct sta_json_value){.kind = of->kind == STA_TEMPLATE_HASH ? STA_JSON_BIG : STA_JSON_INT,
                                   .length = of->predicted,
                                   .text = of->text,
                                   .integer = of->integer};
}

/** Looks at the values of the last line, after some tens of others.  Once it is known which of them stay the
 * same, such as the hash of the host, and which keep their length, such as a time, lines are read in parts:
 * the text between values of varying length is compared at once. */
void sta_template_look(struct sta_template_path *path);
/** Makes the parts anew for what the last line has, which did not fit them and was read step by step. */
void sta_template_correct(struct sta_template_path *path);
/** After a line was matched node by node: the next one that is named so is expected to follow its path. */
void sta_template_expect(struct sta_templates *templates, struct sta_template_node *end);
/** Forgets what was expected of the name of @node, whose path a line has left step by step. */
void sta_template_doubt(struct sta_template_node *node);
void sta_template_free_paths(struct sta_templates *templates);
/** Fills a record, to which a line gave no more than its path. */
void sta_template_path_fill(const struct sta_template_path *path, struct sta_record *record);

#endif
