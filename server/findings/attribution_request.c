/* The member `attribution`, read and checked. */
#include "findings/attribution_request.h"

#include <string.h>

#include "analyse/views/members.h"
#include "common/buffer.h"
#include "common/memory.h"

#define LONGEST_LIMIT 100
#define GRANULARITY_LIMIT 1e9 /* seconds */

static const char *const members[] = {"chain", "target", "causes", "by", "granularity", "longest"};
static const char *const by_words[] = {"unit", "epoch", "step", "bin"};
static const unsigned by_bits[] = {STA_BY_UNIT, STA_BY_EPOCH, STA_BY_EPOCH | STA_BY_STEP, STA_BY_BIN};

/* A mistake in a member, whose pointer begins with /attribution. */
static int below(struct sta_error *err)
{
    char pointer[sizeof err->parameter];
    snprintf(pointer, sizeof pointer, "/attribution%.230s", err->parameter);
    return sta_at(err, pointer, err->position);
}

static int fail_item(const char *list, size_t number, struct sta_error *err)
{
    char place[24];
    snprintf(place, sizeof place, "%zu", number);
    sta_at_member(err, list, place, -1);
    return below(err);
}

/* ---- what is split into what */

static int fail_chain(const struct sta_run *run, const char *name, const struct sta_attribution *asked,
                      struct sta_error *err)
{
    const struct sta_preset *preset = run->preset;
    struct sta_buffer list;
    sta_buffer_init(&list);
    for (size_t i = 0; preset != NULL && i < preset->chain_count; i++)
        sta_put_format(&list, "%s%s", i > 0 ? ", " : "", preset->chains[i].name);
    sta_put_char(&list, '\0');
    if (preset == NULL)
        sta_fail(err, STA_EINPUT, "a chain is that of a preset: name one");
    else if (preset->chain_count > 0 && strcmp(name, "layers") == 0)
        sta_attribution_fail_layers(run, asked, err);
    else
        sta_fail(err, STA_EINPUT, "preset %s has no chain \"%.60s\"; it has: %s", preset->name, name,
                 list.size > 1 ? list.data : "none");
    sta_buffer_fini(&list);
    return sta_at(err, "/attribution/chain", -1);
}

static int read_chain(struct sta_run *run, const struct sta_document *given, const char *name,
                      struct sta_attribution *asked, struct sta_error *err)
{
    static const char *const others[] = {"target", "causes"};
    for (size_t i = 0; i < STA_COUNT_OF(others); i++)
        if (sta_member_given(given, others[i]) != NULL) {
            sta_fail(err, STA_EINPUT, "give either a chain, or target and causes");
            sta_at_member(err, others[i], NULL, -1);
            return below(err);
        }
    return sta_attribution_of_chain(run, name, asked) ? STA_OK : fail_chain(run, name, asked, err);
}

static int read_cause(const struct sta_document *item, struct sta_attribution *asked, struct sta_error *err)
{
    const uint32_t number = asked->cause_count;
    if (item->type != STA_DOCUMENT_TEXT) {
        sta_fail(err, STA_EINPUT, "expected the name of a set, not %s", sta_document_kind(item));
        return fail_item("causes", number, err);
    }
    for (uint32_t c = 0; c < number; c++)
        if (strcmp(asked->causes[c], item->text.bytes) == 0) {
            sta_fail(err, STA_EINPUT, "the cause \"%.60s\" is given twice", item->text.bytes);
            return fail_item("causes", number, err);
        }
    asked->causes[asked->cause_count++] = item->text.bytes;
    return STA_OK;
}

static int read_causes(const struct sta_document *given, struct sta_attribution *asked, struct sta_error *err)
{
    const struct sta_document *causes = sta_member_given(given, "causes");
    if (causes == NULL || causes->type != STA_DOCUMENT_LIST || causes->count > STA_OVERLAP_SETS) {
        sta_fail(err, STA_EINPUT, "expected a list of at most %d sets, by falling priority",
                 STA_OVERLAP_SETS);
        sta_at_member(err, "causes", NULL, -1);
        return below(err);
    }
    int rc = STA_OK;
    for (const struct sta_document *item = causes->first; item != NULL && rc == STA_OK; item = item->next)
        rc = read_cause(item, asked, err);
    return rc;
}

static int read_own(const struct sta_document *request, const struct sta_document *given,
                    struct sta_attribution *asked, struct sta_error *err)
{
    const struct sta_document *sets = sta_member_given(request, "sets");
    *asked = (struct sta_attribution){.by = STA_BY_UNIT, .longest = 3, .granularity = 1};
    if (sta_document_member(sets, "untraced") != NULL) {
        sta_fail(err, STA_EINPUT, "a set cannot be named \"untraced\": that is what no cause takes");
        return sta_at(err, "/sets/untraced", -1);
    }
    int rc = sta_member_text(given, "target", &asked->target, err);
    if (rc != STA_OK)
        return below(err);
    if (asked->target == NULL) {
        sta_fail(err, STA_EINPUT, "expected a condition on the sets, such as \"io and not compute\"");
        return sta_at(err, "/attribution/target", -1);
    }
    return read_causes(given, asked, err);
}

/* ---- keys and the rest */

static int read_key(const struct sta_run *run, const struct sta_document *item, size_t number,
                    struct sta_attribution *asked, struct sta_error *err)
{
    size_t word = 0;
    const char *text = item->type == STA_DOCUMENT_TEXT ? item->text.bytes : "";
    while (word < STA_COUNT_OF(by_words) && strcmp(by_words[word], text) != 0)
        word++;
    if (word == STA_COUNT_OF(by_words))
        sta_fail(err, STA_EINPUT, "expected unit, epoch, step or bin, not \"%.60s\"", text);
    else if ((by_bits[word] & STA_BY_EPOCH) &&
             (run->preset == NULL || run->preset->phases[STA_PHASE_epoch] == NULL))
        sta_fail(err, STA_EINPUT, "epochs and steps are those of a preset's phases; %s",
                 run->preset == NULL ? "name one" : "this preset has none");
    else {
        asked->by |= by_bits[word];
        return STA_OK;
    }
    return fail_item("by", number, err);
}

static int read_keys(const struct sta_run *run, const struct sta_document *given,
                     struct sta_attribution *asked, struct sta_error *err)
{
    const struct sta_document *by = sta_member_given(given, "by");
    size_t number = 0;
    if (by == NULL)
        return STA_OK;
    if (by->type != STA_DOCUMENT_LIST) {
        sta_fail(err, STA_EINPUT, "expected a list of unit, epoch, step, bin");
        return sta_at(err, "/attribution/by", -1);
    }
    asked->by = 0;
    int rc = STA_OK;
    for (const struct sta_document *item = by->first; item != NULL && rc == STA_OK; item = item->next)
        rc = read_key(run, item, number++, asked, err);
    return rc;
}

static int read_rest(const struct sta_document *given, struct sta_attribution *asked, struct sta_error *err)
{
    const struct sta_document *longest = sta_member_given(given, "longest");
    bool said = false;
    int rc = sta_member_number(given, "granularity", &asked->granularity, &said, err);
    if (rc != STA_OK)
        return below(err);
    if (!(asked->granularity >= 0.5e-6 && asked->granularity <= GRANULARITY_LIMIT)) {
        sta_fail(err, STA_EINPUT, "expected a width of bins in seconds, from 0.000001 to 1000000000");
        return sta_at(err, "/attribution/granularity", -1);
    }
    if (longest == NULL)
        return STA_OK;
    if (longest->type != STA_DOCUMENT_INT || longest->integer < 0 || longest->integer > LONGEST_LIMIT) {
        sta_fail(err, STA_EINPUT, "expected a whole number from 0 to %d", LONGEST_LIMIT);
        return sta_at(err, "/attribution/longest", -1);
    }
    asked->longest = (uint32_t)longest->integer;
    return STA_OK;
}

int sta_attribution_read(struct sta_run *run, const struct sta_document *request,
                         struct sta_attribution *asked, struct sta_error *err)
{
    const struct sta_document *given = sta_member_given(request, "attribution");
    const char *chain = NULL;
    *asked = (struct sta_attribution){0};
    if (given == NULL || given->type != STA_DOCUMENT_OBJECT) {
        sta_fail(err, STA_EINPUT,
                 "expected {\"chain\": \"stall\"}, or {\"target\": \"..\", \"causes\": [..]}");
        return sta_at(err, "/attribution", -1);
    }
    int rc = sta_document_check(given, "here", members, STA_COUNT_OF(members), err);
    if (rc == STA_OK)
        rc = sta_member_text(given, "chain", &chain, err);
    if (rc != STA_OK)
        return below(err);
    if (chain != NULL &&
        (sta_member_given(request, "sets") != NULL || sta_member_given(request, "layers") != NULL)) {
        sta_fail(err, STA_EINPUT, "a chain has its own sets: leave sets and layers out");
        rc = sta_at(err, "/attribution/chain", -1);
    }
    if (rc == STA_OK)
        rc = chain != NULL ? read_chain(run, given, chain, asked, err) : read_own(request, given, asked, err);
    if (rc == STA_OK)
        rc = read_keys(run, given, asked, err);
    return rc == STA_OK ? read_rest(given, asked, err) : rc;
}
