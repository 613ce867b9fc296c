/* Rows of the joined tables: their number of cells depends on the GPUs. */
#include "decode/training_tables.h"

#include <string.h>

#include "common/memory.h"
#include "common/number.h"
#include "decode/training_log.h"

static const struct {
    enum sta_joined_table table;
    const char *end; /* of the path, behind that of the table it was made of */
    const char *heading;
} kinds[] = {
    {STA_JOINED_SECONDS, "_fetchdifftime.csv", ",Epoch,Index number,Fetch time (sec)_gpu0,"},
    {STA_JOINED_STARTS, "_fetchstartdifftime.csv", ",Epoch,Index number,Start time_gpu0,"},
};

/* Index in kinds; STA_COUNT_OF(kinds): none. */
static size_t kind_of(const char *path)
{
    const size_t length = strlen(path);
    size_t i = 0;
    for (; i < STA_COUNT_OF(kinds); i++)
        if (length > strlen(kinds[i].end) && strcmp(path + length - strlen(kinds[i].end), kinds[i].end) == 0)
            break;
    return i;
}

enum sta_joined_table sta_joined_table_of(const char *path)
{
    const size_t kind = kind_of(path);
    return kind < STA_COUNT_OF(kinds) ? kinds[kind].table : STA_JOINED_NONE;
}

char *sta_table_made_of(const char *path)
{
    const size_t kind = kind_of(path);
    if (kind == STA_COUNT_OF(kinds))
        return NULL;
    return sta_sprintf("%.*s.csv", (int)(strlen(path) - strlen(kinds[kind].end)), path);
}

bool sta_is_joined_heading(const char *line, size_t length)
{
    for (size_t i = 0; i < STA_COUNT_OF(kinds); i++)
        if (length >= strlen(kinds[i].heading) &&
            memcmp(line, kinds[i].heading, strlen(kinds[i].heading)) == 0)
            return true;
    return false;
}

static struct sta_text take_cell(const char **next, const char *end)
{
    const char *first = *next, *comma = memchr(first, ',', (size_t)(end - first));
    *next = comma != NULL ? comma + 1 : end;
    return (struct sta_text){first, (uint32_t)((comma != NULL ? comma : end) - first)};
}

static bool parse_whole(struct sta_text cell, int64_t *value)
{
    return sta_parse_int(cell.bytes, cell.length, value) && *value >= 0 && *value < STA_LOG_INDEX;
}

bool sta_joined_row_begin(const char *line, size_t length, struct sta_joined_row *row)
{
    size_t commas = 0;
    while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == ' '))
        length--;
    for (size_t i = 0; i < length; i++)
        commas += line[i] == ',';
    *row = (struct sta_joined_row){.next = line, .end = line + length};
    /* The label, the epoch and the index stand before the GPUs, one difference behind them. */
    if (commas < 4 || commas - 3 > STA_LOG_GPUS)
        return false;
    row->gpus = (uint32_t)(commas - 3);
    take_cell(&row->next, row->end);
    return parse_whole(take_cell(&row->next, row->end), &row->epoch) &&
           parse_whole(take_cell(&row->next, row->end), &row->index);
}

struct sta_text sta_joined_row_cell(struct sta_joined_row *row)
{
    return take_cell(&row->next, row->end);
}
