/* figures.h - named figures of a finding: typed, perhaps missing; expressions and sentences of them (private
 * to findings). */
#ifndef STA_FINDINGS_FIGURES_H
#define STA_FINDINGS_FIGURES_H

#include "analyse/analyse.h"
#include "common/buffer.h"
#include "findings/findings.h"

#define STA_FIGURES 128

struct sta_figure_list {
    struct sta_figure items[STA_FIGURES];
    size_t count;
    struct sta_arena memory; /* names and texts */
};
void sta_figures_fini(struct sta_figure_list *figures);

/* Adds a figure called @ask_@name, or @name when there is no ask.  The first of a name counts. */
void sta_figure_int(struct sta_figure_list *figures, const char *ask, const char *name, int64_t value);
/** NAN: missing. */
void sta_figure_number(struct sta_figure_list *figures, const char *ask, const char *name, double value);
/** NULL: missing. */
void sta_figure_text(struct sta_figure_list *figures, const char *ask, const char *name, const char *text);
void sta_figure_add(struct sta_figure_list *figures, const char *ask, const char *name,
                    const struct sta_figure *value);
const struct sta_figure *sta_figure_find(const struct sta_figure_list *figures, const char *name,
                                         size_t length);

/** The value of an expression of figures.  Return: 0, or what parsing or evaluating failed with. */
STA_MUSTCHECK int sta_figures_evaluate(const struct sta_figure_list *figures, const char *text,
                                       struct sta_figure *value, struct sta_error *err);
/** Whether a condition of figures holds; false also when it is missing. */
STA_MUSTCHECK int sta_figures_hold(const struct sta_figure_list *figures, const char *text, bool *holds,
                                   struct sta_error *err);
/** Whether an expression makes sense with figures of these names and types. */
STA_MUSTCHECK int sta_figures_check(const struct sta_figure_list *figures, const char *text,
                                    struct sta_error *err);

/** A sentence with its figures put in: {name:unit}. */
void sta_figures_put(const struct sta_figure_list *figures, const char *sentence, struct sta_buffer *out);
/* A {name:unit} of a sentence. */
struct sta_slot {
    size_t at; /* of the brace, in bytes */
    const char *name, *unit;
    size_t name_length, unit_length;
};
/** The next one; NULL: there is none.  Return: behind it. */
const char *sta_next_slot(const char *sentence, const char *at, struct sta_slot *slot);
/** Whether there is such a unit: % s B B/s n x t, or none. */
bool sta_is_unit(const char *unit, size_t length);

#endif
