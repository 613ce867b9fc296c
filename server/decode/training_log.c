/* Lines of a training log: words between blanks and tabs, a value behind each key.
 *
 * Only a line that holds the words of its kind is looked at closely; of these, one whose values make no sense
 * is damaged, and counted.  A time that falls on a whole second is printed without fraction, and means .0. */
#include "decode/training_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/dictionary.h"
#include "common/memory.h"
#include "common/number.h"

#define LINE_WORDS 64 /* that are looked at: the values stand among the first twenty */

struct words {
    struct sta_text items[LINE_WORDS];
    size_t count;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void split(const char *line, size_t length, struct words *words)
{
    size_t at = 0;
    words->count = 0;
    while (words->count < LINE_WORDS) {
        while (at < length && is_blank(line[at]))
            at++;
        if (at == length)
            break;
        size_t first = at;
        while (at < length && !is_blank(line[at]))
            at++;
        words->items[words->count++] = (struct sta_text){line + first, (uint32_t)(at - first)};
    }
}

static bool text_is(struct sta_text text, const char *wanted)
{
    return text.length == strlen(wanted) && memcmp(text.bytes, wanted, text.length) == 0;
}

static size_t find_word(const struct words *words, const char *key)
{
    size_t i = 0;
    while (i < words->count && !text_is(words->items[i], key))
        i++;
    return i;
}

/* The word so many places behind (before: negative) the key, without a comma at its end; empty: none. */
static struct sta_text word_after(const struct words *words, const char *key, int places)
{
    size_t i = find_word(words, key);
    if (i == words->count || (places < 0 && (size_t)-places > i) ||
        (places > 0 && i + (size_t)places >= words->count))
        return (struct sta_text){"", 0};
    struct sta_text word = words->items[(size_t)((int64_t)i + places)];
    if (word.length > 0 && word.bytes[word.length - 1] == ',')
        word.length--;
    return word;
}

static bool parse_number(struct sta_text text, double *value)
{
    return sta_parse_double(text.bytes, text.length, value);
}

static bool parse_seconds(struct sta_text text, double *value)
{
    return parse_number(text, value) && *value >= 0 && *value <= STA_LOG_SECONDS;
}

/* Digits with or without leading zeros. */
static bool parse_count(struct sta_text text, int64_t limit, int64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9')
            return false;
        *value = *value * 10 + (text.bytes[i] - '0');
        if (*value >= limit)
            return false;
    }
    return text.length > 0;
}

static bool parse_small(struct sta_text text, int64_t limit, uint32_t *value)
{
    int64_t count;
    if (!parse_count(text, limit, &count))
        return false;
    *value = (uint32_t)count;
    return true;
}

/* ---- times */

static bool fixed_digits(const char *text, size_t count, int *value)
{
    *value = 0;
    for (size_t i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *value = *value * 10 + (text[i] - '0');
    }
    return true;
}

/* Days of the Gregorian calendar since 1970-01-01. */
static int64_t days_of(int year, int month, int day)
{
    int64_t y = year - (month <= 2), era = y / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* Years whose nanoseconds, and the differences of any two, fit into 64 bits. */
#define FIRST_YEAR 1900
#define LAST_YEAR 2099

static bool parse_date(const char *text, int64_t *days)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day;
    if (!fixed_digits(text, 4, &year) || text[4] != '-' || !fixed_digits(text + 5, 2, &month) ||
        text[7] != '-' || !fixed_digits(text + 8, 2, &day) || year < FIRST_YEAR || year > LAST_YEAR ||
        month < 1 || month > 12)
        return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    *days = days_of(year, month, day);
    return day >= 1 && day <= lengths[month - 1] + (leap && month == 2);
}

static bool parse_clock(const char *text, size_t length, int64_t *us)
{
    int hour, minute, second;
    if (length < 8 || !fixed_digits(text, 2, &hour) || text[2] != ':' ||
        !fixed_digits(text + 3, 2, &minute) || text[5] != ':' || !fixed_digits(text + 6, 2, &second) ||
        hour > 23 || minute > 59 || second > 59)
        return false;
    *us = ((hour * 60 + minute) * 60 + second) * INT64_C(1000000);
    if (length == 8)
        return true;
    if (text[8] != '.' || length < 10 || length > 18)
        return false;
    for (size_t i = 9, unit = 100000; i < length; i++, unit /= 10) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *us += (int64_t)unit * (text[i] - '0');
    }
    return true;
}

static bool parse_time(struct sta_text date, struct sta_text clock, int64_t *us)
{
    int64_t days, of_day;
    if (date.length != 10 || !parse_date(date.bytes, &days) ||
        !parse_clock(clock.bytes, clock.length, &of_day))
        return false;
    *us = days * INT64_C(86400000000) + of_day;
    return true;
}

bool sta_log_time(const char *text, size_t length, int64_t *us)
{
    return length > 11 && text[10] == ' ' &&
           parse_time((struct sta_text){text, 10}, (struct sta_text){text + 11, (uint32_t)(length - 11)}, us);
}

int64_t sta_log_us(double seconds)
{
    int64_t whole = (int64_t)seconds;
    return whole * 1000000 + llrint((seconds - (double)whole) * 1e6);
}

/* ---- the two kinds of lines */

static const char *parse_fetch(const struct words *words, struct sta_log_record *record)
{
    struct sta_text date = word_after(words, "DEBUG:", -2), index = word_after(words, "data", 1);
    for (uint32_t i = 0; i < date.length; i++)
        if (date.bytes[i] == ')') { /* something in brackets may stand right before the date */
            date = (struct sta_text){date.bytes + i + 1, date.length - i - 1};
            i = UINT32_MAX;
        }
    if (!parse_time(date, word_after(words, "DEBUG:", -1), &record->time_us))
        return "no date and time before DEBUG:";
    if (find_word(words, "GPU:") < words->count &&
        !parse_small(word_after(words, "GPU:", 1), STA_LOG_GPUS, &record->gpu))
        return "no number of a GPU behind GPU:";
    if (!parse_small(word_after(words, "worker_id:", 1), STA_LOG_GPUS, &record->worker))
        return "no number of a worker behind worker_id:";
    if (!parse_seconds(word_after(words, "at_time", 1), &record->seconds))
        return "no duration behind at_time";
    if (index.length < 4 || memcmp(index.bytes, "idx", 3) != 0 ||
        !parse_count((struct sta_text){index.bytes + 3, index.length - 3}, STA_LOG_INDEX, &record->index))
        return "no number of a batch behind data";
    record->start_us = record->time_us - sta_log_us(record->seconds);
    record->epoch = STA_NO_EPOCH;
    return NULL;
}

/* "[1][12/851]"; or "[1][" and "0/851]" is the next word. */
static bool parse_step(const struct words *words, struct sta_log_record *record)
{
    struct sta_text word = word_after(words, "Epoch:", 1);
    const char *close = word.length > 2 && word.bytes[0] == '[' ? memchr(word.bytes, ']', word.length) : NULL;
    if (close == NULL || !parse_count((struct sta_text){word.bytes + 1, (uint32_t)(close - word.bytes - 1)},
                                      STA_LOG_INDEX, &record->epoch))
        return false;
    const char *end = word.bytes + word.length, *at = close + 1;
    if (at == end || *at != '[')
        return false;
    if (++at == end) {
        word = word_after(words, "Epoch:", 2);
        at = word.bytes;
        end = at + word.length;
    }
    const char *slash = memchr(at, '/', (size_t)(end - at));
    return slash != NULL &&
           parse_count((struct sta_text){at, (uint32_t)(slash - at)}, STA_LOG_INDEX, &record->index);
}

static const char *parse_iteration(const struct words *words, struct sta_log_record *record)
{
    if (!parse_time(word_after(words, "GPU:", -2), word_after(words, "GPU:", -1), &record->time_us))
        return "no date and time before GPU:";
    if (!parse_small(word_after(words, "GPU:", 1), STA_LOG_GPUS, &record->gpu))
        return "no number of a GPU behind GPU:";
    if (!parse_step(words, record))
        return "no [epoch][step/steps] behind Epoch:";
    if (!parse_seconds(word_after(words, "Time", 1), &record->seconds))
        return "no duration behind Time";
    if (!parse_seconds(word_after(words, "Data", 1), &record->stall))
        return "no duration behind Data";
    if (!parse_number(word_after(words, "Throughput", 1), &record->throughput))
        record->throughput = NAN;
    return NULL;
}

/* ---- rows of tables */

#define ROW_CELLS 8

/* Splits at commas: no cell of these tables holds quotes.  Return: whether there are as many as in a row. */
static bool split_row(const char *line, size_t length, struct sta_text cells[ROW_CELLS])
{
    size_t count = 0, first = 0;
    while (length > 0 && is_blank(line[length - 1]))
        length--;
    for (size_t at = 0; at <= length; at++) {
        if (at < length && line[at] != ',')
            continue;
        if (count == ROW_CELLS)
            return false;
        cells[count++] = (struct sta_text){line + first, (uint32_t)(at - first)};
        first = at + 1;
    }
    return count == ROW_CELLS;
}

/* Whole numbers may be written as 3 or 3.0. */
static bool parse_whole(struct sta_text cell, int64_t limit, int64_t *value)
{
    double number;
    if (!parse_number(cell, &number) || !(number >= 0 && number < (double)limit) || number != floor(number))
        return false;
    *value = (int64_t)number;
    return true;
}

static bool is_time(struct sta_text cell, int64_t *us)
{
    return sta_log_time(cell.bytes, cell.length, us);
}

/* label, start, time, GPU, worker, index, seconds, epoch */
static bool parse_fetch_row(const struct sta_text *cells, struct sta_log_record *record)
{
    return is_time(cells[1], &record->start_us) && is_time(cells[2], &record->time_us) &&
           parse_small(cells[3], STA_LOG_GPUS, &record->gpu) &&
           parse_small(cells[4], STA_LOG_GPUS, &record->worker) &&
           parse_whole(cells[5], STA_LOG_INDEX, &record->index) &&
           parse_seconds(cells[6], &record->seconds) && parse_whole(cells[7], STA_LOG_INDEX, &record->epoch);
}

/* label, time, GPU, epoch, step, seconds, stall, throughput */
static bool parse_iteration_row(const struct sta_text *cells, struct sta_log_record *record)
{
    if (!parse_number(cells[7], &record->throughput))
        record->throughput = NAN;
    return is_time(cells[1], &record->time_us) && parse_small(cells[2], STA_LOG_GPUS, &record->gpu) &&
           parse_whole(cells[3], STA_LOG_INDEX, &record->epoch) &&
           parse_whole(cells[4], STA_LOG_INDEX, &record->index) &&
           parse_seconds(cells[5], &record->seconds) && parse_seconds(cells[6], &record->stall);
}

static enum sta_log_line_kind parse_row(const char *line, size_t length, struct sta_log_record *record,
                                        const char **reason)
{
    struct sta_text cells[ROW_CELLS];
    int64_t us;
    if (!split_row(line, length, cells) || !is_time(cells[1], &us))
        return STA_LOG_OTHER;
    const bool fetch = is_time(cells[2], &us);
    if (fetch ? parse_fetch_row(cells, record) : parse_iteration_row(cells, record))
        return fetch ? STA_LOG_FETCH : STA_LOG_ITERATION;
    *reason = "a value of the row is missing or makes no sense";
    return STA_LOG_DAMAGED;
}

bool sta_is_training_heading(const char *line, size_t length)
{
    static const char *const headings[] = {
        ",Start time,Time,GPU,Worker,Index number,Fetch time (sec),Epoch",
        ",Time,GPU,Epoch,Step,Iteration time (sec),Training stall time (sec),"};
    for (size_t i = 0; i < STA_COUNT_OF(headings); i++)
        if (length >= strlen(headings[i]) && memcmp(line, headings[i], strlen(headings[i])) == 0)
            return true;
    return false;
}

enum sta_log_line_kind sta_log_line(const char *line, size_t length, struct sta_log_record *record,
                                    const char **reason)
{
    struct words words;
    *record = (struct sta_log_record){0};
    *reason = NULL;
    if (memmem(line, length, "END FETCH at_time", 17) != NULL) {
        split(line, length, &words);
        *reason = parse_fetch(&words, record);
        return *reason == NULL ? STA_LOG_FETCH : STA_LOG_DAMAGED;
    }
    if (memmem(line, length, "Epoch:", 6) != NULL) {
        split(line, length, &words);
        bool is_iteration =
            find_word(&words, "GPU:") < words.count && find_word(&words, "Epoch:") < words.count;
        *reason = is_iteration ? parse_iteration(&words, record) : NULL;
        return !is_iteration ? STA_LOG_OTHER : *reason == NULL ? STA_LOG_ITERATION : STA_LOG_DAMAGED;
    }
    if (sta_is_training_heading(line, length))
        return STA_LOG_HEADING;
    for (size_t i = 0; i < length; i++)
        if (!is_blank(line[i]))
            return parse_row(line, length, record, reason);
    return STA_LOG_BLANK;
}

/* ---- a file of them */

void sta_training_log_init(struct sta_training_log *log, struct sta_account *account)
{
    *log = (struct sta_training_log){.account = account};
}

void sta_training_log_fini(struct sta_training_log *log)
{
    sta_account_free(log->account, log->fetches.items);
    sta_account_free(log->account, log->iterations.items);
    *log = (struct sta_training_log){0};
}

static int add_record(struct sta_training_log *log, bool fetch, const struct sta_log_record *record,
                      struct sta_error *err)
{
    struct sta_log_records *records = fetch ? &log->fetches : &log->iterations;
    int rc = STA_ACCOUNT_GROW(log->account, records->items, records->capacity, records->count + 1,
                              "the records of a log", err);
    if (rc == STA_OK)
        records->items[records->count++] = *record;
    return rc;
}

static int take_line(struct sta_training_log *log, const char *line, size_t length, uint64_t offset,
                     struct sta_source *source, struct sta_error *err)
{
    struct sta_log_record record;
    const char *reason;
    struct sta_ledger_counts *counts = &source->counts;
    enum sta_log_line_kind kind = sta_log_line(line, length, &record, &reason);
    record.line = ++counts->lines;
    counts->physical_lines++;
    switch (kind) {
    case STA_LOG_OTHER:
        counts->other++;
        return STA_OK;
    case STA_LOG_HEADING:
        counts->metadata++;
        return STA_OK;
    case STA_LOG_BLANK:
        counts->blank++;
        return STA_OK;
    case STA_LOG_DAMAGED:
        counts->malformed++;
        sta_line_notes_add(&source->malformed, record.line, offset, reason, line, length);
        return STA_OK;
    default:
        counts->events++;
        return add_record(log, kind == STA_LOG_FETCH, &record, err);
    }
}

int sta_training_log_add(struct sta_training_log *log, const char *text, size_t size,
                         struct sta_source *source, struct sta_error *err)
{
    int rc = STA_OK;
    for (size_t at = 0; at < size && rc == STA_OK;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
        rc = take_line(log, text + at, length, source->counts.json_bytes, source, err);
        size_t taken = length + (end != NULL);
        source->counts.json_bytes += taken;
        at += taken;
    }
    return rc;
}

void sta_training_log_end(struct sta_training_log *log)
{
    int64_t seen[STA_LOG_GPUS] = {0}, per_epoch = 0;
    for (size_t i = 0; i < log->fetches.count; i++)
        per_epoch = STA_MAX(per_epoch, log->fetches.items[i].index + 1);
    for (size_t i = 0; i < log->fetches.count; i++)
        if (log->fetches.items[i].epoch == STA_NO_EPOCH)
            log->fetches.items[i].epoch = seen[log->fetches.items[i].gpu]++ / per_epoch;
}
