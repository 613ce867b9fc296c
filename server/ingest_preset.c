/* What the catalogue notes of a trace after its ingest: the preset that fits its events. */
#include "server/ingest_preset.h"

#include <stdlib.h>

#include "common/memory.h"

/* Records of DASF have a preset of their own: nothing of theirs has to be looked at. */
static int choose_for(const struct sta_ingest *ingest, const struct sta_trace_entry *entry,
                      const _Atomic bool *cancel, struct sta_snapshot **version, const char **name,
                      char **why, struct sta_error *err)
{
    if (entry->kind == STA_TRACE_DASF && sta_presets_find(ingest->presets, "dask") != NULL) {
        *name = "dask";
        *why = sta_strdup("records of DASF");
        return STA_OK;
    }
    if (*version == NULL && sta_snapshot_open(ingest->store, entry->id, version, err) != STA_OK)
        return err->status;
    struct sta_budget budget = {.workers = ingest->workers,
                                .memory = ingest->memory / 2,
                                .account = ingest->account,
                                .cancel = cancel};
    return sta_preset_choose(ingest->presets, *version, &budget, name, why, err);
}

int sta_ingest_find_preset(const struct sta_ingest *ingest, struct sta_trace_entry *entry,
                           const _Atomic bool *cancel, struct sta_snapshot **version, struct sta_error *err)
{
    const char *name;
    char *why;
    int status = choose_for(ingest, entry, cancel, version, &name, &why, err);
    if (status != STA_OK)
        return status;
    free(entry->preset);
    free(entry->preset_why);
    entry->preset = sta_strdup(name);
    entry->preset_why = why;
    return STA_OK;
}

struct outcome {
    const struct sta_trace_entry *entry;
    bool ingested; /* what failed before has succeeded */
};

static void put_outcome(void *context, struct sta_trace_entry *entry)
{
    const struct outcome *outcome = context;
    free(entry->preset);
    free(entry->preset_why);
    entry->preset = outcome->entry->preset ? sta_strdup(outcome->entry->preset) : NULL;
    entry->preset_why = outcome->entry->preset_why ? sta_strdup(outcome->entry->preset_why) : NULL;
    if (outcome->ingested) {
        free(entry->failure);
        entry->failure = NULL;
    }
}

int sta_ingest_note_outcome(const struct sta_ingest *ingest, const struct sta_trace_entry *entry,
                            bool ingested, struct sta_error *err)
{
    struct outcome outcome = {entry, ingested};
    return sta_store_update(ingest->store, entry->id, put_outcome, &outcome, err);
}

int sta_ingest_choose_preset(const struct sta_ingest *ingest, const char *trace, struct sta_error *err)
{
    struct sta_trace_entry entry;
    struct sta_snapshot *version = NULL;
    int status = sta_store_find(ingest->store, trace, &entry, err);
    if (status != STA_OK)
        return status;
    status = sta_ingest_find_preset(ingest, &entry, NULL, &version, err);
    sta_snapshot_release(version);
    if (status == STA_OK)
        status = sta_ingest_note_outcome(ingest, &entry, false, err);
    sta_trace_entry_fini(&entry);
    return status == STA_ENOTFOUND ? STA_OK : status;
}
