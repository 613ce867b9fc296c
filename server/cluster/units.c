/* Units of an ingest. */
#include "cluster/units.h"

#include <stdlib.h>

#include "common/memory.h"

#define UNITS_PER_RANK 8
#define MOST_RANGE (UINT64_C(256) << 20)

/* A large file. */
struct cut_file {
    size_t file;
    struct sta_file_ranges ranges;
    size_t taken; /* ranges that were dealt to be read, or were read before */
};

/* A whole file, or a range of one. */
struct piece {
    size_t file;
    uint64_t bytes;       /* of ranges the same number, so that those of a file come in their order */
    struct cut_file *cut; /* NULL: it is whole */
    size_t number;        /* of the range */
    bool dealt;
};

struct sta_units {
    const struct sta_shared_reading *reading;
    struct cut_file *cuts;
    size_t cut_count;
    struct piece *pieces; /* the largest first */
    size_t *files;        /* by piece: its file */
    size_t count, capacity;
    uint64_t left; /* bytes that are not dealt yet */
    uint64_t range_bytes;
    unsigned ranks;
    size_t ahead;  /* ranges that are counted before they are read */
    size_t first;  /* all pieces before it are dealt */
    bool outdated; /* a file of which the writer has ranges cannot be cut as it was */
};

bool sta_units_leave_out(const struct sta_decode_file *file)
{
    return file->resume || file->range.end != 0;
}

/* ---- what there is */

static void add_piece(struct sta_units *units, struct piece piece)
{
    STA_GROW(units->pieces, units->capacity, units->count + 1);
    units->pieces[units->count++] = piece;
}

/* A file may have become larger than it was listed. */
static void take_bytes(struct sta_units *units, uint64_t bytes)
{
    units->left -= STA_MIN(units->left, bytes);
}

static void add_ranges(struct sta_units *units, struct cut_file *cut)
{
    for (size_t i = 0; i < cut->ranges.count; i++) {
        const struct sta_file_range *item = &cut->ranges.items[i];
        cut->taken += item->done;
        if (item->done)
            take_bytes(units, item->range.end - item->range.begin);
        else
            add_piece(units, (struct piece){cut->file, units->range_bytes, cut, i, false});
    }
}

/* A file past the limit of JSON is cut there by whoever reads all of it; and one that is taken as it comes,
 * since it was rewritten before, comes from one process. */
static bool may_be_cut(const struct sta_units *units, size_t file)
{
    const struct sta_decode_request *request = units->reading->request;
    const uint64_t bytes = units->reading->bytes[file];
    return !request->accept_rewritten && bytes / units->range_bytes > 1 &&
           (request->json_limit == 0 || bytes <= request->json_limit);
}

/* A range of a gzip file is inflated twice: not where files are many. */
static bool is_worth_it(const struct sta_units *units, size_t file, const struct sta_file_ranges *ranges)
{
    return ranges->count > 1 &&
           (!ranges->members || units->reading->bytes[file] >= units->left / (2 * units->ranks));
}

/* A file that cannot be cut is whole: who reads it says what is wrong with it. */
static void add_file(struct sta_units *units, size_t file)
{
    struct cut_file *cut = &units->cuts[units->cut_count];
    const struct sta_decode_request *request = units->reading->request;
    struct sta_error ignored = STA_ERROR_INIT;
    struct sta_source_range *done;
    const size_t done_count = sta_writer_ranges(units->reading->writer, units->reading->numbers[file], &done);
    if ((may_be_cut(units, file) || done_count > 0) &&
        sta_file_ranges_find(&cut->ranges, request->roots, request->files[file].file, units->range_bytes,
                             done, done_count, &ignored) == STA_OK &&
        (done_count > 0 || is_worth_it(units, file, &cut->ranges))) {
        cut->file = file;
        units->cut_count++;
        units->outdated |=
            done_count > 0 && cut->ranges.found.mtime_ns != request->files[file].source->mtime_ns;
        add_ranges(units, cut);
    } else {
        units->outdated |= done_count > 0;
        sta_file_ranges_fini(&cut->ranges);
        add_piece(units, (struct piece){file, units->reading->bytes[file], NULL, 0, false});
    }
    free(done);
}

static int larger_first(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* What is dealt at once becomes less with what is left, so that all ranks end at about the same time. */
static uint64_t unit_bytes(const struct sta_units *units)
{
    return units->left / (UNITS_PER_RANK * units->ranks);
}

struct sta_units *sta_units_create(const struct sta_shared_reading *reading, unsigned ranks, uint64_t least)
{
    const size_t files = reading->request->file_count;
    struct sta_units *units = sta_alloc(sizeof *units);
    units->reading = reading;
    units->ranks = ranks;
    for (size_t i = 0; i < files; i++)
        units->left += sta_units_leave_out(&reading->request->files[i]) ? 0 : reading->bytes[i];
    units->range_bytes = STA_MIN(STA_MAX(unit_bytes(units), least), STA_MAX(least, MOST_RANGE));
    units->ahead = 2 * (size_t)ranks;
    units->cuts = sta_alloc_array(files, sizeof *units->cuts);
    for (size_t i = 0; i < files; i++)
        if (!sta_units_leave_out(&reading->request->files[i]))
            add_file(units, i);
    if (units->count > 0)
        qsort(units->pieces, units->count, sizeof *units->pieces, larger_first);
    units->files = sta_alloc_array(units->count, sizeof *units->files);
    for (size_t i = 0; i < units->count; i++)
        units->files[i] = units->pieces[i].file;
    return units;
}

void sta_units_destroy(struct sta_units *units)
{
    for (size_t i = 0; i < units->cut_count; i++)
        sta_file_ranges_fini(&units->cuts[i].ranges);
    free(units->cuts);
    free(units->pieces);
    free(units->files);
    free(units);
}

/* ---- dealing */

/* Some ranges before they are read, so that their bytes still are in the memory of the system then. */
static bool next_to_count(struct sta_units *units, struct sta_unit *unit)
{
    for (struct cut_file *cut = units->cuts; cut < units->cuts + units->cut_count; cut++) {
        const size_t number = sta_file_ranges_to_count(&cut->ranges);
        if (number == cut->ranges.count)
            continue;
        struct sta_file_range *item = &cut->ranges.items[number];
        if (number >= cut->taken + units->ahead)
            return false;
        item->state = STA_RANGE_BEING_COUNTED;
        *unit = (struct sta_unit){
            STA_UNIT_COUNT, item->range.end - item->range.begin, &cut->file, 1, number, item->range,
            item->search};
        return true;
    }
    return false;
}

static bool is_ready(const struct piece *piece)
{
    return !piece->dealt && (piece->cut == NULL || piece->number < piece->cut->ranges.known);
}

/* Small files come together. */
static struct sta_unit take_files(struct sta_units *units, size_t first)
{
    const uint64_t most = unit_bytes(units);
    struct sta_unit unit = {.kind = STA_UNIT_FILES, .files = &units->files[first]};
    for (size_t i = first; i < units->count; i++) {
        struct piece *piece = &units->pieces[i];
        if (piece->cut != NULL || piece->dealt || (unit.file_count > 0 && unit.bytes + piece->bytes > most))
            break;
        piece->dealt = true;
        take_bytes(units, piece->bytes);
        unit.bytes += piece->bytes;
        unit.file_count++;
    }
    return unit;
}

static struct sta_unit take_range(struct sta_units *units, struct piece *piece)
{
    struct cut_file *cut = piece->cut;
    const struct sta_source_range range = cut->ranges.items[piece->number].range;
    piece->dealt = true;
    take_bytes(units, range.end - range.begin);
    cut->taken++;
    return (struct sta_unit){STA_UNIT_RANGE, range.end - range.begin, &cut->file, 1, piece->number, range,
                             false};
}

struct sta_unit sta_units_next(struct sta_units *units)
{
    struct sta_unit unit;
    if (next_to_count(units, &unit))
        return unit;
    while (units->first < units->count && units->pieces[units->first].dealt)
        units->first++;
    for (size_t i = units->first; i < units->count; i++) {
        if (!is_ready(&units->pieces[i]))
            continue;
        unit = units->pieces[i].cut != NULL ? take_range(units, &units->pieces[i]) : take_files(units, i);
        if (unit.kind == STA_UNIT_FILES || unit.bytes > 0) /* behind damage nothing is left to be read */
            return unit;
    }
    while (units->first < units->count && units->pieces[units->first].dealt)
        units->first++;
    return (struct sta_unit){.kind = units->first < units->count ? STA_UNIT_WAIT : STA_UNIT_NONE};
}

void sta_units_counted(struct sta_units *units, const struct sta_unit *unit,
                       const struct sta_source_range *range)
{
    struct cut_file *cut = units->cuts;
    while (cut->file != *unit->files)
        cut++;
    sta_file_ranges_counted(&cut->ranges, unit->number, range);
}

/* A gzip file of more JSON than the limit is cut there by whoever reads all of it. */
static bool is_as_it_was(const struct sta_decode_request *request, const struct sta_file_ranges *ranges)
{
    const uint64_t text = ranges->items[ranges->count - 1].range.text_before;
    return !ranges->outdated && (request->json_limit == 0 || text <= request->json_limit);
}

int sta_units_check(const struct sta_units *units, struct sta_error *err)
{
    const struct sta_decode_request *request = units->reading->request;
    bool outdated = units->outdated;
    for (size_t i = 0; i < units->cut_count; i++)
        outdated |= !is_as_it_was(request, &units->cuts[i].ranges);
    int status = outdated ? sta_fail(err, STA_EOUTDATED, "a file cannot be read in ranges") : STA_OK;
    for (size_t i = 0; i < units->cut_count && status == STA_OK; i++)
        status = sta_file_ranges_check(&units->cuts[i].ranges, request->roots,
                                       request->files[units->cuts[i].file].file, err);
    return status;
}
