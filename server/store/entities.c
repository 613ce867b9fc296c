/* entities.c - what references stand for once all definitions are known: files, hosts, threads and processes
 * that events use.
 *
 * DESIGN: references that mean the same text become one code; thread codes that mean the same (host text,
 * pid, tid) become one thread.  Hosts and threads are ordered by text and number, so that they number the
 * same whatever order decoding took. */
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "common/number.h"
#include "store/private.h"

struct used {
    uint8_t *files, *threads, *hosts; /* by code of the tables: 1 when an event uses it */
};

static void find_used(const struct sta_snapshot *snapshot, struct used *used)
{
    const struct sta_tables *tables = snapshot->tables;
    uint32_t files = sta_dictionary_count(sta_tables_file_refs(tables)),
             threads = sta_tables_thread_count(tables);
    used->files = sta_alloc_array(files, 1);
    used->threads = sta_alloc_array(threads, 1);
    used->hosts = sta_alloc_array(sta_dictionary_count(sta_tables_host_refs(tables)), 1);
    for (uint32_t s = 0; s < snapshot->segment_count; s++)
        sta_segment_mark_used(&snapshot->segments[s].segment, used->files, files, used->threads, threads);
    for (uint32_t code = 0; code < threads; code++) {
        uint32_t host = sta_tables_thread(tables, code).host;
        if (used->threads[code] && host != STA_NO_CODE)
            used->hosts[host] = 1;
    }
}

/* What resolving the references of one kind needs and gives, by code of the reference. */
struct resolution {
    const struct sta_tables *tables;
    enum sta_definition_kind kind;
    uint8_t *conflicts; /* by code of the hash */
    struct sta_dictionary *texts;
    struct sta_dictionary *undefined; /* hashes */
    uint32_t *text_of_ref;
    uint8_t *ambiguous;
    uint8_t *kinds; /* by manner */
};

static void resolve_hash(struct resolution *resolution, uint32_t code, struct sta_reference_parts parts)
{
    struct sta_definition definition;
    bool own;
    if (!sta_tables_find_definition(resolution->tables, resolution->kind, parts.text.bytes, parts.text.length,
                                    parts.source, &definition, &own)) {
        sta_dictionary_intern(resolution->undefined, parts.text.bytes, parts.text.length);
        return;
    }
    uint32_t hash = sta_dictionary_find(sta_tables_hashes(resolution->tables, resolution->kind),
                                        parts.text.bytes, parts.text.length);
    resolution->ambiguous[code] = !own && resolution->conflicts[hash];
    if (definition.text != NULL)
        resolution->text_of_ref[code] =
            sta_dictionary_intern(resolution->texts, definition.text, definition.length);
}

/* What a value that was made a reference is when it is read back as one of args. */
static void note_kind(struct resolution *resolution, struct sta_reference_parts parts)
{
    int64_t value;
    uint8_t *kinds = &resolution->kinds[(unsigned char)parts.manner];
    const unsigned both = 1u << STA_VALUE_INT | 1u << STA_VALUE_TEXT;
    if (*kinds != both)
        *kinds |=
            (uint8_t)(1u << (sta_parse_int(parts.text.bytes, parts.text.length, &value) ? STA_VALUE_INT
                                                                                        : STA_VALUE_TEXT));
}

/* Distinct texts of the used references. */
static struct sta_dictionary *resolve(const struct sta_tables *tables, const struct sta_dictionary *refs,
                                      enum sta_definition_kind kind, const uint8_t *used,
                                      uint32_t *text_of_ref, uint8_t *ambiguous, uint8_t *kinds,
                                      uint64_t *unresolved)
{
    uint32_t hashes, count = sta_dictionary_count(refs);
    struct resolution resolution = {.tables = tables,
                                    .kind = kind,
                                    .conflicts = sta_tables_conflicts(tables, kind, &hashes),
                                    .texts = sta_dictionary_create(),
                                    .undefined = sta_dictionary_create(),
                                    .text_of_ref = text_of_ref,
                                    .ambiguous = ambiguous,
                                    .kinds = kinds};
    for (uint32_t code = 0; code < count; code++) {
        struct sta_reference_parts parts = sta_reference_split(sta_dictionary_text(refs, code));
        text_of_ref[code] = STA_NO_CODE;
        if (!used[code] || parts.manner == 0)
            continue;
        note_kind(&resolution, parts);
        if (parts.hash)
            resolve_hash(&resolution, code, parts);
        else
            text_of_ref[code] = sta_dictionary_intern(resolution.texts, parts.text.bytes, parts.text.length);
    }
    *unresolved = sta_dictionary_count(resolution.undefined);
    sta_dictionary_destroy(resolution.undefined);
    free(resolution.conflicts);
    return resolution.texts;
}

/* A thread's host is part of what its events refer to. */
static uint8_t *find_ambiguous_threads(const struct sta_tables *tables, const uint8_t *used,
                                       const uint8_t *ambiguous_hosts)
{
    uint32_t count = sta_tables_thread_count(tables);
    uint8_t *ambiguous = sta_alloc_array(count, 1);
    for (uint32_t code = 0; code < count; code++) {
        uint32_t host = sta_tables_thread(tables, code).host;
        ambiguous[code] = used[code] && host != STA_NO_CODE && ambiguous_hosts[host];
    }
    return ambiguous;
}

/* ---- threads and processes */

struct ranked_thread {
    uint32_t rank; /* of the host's text; UINT32_MAX when missing */
    uint32_t host, code;
    int64_t pid, tid;
};

static int compare_ids(int64_t x, int64_t y)
{
    if (x == y)
        return 0;
    if (x == STA_NO_ID || y == STA_NO_ID) /* missing last */
        return x == STA_NO_ID ? 1 : -1;
    return x < y ? -1 : 1;
}

static int same_process(const struct ranked_thread *x, const struct ranked_thread *y)
{
    return x->rank == y->rank && x->pid == y->pid;
}

static int by_identity(const void *a, const void *b)
{
    const struct ranked_thread *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    int order = compare_ids(x->pid, y->pid);
    return order != 0 ? order : compare_ids(x->tid, y->tid);
}

static struct ranked_thread *rank_threads(const struct sta_tables *tables, const uint8_t *used,
                                          const struct sta_dictionary *hosts, const uint32_t *host_of_ref,
                                          uint32_t *count)
{
    uint32_t host_count, codes = sta_tables_thread_count(tables);
    uint32_t *ranks = sta_dictionary_ranks(hosts, &host_count);
    struct ranked_thread *ranked = sta_alloc_array(codes, sizeof *ranked);
    *count = 0;
    for (uint32_t code = 0; code < codes; code++) {
        if (!used[code])
            continue;
        struct sta_thread thread = sta_tables_thread(tables, code);
        uint32_t host = thread.host == STA_NO_CODE ? STA_NO_CODE : host_of_ref[thread.host];
        ranked[(*count)++] = (struct ranked_thread){.rank = host == STA_NO_CODE ? UINT32_MAX : ranks[host],
                                                    .host = host,
                                                    .code = code,
                                                    .pid = thread.pid,
                                                    .tid = thread.tid};
    }
    free(ranks);
    qsort(ranked, *count, sizeof *ranked, by_identity);
    return ranked;
}

static void number_threads(struct sta_entities *entities, const struct ranked_thread *ranked, uint32_t count,
                           uint32_t *thread_of_code)
{
    struct sta_entity_thread *threads = sta_alloc_array(count, sizeof *threads);
    struct sta_entity_process *processes = sta_alloc_array(count, sizeof *processes);
    uint32_t thread = 0, process = 0, hosts = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct ranked_thread *at = &ranked[i], *before = i > 0 ? at - 1 : NULL;
        if (before == NULL || before->rank != at->rank)
            hosts++;
        if (before == NULL || !same_process(before, at))
            processes[process++] = (struct sta_entity_process){.host = at->host, .pid = at->pid};
        if (before == NULL || by_identity(before, at) != 0)
            threads[thread++] = (struct sta_entity_thread){
                .host = at->host, .process = process - 1, .pid = at->pid, .tid = at->tid};
        thread_of_code[at->code] = thread - 1;
    }
    entities->threads = threads;
    entities->thread_count = thread;
    entities->processes = processes;
    entities->process_count = process;
    entities->host_count = hosts;
}

/* What rows ask of their thread, without the two steps to it. */
static void describe_codes(struct sta_entities *entities)
{
    static const struct sta_entity_thread nobody = {.host = STA_NO_CODE, .pid = STA_NO_ID, .tid = STA_NO_ID};
    const size_t count = (size_t)entities->thread_code_count + 1;
    uint32_t *hosts = sta_alloc_array(count, sizeof *hosts);
    int64_t *pids = sta_alloc_array(count, sizeof *pids), *tids = sta_alloc_array(count, sizeof *tids);
    for (size_t i = 0; i < count; i++) {
        const uint32_t index = i > 0 ? entities->thread_of_code[i - 1] : STA_NO_CODE;
        const struct sta_entity_thread *thread =
            index < entities->thread_count ? &entities->threads[index] : &nobody;
        hosts[i] = thread->host;
        pids[i] = thread->pid;
        tids[i] = thread->tid;
    }
    entities->host_of_thread = hosts;
    entities->pid_of_thread = pids;
    entities->tid_of_thread = tids;
}

struct sta_entities *sta_entities_create(const struct sta_snapshot *snapshot)
{
    const struct sta_tables *tables = snapshot->tables;
    const struct sta_dictionary *file_refs = sta_tables_file_refs(tables),
                                *host_refs = sta_tables_host_refs(tables);
    struct sta_entities *entities = sta_alloc(sizeof *entities);
    struct used used;
    find_used(snapshot, &used);
    entities->file_ref_count = sta_dictionary_count(file_refs);
    entities->host_ref_count = sta_dictionary_count(host_refs);
    entities->thread_code_count = sta_tables_thread_count(tables);
    uint32_t *file_of_ref = sta_alloc_array(entities->file_ref_count, sizeof *file_of_ref);
    uint32_t *host_of_ref = sta_alloc_array(entities->host_ref_count, sizeof *host_of_ref);
    uint32_t *thread_of_code = sta_alloc_array(entities->thread_code_count, sizeof *thread_of_code);
    uint8_t *ambiguous_files = sta_alloc_array(entities->file_ref_count, 1);
    uint8_t *ambiguous_hosts = sta_alloc_array(entities->host_ref_count, 1);
    entities->files = resolve(tables, file_refs, STA_DEFINES_FILE, used.files, file_of_ref, ambiguous_files,
                              entities->file_kinds, &entities->unresolved_files);
    entities->hosts = resolve(tables, host_refs, STA_DEFINES_HOST, used.hosts, host_of_ref, ambiguous_hosts,
                              entities->host_kinds, &entities->unresolved_hosts);
    entities->ambiguous_files = ambiguous_files;
    entities->ambiguous_threads = find_ambiguous_threads(tables, used.threads, ambiguous_hosts);
    entities->file_refs_used = used.files;
    entities->host_refs_used = used.hosts;
    uint32_t count;
    struct ranked_thread *ranked = rank_threads(tables, used.threads, entities->hosts, host_of_ref, &count);
    for (uint32_t code = 0; code < entities->thread_code_count; code++)
        thread_of_code[code] = STA_NO_CODE;
    number_threads(entities, ranked, count, thread_of_code);
    entities->file_count = sta_dictionary_count(entities->files);
    entities->file_of_ref = file_of_ref;
    entities->host_of_ref = host_of_ref;
    entities->thread_of_code = thread_of_code;
    describe_codes(entities);
    free(ranked);
    free(used.threads);
    free(ambiguous_hosts);
    return entities;
}

void sta_entities_destroy(struct sta_entities *entities)
{
    if (entities == NULL)
        return;
    sta_dictionary_destroy(entities->files);
    sta_dictionary_destroy(entities->hosts);
    free((void *)entities->file_of_ref);
    free((void *)entities->host_of_ref);
    free((void *)entities->file_refs_used);
    free((void *)entities->host_refs_used);
    free((void *)entities->ambiguous_files);
    free((void *)entities->ambiguous_threads);
    free((void *)entities->thread_of_code);
    free((void *)entities->host_of_thread);
    free((void *)entities->pid_of_thread);
    free((void *)entities->tid_of_thread);
    free((void *)entities->threads);
    free((void *)entities->processes);
    free(entities);
}
