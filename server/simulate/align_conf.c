/* sim_conf.json: the name of the run, and which alignments are combined. */
#include <stdio.h>
#include <string.h>

#include "simulate/request.h"

/* A value is avg, min, or whatever: then it means per GPU, and aligned if it is true in Python. */
static void read_value(const struct sta_document *value, struct sta_align_value *read)
{
    *read = (struct sta_align_value){STA_ALIGN_NONE, false, "False"};
    switch (value->type) {
    case STA_DOCUMENT_TEXT:
        snprintf(read->label, sizeof read->label, "%s", value->text.bytes);
        read->aligned = value->text.length > 0;
        read->align = strcmp(value->text.bytes, "avg") == 0   ? STA_ALIGN_AVG
                      : strcmp(value->text.bytes, "min") == 0 ? STA_ALIGN_MIN
                                                              : STA_ALIGN_NONE;
        break;
    case STA_DOCUMENT_BOOL:
        read->aligned = value->truth;
        snprintf(read->label, sizeof read->label, "%s", value->truth ? "True" : "False");
        break;
    case STA_DOCUMENT_INT:
        read->aligned = value->integer != 0;
        snprintf(read->label, sizeof read->label, "%lld", (long long)value->integer);
        break;
    case STA_DOCUMENT_NULL:
        snprintf(read->label, sizeof read->label, "None");
        break;
    default:
        read->aligned = true;
        snprintf(read->label, sizeof read->label, "True");
    }
}

static int read_values(const struct sta_document *conf, const char *member, struct sta_align_value *values,
                       size_t *count, struct sta_error *err)
{
    const struct sta_document *list = sta_document_member(conf, member);
    char path[64];
    snprintf(path, sizeof path, "conf.%s", member);
    if (list == NULL)
        return STA_OK;
    if (list->type != STA_DOCUMENT_LIST || list->count == 0 || list->count > 16)
        return sta_bad(err, path, "must be a list of 1 to 16 values, such as false, \"avg\", \"min\"");
    *count = 0;
    for (const struct sta_document *value = list->first; value != NULL; value = value->next)
        read_value(value, &values[(*count)++]);
    return STA_OK;
}

int sta_align_conf_read(const struct sta_document *conf, struct sta_align_conf *read, struct sta_error *err)
{
    const struct sta_document *name = sta_document_member(conf, "FILE");
    if (conf->type != STA_DOCUMENT_OBJECT)
        return sta_bad(err, "conf", "must be an object");
    if (name != NULL && name->type != STA_DOCUMENT_TEXT)
        return sta_bad(err, "conf.FILE", "must be a text");
    if (name != NULL)
        snprintf(read->name, sizeof read->name, "%s", name->text.bytes);
    int rc = read_values(conf, "FETCH_ALIGN", read->alignments.fetch, &read->alignments.fetch_count, err);
    if (rc == STA_OK)
        rc = read_values(conf, "START_ALIGN", read->alignments.start, &read->alignments.start_count, err);
    return rc;
}

const char *sta_align_conf_text(const struct sta_snapshot *snapshot, size_t *length)
{
    struct sta_definition definition;
    if (sta_tables_find_definition(sta_snapshot_tables(snapshot), STA_DEFINES_FILE, STA_TRAINING_CONF,
                                   strlen(STA_TRAINING_CONF), STA_NO_CODE, &definition, NULL)) {
        *length = definition.length;
        return definition.text;
    }
    *length = 0;
    for (size_t i = 0; i < sta_snapshot_source_count(snapshot); i++) {
        const char *path = sta_snapshot_source(snapshot, i)->path, *slash = strrchr(path, '/');
        if (strcmp(slash != NULL ? slash + 1 : path, STA_TRAINING_CONF) == 0)
            return ""; /* an empty file defines nothing */
    }
    return NULL;
}
