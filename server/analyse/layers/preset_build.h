/* preset_build.h - from a preset file, and what it extends, to a preset (private to analyse). */
#ifndef STA_ANALYSE_LAYERS_PRESET_BUILD_H
#define STA_ANALYSE_LAYERS_PRESET_BUILD_H

#include "analyse/analyse.h"
#include "analyse/layers/preset_files.h"

#define STA_LAYER_LIMIT 256
#define STA_REFINEMENT_LIMIT 14 /* a set of them and the drop filter's result fit 16 bits */
#define STA_VARYING_CONDITION_LIMIT                                                                          \
    60 /* distinct conditions of a preset that read more than function and category */

/**
 * sta_preset_build - make a preset; release with sta_preset_destroy
 * @mistakes: takes all of them, and the error is the first; NULL: building ends at the first
 * Mistakes are STA_EINPUT, "FILE:LINE: ..".
 */
STA_MUSTCHECK int sta_preset_build(const struct sta_preset_file *file, struct sta_preset **preset,
                                   struct sta_preset_mistakes *mistakes, struct sta_error *err);

/** The formula of an additional metric with {T}, as @time, and {epsilon} filled in; free it.  NULL when there
 * is another word in braces. */
char *sta_preset_formula(const char *text, const char *time);

/* For the parts: what is being built, and from where. */
struct sta_preset_builder {
    const struct sta_preset_file *file;
    struct sta_preset *preset;
    const char *varying[STA_VARYING_CONDITION_LIMIT]; /* texts of the distinct ones so far */
    size_t varying_count;
    struct sta_preset_mistakes *mistakes; /* NULL: the first one ends the building */
    char where[160];                      /* JSON pointer to what is being built */
    struct sta_error *err;
};

/** Memory that lives as long as the preset, zero. */
void *sta_preset_alloc(struct sta_preset_builder *builder, size_t count, size_t size);
/** Says what is being built; after a mistake it stays what that is in. */
void sta_preset_at(struct sta_preset_builder *builder, const char *format, ...) STA_PRINTF(2, 3);
/* A failure is sticky (yaml_checks.h): what follows it does nothing. */
static inline bool sta_preset_failed(const struct sta_preset_builder *builder)
{
    return builder->err->status != STA_OK;
}
/** What is wrong with a part, when all mistakes are wanted, is noted, and building goes on.  Return: whether
 * it does. */
bool sta_preset_note(struct sta_preset_builder *builder);
/** Notes an error of a file whose messages begin with @path. */
void sta_preset_add_mistake(struct sta_preset_mistakes *mistakes, const char *path, const char *pointer,
                            const struct sta_error *err);

/** The value of a key that holds names and what they stand for; NULL when there is none, or it is none. */
const struct sta_yaml_node *sta_preset_mapping(struct sta_preset_builder *builder, const char *key);
/** The layers with their conditions, parents and metrics. */
void sta_preset_build_layers(struct sta_preset_builder *builder);
/** A condition on the columns that every trace has; *text lives as long as the tree.  @key names it in
 * messages. */
void sta_preset_check_condition(struct sta_preset_builder *builder, const struct sta_yaml_node *node,
                                const char *key, const char **text);
/** What the moments of a training are. */
void sta_preset_build_phases(struct sta_preset_builder *builder);
/** Chains of causes. */
void sta_preset_build_chains(struct sta_preset_builder *builder);
/** Views, and additional metrics, which the layers must stand before. */
void sta_preset_build_expressions(struct sta_preset_builder *builder);

#endif
