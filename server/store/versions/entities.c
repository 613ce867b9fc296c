/* entities.c - what references stand for once all definitions are known: files, hosts, threads and processes
 * that events use.
 *
 * DESIGN: references that mean the same text become one code; thread codes that mean the same (host text,
 * pid, tid) become one thread.  Hosts and threads are ordered by text and number, so that they number the
 * same whatever order decoding took.  All arrays are charged to the account of the store. */
#include <stdlib.h>
#include <string.h>
#include "common/account.h"
#include "common/memory.h"
#include "common/number.h"
#include "store/versions/private.h"

/* By code of the tables: 1 when an event uses it. */
struct used {
    uint8_t *files, *threads, *hosts;
};

static void find_used(const struct sta_snapshot *snapshot, const struct used *used)
{
    const struct sta_tables *tables = snapshot->tables;
    uint32_t files = sta_dictionary_count(sta_tables_file_refs(tables)),
             threads = sta_tables_thread_count(tables);
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
    uint8_t *kinds; /* by kind of reference */
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
    uint8_t *kinds = &resolution->kinds[(unsigned char)parts.kind];
    const unsigned both = 1u << STA_VALUE_INT | 1u << STA_VALUE_TEXT;
    if (*kinds != both)
        *kinds |=
            (uint8_t)(1u << (sta_parse_int(parts.text.bytes, parts.text.length, &value) ? STA_VALUE_INT
                                                                                        : STA_VALUE_TEXT));
}

/* Distinct texts of the used references, into @resolution. */
static int resolve(struct resolution *resolution, const struct sta_dictionary *refs, const uint8_t *used,
                   struct sta_account *account, uint64_t *unresolved, struct sta_error *err)
{
    uint32_t hashes, count = sta_dictionary_count(refs), *text_of_ref = resolution->text_of_ref;
    resolution->conflicts = sta_tables_conflicts(resolution->tables, resolution->kind, account, &hashes, err);
    if (resolution->conflicts == NULL)
        return err->status;
    resolution->undefined = sta_dictionary_create_in(account);
    for (uint32_t code = 0; code < count; code++) {
        struct sta_reference_parts parts = sta_reference_split(sta_dictionary_text(refs, code));
        text_of_ref[code] = STA_NO_CODE;
        if (!used[code] || parts.kind == 0)
            continue;
        note_kind(resolution, parts);
        if (parts.hash)
            resolve_hash(resolution, code, parts);
        else
            text_of_ref[code] = sta_dictionary_intern(resolution->texts, parts.text.bytes, parts.text.length);
    }
    *unresolved = sta_dictionary_count(resolution->undefined);
    sta_dictionary_destroy(resolution->undefined);
    sta_account_free(account, resolution->conflicts);
    return sta_account_failure(account, err);
}

/* A thread's host is part of what its events refer to. */
static void find_ambiguous_threads(const struct sta_tables *tables, const uint8_t *used,
                                   const uint8_t *ambiguous_hosts, uint8_t *ambiguous)
{
    uint32_t count = sta_tables_thread_count(tables);
    for (uint32_t code = 0; code < count; code++) {
        uint32_t host = sta_tables_thread(tables, code).host;
        ambiguous[code] = used[code] && host != STA_NO_CODE && ambiguous_hosts[host];
    }
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

/* @ranks: of the texts of hosts.  Return: how many threads events use. */
static uint32_t rank_threads(const struct sta_tables *tables, const uint8_t *used, const uint32_t *ranks,
                             const uint32_t *host_of_ref, struct ranked_thread *ranked)
{
    uint32_t count = 0, codes = sta_tables_thread_count(tables);
    for (uint32_t code = 0; code < codes; code++) {
        if (!used[code])
            continue;
        struct sta_thread thread = sta_tables_thread(tables, code);
        uint32_t host = thread.host == STA_NO_CODE ? STA_NO_CODE : host_of_ref[thread.host];
        ranked[count++] = (struct ranked_thread){.rank = host == STA_NO_CODE ? UINT32_MAX : ranks[host],
                                                 .host = host,
                                                 .code = code,
                                                 .pid = thread.pid,
                                                 .tid = thread.tid};
    }
    qsort(ranked, count, sizeof *ranked, by_identity);
    return count;
}

static void number_threads(struct sta_entities *entities, const struct ranked_thread *ranked, uint32_t count,
                           struct sta_entity_thread *threads, struct sta_entity_process *processes,
                           uint32_t *thread_of_code)
{
    uint32_t thread = 0, process = 0, hosts = 0;
    for (uint32_t code = 0; code < entities->thread_code_count; code++)
        thread_of_code[code] = STA_NO_CODE;
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
    entities->thread_count = thread;
    entities->process_count = process;
    entities->host_count = hosts;
}

/* What rows ask of their thread, without the two steps to it. */
static void describe_codes(const struct sta_entities *entities, uint32_t *hosts, int64_t *pids, int64_t *tids)
{
    static const struct sta_entity_thread nobody = {.host = STA_NO_CODE, .pid = STA_NO_ID, .tid = STA_NO_ID};
    for (size_t i = 0; i <= entities->thread_code_count; i++) {
        const uint32_t index = i > 0 ? entities->thread_of_code[i - 1] : STA_NO_CODE;
        const struct sta_entity_thread *thread =
            index < entities->thread_count ? &entities->threads[index] : &nobody;
        hosts[i] = thread->host;
        pids[i] = thread->pid;
        tids[i] = thread->tid;
    }
}

/* ---- all of it */

/* The arrays of the entities while they are filled, and what is needed only for that. */
struct making {
    const struct sta_snapshot *snapshot;
    struct sta_account *account;
    struct sta_entities *entities;
    struct used used;
    uint32_t *file_of_ref, *host_of_ref, *thread_of_code, *host_of_thread;
    uint8_t *ambiguous_files, *ambiguous_threads, *ambiguous_hosts;
    int64_t *pid_of_thread, *tid_of_thread;
    struct sta_entity_thread *threads;
    struct sta_entity_process *processes;
    struct ranked_thread *ranked;
};

static int take_arrays(struct making *making, struct sta_error *err)
{
    struct sta_entities *entities = making->entities;
    const size_t files = entities->file_ref_count, hosts = entities->host_ref_count,
                 threads = entities->thread_code_count;
    const struct {
        void **array;
        size_t count, size;
    } wanted[] = {
        {(void **)&making->used.files, files, 1},
        {(void **)&making->used.threads, threads, 1},
        {(void **)&making->used.hosts, hosts, 1},
        {(void **)&making->file_of_ref, files, sizeof(uint32_t)},
        {(void **)&making->host_of_ref, hosts, sizeof(uint32_t)},
        {(void **)&making->thread_of_code, threads, sizeof(uint32_t)},
        {(void **)&making->host_of_thread, threads + 1, sizeof(uint32_t)},
        {(void **)&making->ambiguous_files, files, 1},
        {(void **)&making->ambiguous_threads, threads, 1},
        {(void **)&making->ambiguous_hosts, hosts, 1},
        {(void **)&making->pid_of_thread, threads + 1, sizeof(int64_t)},
        {(void **)&making->tid_of_thread, threads + 1, sizeof(int64_t)},
        {(void **)&making->threads, threads, sizeof(struct sta_entity_thread)},
        {(void **)&making->processes, threads, sizeof(struct sta_entity_process)},
        {(void **)&making->ranked, threads, sizeof(struct ranked_thread)},
    };
    int status = STA_OK;
    for (size_t i = 0; i < STA_COUNT_OF(wanted) && status == STA_OK; i++) {
        *wanted[i].array = sta_account_calloc(making->account, wanted[i].count, wanted[i].size,
                                              "the files and threads of the trace", err);
        status = *wanted[i].array != NULL ? STA_OK : err->status;
    }
    /* What is there belongs to the entities, which are destroyed after a failure. */
    entities->file_refs_used = making->used.files;
    entities->host_refs_used = making->used.hosts;
    entities->file_of_ref = making->file_of_ref;
    entities->host_of_ref = making->host_of_ref;
    entities->thread_of_code = making->thread_of_code;
    entities->host_of_thread = making->host_of_thread;
    entities->ambiguous_files = making->ambiguous_files;
    entities->ambiguous_threads = making->ambiguous_threads;
    entities->pid_of_thread = making->pid_of_thread;
    entities->tid_of_thread = making->tid_of_thread;
    entities->threads = making->threads;
    entities->processes = making->processes;
    return status;
}

static int resolve_files(const struct making *making, struct sta_error *err)
{
    const struct sta_tables *tables = making->snapshot->tables;
    struct sta_entities *entities = making->entities;
    struct resolution resolution = {.tables = tables,
                                    .kind = STA_DEFINES_FILE,
                                    .texts = entities->files,
                                    .text_of_ref = making->file_of_ref,
                                    .ambiguous = making->ambiguous_files,
                                    .kinds = entities->file_kinds};
    return resolve(&resolution, sta_tables_file_refs(tables), making->used.files, making->account,
                   &entities->unresolved_files, err);
}

static int resolve_hosts(const struct making *making, struct sta_error *err)
{
    const struct sta_tables *tables = making->snapshot->tables;
    struct sta_entities *entities = making->entities;
    struct resolution resolution = {.tables = tables,
                                    .kind = STA_DEFINES_HOST,
                                    .texts = entities->hosts,
                                    .text_of_ref = making->host_of_ref,
                                    .ambiguous = making->ambiguous_hosts,
                                    .kinds = entities->host_kinds};
    return resolve(&resolution, sta_tables_host_refs(tables), making->used.hosts, making->account,
                   &entities->unresolved_hosts, err);
}

static int fill(const struct making *making, struct sta_error *err)
{
    const struct sta_tables *tables = making->snapshot->tables;
    struct sta_entities *entities = making->entities;
    uint32_t hosts;
    find_used(making->snapshot, &making->used);
    entities->files = sta_dictionary_create_in(making->account);
    entities->hosts = sta_dictionary_create_in(making->account);
    int status = resolve_files(making, err);
    if (status == STA_OK)
        status = resolve_hosts(making, err);
    if (status != STA_OK)
        return status;
    entities->file_count = sta_dictionary_count(entities->files);
    find_ambiguous_threads(tables, making->used.threads, making->ambiguous_hosts, making->ambiguous_threads);
    uint32_t *ranks = sta_dictionary_ranks(entities->hosts, making->account, &hosts, err);
    if (ranks == NULL)
        return err->status;
    const uint32_t count =
        rank_threads(tables, making->used.threads, ranks, making->host_of_ref, making->ranked);
    sta_account_free(making->account, ranks);
    number_threads(entities, making->ranked, count, making->threads, making->processes,
                   making->thread_of_code);
    describe_codes(entities, making->host_of_thread, making->pid_of_thread, making->tid_of_thread);
    return STA_OK;
}

int sta_entities_create(const struct sta_snapshot *snapshot, struct sta_account *account,
                        struct sta_entities **entities, struct sta_error *err)
{
    struct sta_entities *made = sta_alloc(sizeof *made);
    struct making making = {.snapshot = snapshot, .account = account, .entities = made};
    made->file_ref_count = sta_dictionary_count(sta_tables_file_refs(snapshot->tables));
    made->host_ref_count = sta_dictionary_count(sta_tables_host_refs(snapshot->tables));
    made->thread_code_count = sta_tables_thread_count(snapshot->tables);
    int status = take_arrays(&making, err);
    if (status == STA_OK)
        status = fill(&making, err);
    sta_account_free(account, making.ranked);
    sta_account_free(account, making.used.threads);
    sta_account_free(account, making.ambiguous_hosts);
    if (status != STA_OK) {
        sta_entities_destroy(made, account);
        return status;
    }
    *entities = made;
    return STA_OK;
}

void sta_entities_destroy(struct sta_entities *entities, struct sta_account *account)
{
    if (entities == NULL)
        return;
    const void *const charged[] = {
        entities->file_of_ref,    entities->host_of_ref,     entities->file_refs_used,
        entities->host_refs_used, entities->ambiguous_files, entities->ambiguous_threads,
        entities->thread_of_code, entities->host_of_thread,  entities->pid_of_thread,
        entities->tid_of_thread,  entities->threads,         entities->processes};
    for (size_t i = 0; i < STA_COUNT_OF(charged); i++)
        sta_account_free(account, (void *)charged[i]);
    sta_dictionary_destroy(entities->files);
    sta_dictionary_destroy(entities->hosts);
    free(entities);
}
