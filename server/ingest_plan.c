/* What an ingest has to do. */
#include "server/ingest_plan.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/memory.h"

/* What planning works with. */
struct planning {
    struct sta_ingest_plan *plan;
    struct sta_roots *roots;
    const struct sta_listing *listing;
    const char *trace_path;
    const struct sta_snapshot *base;
    const struct sta_dictionary
        *index;                /* paths of the base's sources: a path's code is the source's number */
    bool *seen;                /* by source of the base: it is there */
    struct sta_growth *growth; /* NULL: files are read to their ends */
    const _Atomic bool *cancel;
};

void sta_ingest_plan_fini(struct sta_ingest_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        free(plan->items[i].file);
    for (size_t i = 0; i < plan->record_count; i++) {
        free(plan->records[i].path);
        free(plan->records[i].reason);
    }
    free(plan->items);
    free(plan->records);
    free(plan->drop);
}

bool sta_ingest_plan_differs(const struct sta_ingest_plan *plan)
{
    return plan->count > 0 || plan->dropped > 0 || plan->record_count > 0;
}

static size_t source_count(const struct sta_snapshot *base)
{
    return base != NULL ? sta_snapshot_source_count(base) : 0;
}

static struct sta_dictionary *index_sources(const struct sta_snapshot *base)
{
    struct sta_dictionary *index = sta_dictionary_create();
    for (size_t i = 0; i < source_count(base); i++) {
        const char *path = sta_snapshot_source(base, i)->path;
        sta_dictionary_intern(index, path, strlen(path));
    }
    return index;
}

static uint32_t find(const struct sta_dictionary *index, const char *path)
{
    return sta_dictionary_find(index, path, strlen(path));
}

static void drop(struct sta_ingest_plan *plan, uint32_t number)
{
    plan->drop[number] = true;
    plan->dropped++;
}

/* Takes over @reason. */
static void record(struct sta_ingest_plan *plan, const char *path, enum sta_source_state state, char *reason)
{
    STA_GROW(plan->records, plan->record_capacity, plan->record_count + 1);
    plan->records[plan->record_count++] = (struct sta_plan_record){sta_strdup(path), state, reason};
}

/* ---- files that are there */

/* As sta_source_compare says of a file that is as it was; the listing has just looked at it. */
static bool is_as_it_was(const struct sta_source *source, const struct sta_listed_file *listed)
{
    return source->state != STA_SOURCE_STALE && source->state != STA_SOURCE_VANISHED &&
           source->size == listed->size && source->mtime_ns == listed->mtime_ns;
}

static int plan_known(struct planning *planning, const struct sta_listed_file *listed,
                      struct sta_plan_item *item, uint32_t number, bool *read, struct sta_error *err)
{
    const struct sta_source *source = sta_snapshot_source(planning->base, number);
    enum sta_source_change change = STA_SOURCE_SAME;
    int status = is_as_it_was(source, listed)
                     ? STA_OK
                     : sta_source_compare(source, planning->roots, item->file, &change, err);
    planning->seen[number] = change != STA_SOURCE_GONE;
    *read = change == STA_SOURCE_GREW || change == STA_SOURCE_CHANGED;
    item->resume = change == STA_SOURCE_GREW;
    item->known = source->state != STA_SOURCE_REJECTED && source->state != STA_SOURCE_VANISHED;
    if (status != STA_OK || change != STA_SOURCE_CHANGED)
        return status;
    drop(planning->plan, number);
    if (planning->growth != NULL) {
        planning->plan->rewritten += item->known;
        sta_growth_forget(planning->growth, item->path);
    }
    return STA_OK;
}

/* Of a file that is still written, what is complete is read.  *read: there is some that was not read yet. */
static int plan_end(struct planning *planning, enum sta_trace_kind kind, const struct sta_source *resumed,
                    struct sta_plan_item *item, bool *read, struct sta_error *err)
{
    uint64_t complete;
    int status = sta_growth_look(planning->growth, planning->roots, item->path, item->file, kind, resumed,
                                 planning->cancel, &complete, err);
    if (status != STA_OK || complete == UINT64_MAX)
        return status;
    *read = complete > (resumed != NULL ? resumed->size : 0);
    item->end = complete;
    item->bytes_to_read = complete;
    return STA_OK;
}

static int plan_file(struct planning *planning, const struct sta_listed_file *listed, struct sta_error *err)
{
    struct sta_ingest_plan *plan = planning->plan;
    struct sta_plan_item item = {
        .path = listed->path, .bytes_to_read = listed->size, .mtime_ns = listed->mtime_ns};
    uint32_t number = find(planning->index, listed->path);
    bool read = true;
    int status = STA_OK;
    item.file = sta_listing_path(planning->listing, planning->trace_path, listed->path);
    if (number != STA_NO_CODE)
        status = plan_known(planning, listed, &item, number, &read, err);
    const struct sta_source *resumed = item.resume ? sta_snapshot_source(planning->base, number) : NULL;
    if (status == STA_OK && read && planning->growth != NULL)
        status = plan_end(planning, listed->kind, resumed, &item, &read, err);
    if (resumed != NULL)
        item.bytes_to_read -= STA_MIN(resumed->size, item.bytes_to_read);
    if (status != STA_OK || !read) {
        free(item.file);
        return status;
    }
    plan->bytes += item.bytes_to_read;
    plan->items[plan->count++] = item;
    return STA_OK;
}

/* ---- sources that were not found */

static void plan_vanished(struct planning *planning, uint32_t number)
{
    const struct sta_source *source = sta_snapshot_source(planning->base, number);
    drop(planning->plan, number);
    if (source->state == STA_SOURCE_REJECTED)
        return; /* nothing of it was in the store */
    sta_log(STA_LOG_WARNING, "A source vanished; its events leave the store", "trace", planning->trace_path,
            "file", source->path, NULL);
    record(planning->plan, source->path, STA_SOURCE_VANISHED,
           sta_sprintf("is gone since it was read; its %llu events have left",
                       (unsigned long long)source->counts.events));
}

static int plan_missing(struct planning *planning, uint32_t number, struct sta_error *err)
{
    const struct sta_source *source = sta_snapshot_source(planning->base, number);
    if (source->state == STA_SOURCE_VANISHED)
        return STA_OK;
    const struct sta_unlisted *unlisted = sta_listing_covers(planning->listing, source->path);
    if (unlisted == NULL) {
        plan_vanished(planning, number);
    } else if (source->state == STA_SOURCE_REJECTED) {
        return STA_OK;
    } else if (unlisted->status == STA_EFORBIDDEN) {
        drop(planning->plan, number);
        record(planning->plan, source->path, STA_SOURCE_REJECTED, sta_strdup(unlisted->reason));
    } else {
        return sta_fail(err, unlisted->status, "events of %s are in the store, but: %s", source->path,
                        unlisted->reason);
    }
    return STA_OK;
}

/* What may hold files of the trace and could never be looked at. */
static void plan_unlisted(struct planning *planning)
{
    for (size_t i = 0; i < planning->listing->unlisted_count; i++) {
        const struct sta_unlisted *unlisted = &planning->listing->unlisted[i];
        if (unlisted->candidate && find(planning->index, unlisted->path) == STA_NO_CODE)
            record(planning->plan, unlisted->path, STA_SOURCE_REJECTED, sta_strdup(unlisted->reason));
    }
}

static int plan_all(struct planning *planning, struct sta_error *err)
{
    int status = STA_OK;
    for (size_t i = 0; i < planning->listing->count && status == STA_OK; i++)
        status = plan_file(planning, &planning->listing->files[i], err);
    for (uint32_t i = 0; i < source_count(planning->base) && status == STA_OK; i++)
        if (!planning->seen[i])
            status = plan_missing(planning, i, err);
    plan_unlisted(planning);
    return status;
}

int sta_ingest_plan_make(struct sta_ingest_plan *plan, struct sta_roots *roots,
                         const struct sta_listing *listing, const char *trace_path,
                         const struct sta_snapshot *base, struct sta_growth *growth,
                         const _Atomic bool *cancel, struct sta_error *err)
{
    struct sta_dictionary *index = index_sources(base);
    struct planning planning = {plan, roots, listing, trace_path, base, index, NULL, growth, cancel};
    planning.seen = sta_alloc_array(source_count(base), sizeof *planning.seen);
    *plan = (struct sta_ingest_plan){.items = sta_alloc_array(listing->count, sizeof *plan->items),
                                     .drop = sta_alloc_array(source_count(base), sizeof *plan->drop)};
    int status = plan_all(&planning, err);
    free(planning.seen);
    sta_dictionary_destroy(index);
    return status;
}

/* ---- what a crash left */

static int compare_path(const void *path, const void *item)
{
    return strcmp(path, ((const struct sta_plan_item *)item)->path);
}

struct resuming {
    const struct sta_ingest_plan *plan;
    struct sta_roots *roots;
    bool ranges;
};

/* Whether a file that the plan reads from its beginning to its end is the one that a source was read from.
 * Items are in the order of the listing, which is that of paths. */
static bool is_planned(void *context, const struct sta_source *source, bool range)
{
    const struct resuming *resuming = context;
    const struct sta_ingest_plan *plan = resuming->plan;
    struct sta_error ignored = STA_ERROR_INIT;
    enum sta_source_change change;
    const struct sta_plan_item *item =
        bsearch(source->path, plan->items, plan->count, sizeof *plan->items, compare_path);
    return item != NULL && !item->resume && source->state == STA_SOURCE_COMPLETE &&
           (!range || (resuming->ranges && source->mtime_ns == item->mtime_ns)) &&
           sta_source_compare(source, resuming->roots, item->file, &change, &ignored) == STA_OK &&
           (change == STA_SOURCE_SAME || (range && change == STA_SOURCE_GREW));
}

/* Leaves out the files that the writer has.  Return: how many. */
static size_t skip_written(struct sta_ingest_plan *plan, struct sta_writer *writer, size_t *ranges)
{
    size_t kept = 0;
    uint32_t number;
    struct sta_source_range *read;
    for (size_t i = 0; i < plan->count; i++) {
        struct sta_plan_item *item = &plan->items[i];
        const bool found = !item->resume && sta_writer_find_source(writer, item->path, &number);
        const size_t of_file = found ? sta_writer_ranges(writer, number, &read) : 0;
        if (found)
            free(read);
        *ranges += of_file;
        if (!found || of_file > 0) {
            plan->items[kept++] = *item;
            continue;
        }
        plan->bytes -= item->bytes_to_read;
        free(item->file);
    }
    const size_t skipped = plan->count - kept;
    plan->count = kept;
    return skipped;
}

int sta_ingest_plan_resume(struct sta_ingest_plan *plan, struct sta_roots *roots, bool ranges,
                           const char *trace_path, struct sta_writer *writer, size_t *skipped,
                           struct sta_error *err)
{
    struct resuming resuming = {plan, roots, ranges};
    size_t of_files = 0;
    int status = sta_writer_resume(writer, is_planned, &resuming, err);
    *skipped = skip_written(plan, writer, &of_files);
    if (*skipped + of_files > 0)
        sta_log(STA_LOG_INFO, "Goes on with an ingest that was interrupted", "trace", trace_path, "files",
                sta_log_int((int64_t)*skipped), "ranges", sta_log_int((int64_t)of_files), NULL);
    return status;
}

/* ---- whether anything differs */

bool sta_ingest_names_differ(const struct sta_listing *listing, const struct sta_snapshot *snapshot)
{
    struct sta_dictionary *index = index_sources(snapshot);
    bool *seen = sta_alloc_array(source_count(snapshot), sizeof *seen);
    bool differ = false;
    for (size_t i = 0; i < listing->count && !differ; i++) {
        uint32_t number = find(index, listing->files[i].path);
        differ = number == STA_NO_CODE || sta_snapshot_source(snapshot, number)->state == STA_SOURCE_VANISHED;
        if (!differ)
            seen[number] = true;
    }
    for (size_t i = 0; i < source_count(snapshot) && !differ; i++) {
        const struct sta_source *source = sta_snapshot_source(snapshot, i);
        differ = !seen[i] && source->state != STA_SOURCE_VANISHED &&
                 sta_listing_covers(listing, source->path) == NULL;
    }
    free(seen);
    sta_dictionary_destroy(index);
    return differ;
}

bool sta_ingest_files_differ(struct sta_roots *roots, const char *trace_path, bool single,
                             const struct sta_snapshot *snapshot, const _Atomic bool *stop)
{
    const struct sta_listing listing = {.single = single};
    bool differ = false;
    for (size_t i = 0; i < source_count(snapshot) && !differ && !atomic_load(stop); i++) {
        const struct sta_source *source = sta_snapshot_source(snapshot, i);
        bool identified = source->state != STA_SOURCE_REJECTED || source->mtime_ns != 0;
        struct sta_error ignored = STA_ERROR_INIT;
        enum sta_source_change change = STA_SOURCE_SAME;
        if (source->state == STA_SOURCE_STALE)
            return true; /* whether or not it can be looked at now */
        if (source->state == STA_SOURCE_VANISHED || !identified)
            continue;
        char *file = sta_listing_path(&listing, trace_path, source->path);
        differ =
            sta_source_compare(source, roots, file, &change, &ignored) == STA_OK && change != STA_SOURCE_SAME;
        free(file);
    }
    return differ;
}
