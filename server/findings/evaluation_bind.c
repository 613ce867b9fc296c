/* Which conditions the asked rules measure: bound together, so that each event is classified once for all
 * passes. */
#include <string.h>

#include "analyse/views/bound_query.h"
#include "findings/cold.h"
#include "findings/evaluation_private.h"

struct listing {
    const char *conditions[STA_BOUND_CONDITIONS];
    size_t count;
};

/* What does not fit is bound by who asks it. */
static void add(struct listing *listing, const char *condition)
{
    size_t c = 0;
    while (c < listing->count && condition != NULL && strcmp(listing->conditions[c], condition) != 0)
        c++;
    if (condition != NULL && c == listing->count && listing->count < STA_BOUND_CONDITIONS)
        listing->conditions[listing->count++] = condition;
}

static void add_chain(const struct sta_evaluation *evaluation, const char *chain, struct listing *listing)
{
    struct sta_attribution asked = {0};
    if (chain != NULL && sta_attribution_of_chain(evaluation->run, chain, &asked))
        for (size_t s = 0; s < asked.set_count; s++)
            add(listing, asked.sets[s].expression);
    sta_attribution_fini(&asked);
}

static void add_ask(const struct sta_evaluation *evaluation, const struct sta_ask *ask,
                    struct listing *listing)
{
    switch (ask->kind) {
    case STA_ASK_attribution:
        add_chain(evaluation, sta_evaluation_chain(evaluation), listing);
        break;
    case STA_ASK_blocking:
        add_chain(evaluation, "layers", listing);
        break;
    case STA_ASK_stragglers:
        if (strcmp(sta_yaml_find(ask->argument, "of")->text, "stall") != 0)
            add(listing, sta_yaml_find(ask->argument, "of")->text);
        break;
    case STA_ASK_cold:
        add(listing, sta_cold_condition);
        break;
    case STA_ASK_shared:
        add(listing, sta_shared_conditions[0]);
        add(listing, sta_shared_conditions[1]);
        break;
    case STA_ASK_access:
    case STA_ASK_duplicates:
    case STA_ASK_gaps:
    case STA_ASK_jumps:
        add(listing, "true");
        break;
    default:
        break;
    }
}

void sta_evaluation_bind(struct sta_evaluation *evaluation)
{
    struct listing listing = {.count = 0};
    for (size_t p = 0; p < STA_PHASES; p++)
        add(&listing, evaluation->run->preset->phases[p]);
    for (size_t i = 0; i < evaluation->condition_count; i++)
        add(&listing, evaluation->conditions[i].text);
    for (size_t r = 0; r < evaluation->asked_count; r++)
        for (size_t a = 0; a < evaluation->asked[r]->ask_count; a++)
            if (evaluation->has_stall || !evaluation->asked[r]->needs[STA_NEED_STALL])
                add_ask(evaluation, &evaluation->asked[r]->asks[a], &listing);
    sta_run_bind(evaluation->run, listing.conditions, listing.count);
}
