/* entities.c - what references stand for once all definitions are known: files, hosts, threads and processes
 * that events use.
 *
 * DESIGN: references that mean the same text become one code; thread codes that mean the same (host text,
 * pid, tid) become one thread.  Hosts and threads are ordered by text and number, so that they number the
 * same whatever order decoding took. */
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
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

/* Distinct texts of the used references. */
static struct sta_dictionary *resolve(const struct sta_tables *tables, const struct sta_dictionary *refs,
                                      enum sta_definition_kind kind, const uint8_t *used,
                                      uint32_t *text_of_ref, uint64_t *unresolved)
{
    struct sta_dictionary *texts = sta_dictionary_create();
    uint32_t count = sta_dictionary_count(refs);
    *unresolved = 0;
    for (uint32_t code = 0; code < count; code++) {
        struct sta_text ref = sta_dictionary_text(refs, code);
        struct sta_definition definition;
        text_of_ref[code] = STA_NO_CODE;
        if (!used[code] || ref.length == 0)
            continue;
        if (ref.bytes[0] != STA_REFERENCE_HASH)
            text_of_ref[code] = sta_dictionary_intern(texts, ref.bytes + 1, ref.length - 1);
        else if (!sta_tables_find_definition(tables, kind, ref.bytes + 1, ref.length - 1, &definition))
            ++*unresolved;
        else if (definition.text != NULL)
            text_of_ref[code] = sta_dictionary_intern(texts, definition.text, definition.length);
    }
    return texts;
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
    entities->files =
        resolve(tables, file_refs, STA_DEFINES_FILE, used.files, file_of_ref, &entities->unresolved_files);
    entities->hosts =
        resolve(tables, host_refs, STA_DEFINES_HOST, used.hosts, host_of_ref, &entities->unresolved_hosts);
    uint32_t count;
    struct ranked_thread *ranked = rank_threads(tables, used.threads, entities->hosts, host_of_ref, &count);
    for (uint32_t code = 0; code < entities->thread_code_count; code++)
        thread_of_code[code] = STA_NO_CODE;
    number_threads(entities, ranked, count, thread_of_code);
    entities->file_count = sta_dictionary_count(entities->files);
    entities->file_of_ref = file_of_ref;
    entities->host_of_ref = host_of_ref;
    entities->thread_of_code = thread_of_code;
    free(ranked);
    free(used.files);
    free(used.threads);
    free(used.hosts);
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
    free((void *)entities->thread_of_code);
    free((void *)entities->threads);
    free((void *)entities->processes);
    free(entities);
}
