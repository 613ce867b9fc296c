/* What a worker knows of classes: their signatures, and the contributions of their events. */
#include "analyse/exact/intake.h"

int sta_intake_meet(struct sta_intake *intake, unsigned number, uint32_t last, struct sta_error *err)
{
    struct sta_intake_worker *worker = &intake->workers[number];
    int rc = STA_GROW_ZEROED(intake->budget->account, worker->classes, worker->class_capacity,
                             (size_t)last + 1, err);
    for (; rc == 0 && worker->class_count <= last; worker->class_count++) {
        const struct sta_event_signature *of =
            sta_event_signatures_of(intake->signatures, (uint32_t)worker->class_count, err);
        if (of == NULL)
            return err->status;
        rc = sta_additive_meet(&intake->additive, number, of->number, err);
        worker->classes[worker->class_count] =
            (struct sta_intake_class){.signature = of,
                                      .number = of->number,
                                      .is_other = of->layer_count == 0,
                                      .is_span = intake->request->wants & STA_WANT_ORDER &&
                                                 (of->layer_count > 0 || of->union_count > 0)};
    }
    return rc;
}

/* The contribution of a row in a view whose keys are values. */
static int find_by_key(struct sta_intake *intake, struct sta_intake_worker *worker,
                       const struct sta_intake_class *class, uint32_t thread, uint32_t key,
                       uint32_t *contribution, struct sta_error *err)
{
    uint32_t number = sta_stream_at(class->streams, thread);
    int rc = STA_OK;
    if (number < worker->stream_capacity && worker->streams[number].known &&
        worker->streams[number].key == key) {
        *contribution = worker->streams[number].contribution;
        return STA_OK;
    }
    if (number == STA_NO_CODE ||
        !sta_map_find(&worker->contribution_of_key, (uint64_t)number << 32 | key, contribution)) {
        rc = sta_contributions_add(intake->contributions, class->signature, thread, key, contribution, err);
        if (rc != 0)
            return rc;
        number = sta_stream_at(class->streams, thread);
        sta_map_put(&worker->contribution_of_key, (uint64_t)number << 32 | key, *contribution);
    }
    rc = STA_GROW_ZEROED(intake->budget->account, worker->streams, worker->stream_capacity,
                         (size_t)number + 1, err);
    if (rc == 0)
        worker->streams[number] = (struct sta_intake_stream){true, key, *contribution};
    return rc;
}

int sta_intake_contribution(struct sta_intake *intake, struct sta_intake_worker *worker,
                            struct sta_intake_class *class, uint32_t thread, const uint32_t *key,
                            uint32_t *contribution, struct sta_error *err)
{
    const uint32_t *key_of_threads = sta_exact_keys_of_threads(intake->keys);
    if (class->streams == NULL)
        class->streams = sta_contributions_streams(intake->contributions, class->signature, err);
    if (class->streams == NULL)
        return err->status;
    if (key != NULL)
        return find_by_key(intake, worker, class, thread, *key, contribution, err);
    *contribution = sta_stream_at(class->streams, thread);
    if (*contribution != STA_NO_CODE)
        return STA_OK;
    return sta_contributions_add(intake->contributions, class->signature, thread,
                                 key_of_threads != NULL ? key_of_threads[thread] : 0, contribution, err);
}
