/* Cuts a source into chunks at line ends; carries what is left over; skips lines past the limit in bounded
 * memory. */
#include "decode/chunks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/account.h"
#include "common/memory.h"
#include "decode/bytes.h"

#define CHUNK_OF_RECORDS ((size_t)1 << 19) /* scanned twice, for their ends first: from the cache */
#define LARGE_CHUNK ((size_t)8 << 20)
#define READ_BYTES ((size_t)512 << 10) /* at once: in the cache until their lines are counted */
#define NO_LIMIT ((uint64_t)INT64_MAX)

static const char WHAT[] = "the text that a trace's file is read into";

void sta_chunk_text_fini(struct sta_chunk_text *chunk)
{
    sta_account_free(chunk->account, chunk->bytes);
    *chunk = (struct sta_chunk_text){.account = chunk->account};
}

void sta_chunker_init(struct sta_chunker *chunker, struct sta_byte_source *bytes, uint64_t line,
                      uint64_t offset, uint64_t limit, const _Atomic bool *stop)
{
    *chunker = (struct sta_chunker){.bytes = bytes,
                                    .next_line = line,
                                    .next_offset = offset,
                                    .ends_with_line = true,
                                    .consumed = bytes->consumed,
                                    .limit = limit != 0 ? STA_MAX(limit, offset) : NO_LIMIT,
                                    .stop = stop};
}

static void end_source(struct sta_chunker *chunker, enum sta_bytes_state state)
{
    memcpy(chunker->reason, chunker->bytes->reason, sizeof chunker->reason);
    chunker->failed = chunker->bytes->failed;
    chunker->bytes->close(chunker->bytes);
    chunker->bytes = NULL;
    chunker->state = state;
}

void sta_chunker_fini(struct sta_chunker *chunker)
{
    if (chunker->bytes != NULL)
        end_source(chunker, STA_BYTES_CUT);
    sta_account_free(chunker->account, chunker->carry);
    sta_line_notes_fini(&chunker->long_lines);
}

static int reserve_space(struct sta_chunk_text *chunk, size_t wanted, struct sta_error *err)
{
    chunk->wanted = wanted;
    if (chunk->capacity >= wanted)
        return STA_OK;
    char *bytes = sta_account_realloc(chunk->account, chunk->bytes, wanted + STA_BYTES_PADDING, 1, WHAT, err);
    if (bytes == NULL)
        return err->status;
    chunk->bytes = bytes;
    chunk->capacity = wanted;
    return STA_OK;
}

static int take_carry(struct sta_chunker *chunker, struct sta_chunk_text *chunk, struct sta_error *err)
{
    if (chunk->capacity > LARGE_CHUNK) /* for one long line, which is past */
        sta_chunk_text_fini(chunk);
    const size_t bytes = chunker->framing == STA_FRAMING_LINES ? STA_CHUNK_BYTES : CHUNK_OF_RECORDS;
    if (reserve_space(chunk, chunker->carry_size + bytes, err) != STA_OK)
        return err->status;
    if (chunker->carry_size > 0)
        memcpy(chunk->bytes, chunker->carry, chunker->carry_size);
    chunk->size = chunker->carry_size;
    chunk->newlines = 0; /* what is carried over is the beginning of a line */
    chunker->carry_size = 0;
    return STA_OK;
}

static int put_carry(struct sta_chunker *chunker, struct sta_chunk_text *chunk, size_t from,
                     struct sta_error *err)
{
    size_t size = chunk->size - from;
    if (STA_ACCOUNT_GROW(chunker->account, chunker->carry, chunker->carry_capacity, size + 1, WHAT, err) !=
        STA_OK)
        return err->status;
    memcpy(chunker->carry, chunk->bytes + from, size);
    chunker->carry_size = size;
    chunk->size = from;
    return STA_OK;
}

static void cut_at_limit(struct sta_chunker *chunker, struct sta_chunk_text *chunk)
{
    end_source(chunker, STA_BYTES_CUT);
    snprintf(chunker->reason, sizeof chunker->reason,
             "has more than %llu bytes of JSON, which is the limit (json_bytes_per_file)",
             (unsigned long long)chunker->limit);
    chunker->passed_limit = true;
    chunk->size--;
    chunk->newlines -= chunk->bytes[chunk->size] == '\n';
}

/* Reads until the chunk is full or the source ends.  One byte more than the limit is asked for, to see
 * whether there is one. */
static void fill(struct sta_chunker *chunker, struct sta_chunk_text *chunk)
{
    while (chunker->bytes != NULL && chunk->size < chunk->wanted) {
        size_t got;
        uint64_t left = chunker->limit + 1 - (chunker->next_offset + chunk->size);
        size_t most = STA_MIN(chunk->wanted - chunk->size, READ_BYTES);
        enum sta_bytes_state state = chunker->bytes->read(chunker->bytes, chunk->bytes + chunk->size,
                                                          (size_t)STA_MIN(most, left), &got);
        if (chunker->framing == STA_FRAMING_LINES)
            chunk->newlines += sta_count_newlines(chunk->bytes + chunk->size, got);
        chunk->size += got;
        chunker->consumed = chunker->bytes->consumed;
        if (got > 0)
            chunker->ends_with_line = chunk->bytes[chunk->size - 1] == '\n';
        if (got > 0 && got == left)
            cut_at_limit(chunker, chunk);
        else if (state != STA_BYTES_OK)
            end_source(chunker, state);
    }
}

/* Drops what belongs to a line past the limit.  Return: whether it ended in this chunk. */
static bool skip_long_line(struct sta_chunker *chunker, struct sta_chunk_text *chunk)
{
    const char *newline = memchr(chunk->bytes, '\n', chunk->size);
    size_t dropped = newline ? (size_t)(newline + 1 - chunk->bytes) : chunk->size;
    memmove(chunk->bytes, chunk->bytes + dropped, chunk->size - dropped);
    chunk->size -= dropped;
    chunker->next_offset += dropped;
    chunker->next_line += newline != NULL;
    chunk->newlines -= newline != NULL;
    chunker->skipping = newline == NULL;
    return newline != NULL;
}

static void begin_long_line(struct sta_chunker *chunker, const struct sta_chunk_text *chunk)
{
    char text[201];
    size_t length = 0;
    for (; length < 200; length++)
        text[length] = (char)((unsigned char)chunk->bytes[length] < 0x80 && chunk->bytes[length] != '\0'
                                  ? chunk->bytes[length]
                                  : '?');
    sta_line_notes_add(&chunker->long_lines, chunker->next_line, chunker->next_offset, "longer than 16 MiB",
                       text, length);
    chunker->long_line_count++;
    chunker->skipping = true;
}

/* Leaves whole lines in the chunk.  Return: false when it holds not even one and more must be read, or with a
 * failure. */
static bool cut_at_line_end(struct sta_chunker *chunker, struct sta_chunk_text *chunk, struct sta_error *err)
{
    if (chunker->skipping && !skip_long_line(chunker, chunk))
        return false;
    if (chunker->bytes == NULL)
        return true;
    const char *newline = memrchr(chunk->bytes, '\n', chunk->size);
    if (newline != NULL) {
        return put_carry(chunker, chunk, (size_t)(newline + 1 - chunk->bytes), err) == STA_OK;
    }
    if (chunk->size > STA_LINE_LIMIT) {
        begin_long_line(chunker, chunk);
        skip_long_line(chunker, chunk);
    } else if (chunk->size == chunk->wanted) {
        (void)reserve_space(chunk, chunk->wanted * 2, err); /* a refusal is in @err */
    }
    return false;
}

/* ---- records */

uint64_t sta_record_length(const char *at)
{
    uint64_t length;
    memcpy(&length, at, sizeof length);
    return __builtin_bswap64(length);
}

/* Ends the source before a length that no record has. */
static void end_at_damage(struct sta_chunker *chunker, const struct sta_chunk_text *chunk, size_t at)
{
    static const char reason[] = "its length is past the limit of 64 MiB: what follows cannot be read";
    char text[2 * STA_RECORD_LENGTH + 1];
    for (size_t i = 0; i < STA_RECORD_LENGTH; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned char)chunk->bytes[at + i]);
    sta_line_notes_add(&chunker->long_lines, chunker->next_line, chunker->next_offset, reason, text,
                       2 * STA_RECORD_LENGTH);
    chunker->long_line_count++;
    if (chunker->bytes != NULL)
        end_source(chunker, STA_BYTES_CUT);
    chunker->state = STA_BYTES_CUT;
    snprintf(chunker->reason, sizeof chunker->reason,
             "is damaged at byte %llu: a record's length is past 64 MiB",
             (unsigned long long)chunker->next_offset);
}

/* Goes past whole records.  Return: the bytes of these. */
static size_t pass_records(struct sta_chunker *chunker, const struct sta_chunk_text *chunk, uint64_t *damage)
{
    size_t at = 0;
    while (chunk->size - at >= STA_RECORD_LENGTH) {
        uint64_t length = sta_record_length(chunk->bytes + at);
        *damage = length > STA_RECORD_LIMIT;
        if (*damage || chunk->size - at - STA_RECORD_LENGTH < length)
            break;
        at += STA_RECORD_LENGTH + (size_t)length;
        chunker->next_line++;
    }
    chunker->next_offset += at;
    return at;
}

/* Leaves whole records in the chunk.  Return: as cut_at_line_end. */
static bool cut_at_record_end(struct sta_chunker *chunker, struct sta_chunk_text *chunk,
                              struct sta_error *err)
{
    uint64_t damage = 0;
    size_t whole = pass_records(chunker, chunk, &damage);
    if (damage) {
        end_at_damage(chunker, chunk, whole);
    } else if (chunker->bytes == NULL) {
        if (chunker->state == STA_BYTES_END)
            chunker->withheld += chunk->size - whole;
        chunker->ends_with_line = chunker->withheld == 0;
    } else if (whole == 0) {
        if (chunk->size == chunk->wanted)
            (void)reserve_space(chunk, chunk->wanted * 2, err); /* a refusal is in @err */
        return false;
    } else if (put_carry(chunker, chunk, whole, err) != STA_OK) {
        return false;
    }
    chunk->size = whole;
    return true;
}

static bool must_stop(const struct sta_chunker *chunker)
{
    return chunker->stop != NULL && atomic_load_explicit(chunker->stop, memory_order_relaxed);
}

/* Takes the last line out of the chunk if it has no end.  Return: its bytes. */
static size_t drop_unended(struct sta_chunk_text *chunk)
{
    const char *newline = chunk->size > 0 ? memrchr(chunk->bytes, '\n', chunk->size) : NULL;
    size_t whole = newline != NULL ? (size_t)(newline + 1 - chunk->bytes) : 0;
    size_t dropped = chunk->size - whole;
    chunk->size = whole;
    memset(chunk->bytes + chunk->size, 0, STA_BYTES_PADDING);
    return dropped;
}

static bool next_lines(struct sta_chunker *chunker, struct sta_chunk_text *chunk, struct sta_error *err)
{
    do
        fill(chunker, chunk);
    while (!cut_at_line_end(chunker, chunk, err) && err->status == STA_OK && chunker->bytes != NULL &&
           !must_stop(chunker));
    if (must_stop(chunker) || err->status != STA_OK)
        return false;
    if (chunker->passed_limit)
        drop_unended(chunk);
    chunk->unended = chunker->bytes == NULL && chunk->size > 0 && chunk->bytes[chunk->size - 1] != '\n';
    chunk->first_line = chunker->next_line;
    chunk->offset = chunker->next_offset;
    chunker->next_line += chunk->newlines;
    chunker->next_offset += chunk->size;
    return true;
}

static bool next_records(struct sta_chunker *chunker, struct sta_chunk_text *chunk, struct sta_error *err)
{
    chunk->unended = false;
    chunk->first_line = chunker->next_line;
    chunk->offset = chunker->next_offset;
    do
        fill(chunker, chunk);
    while (!cut_at_record_end(chunker, chunk, err) && err->status == STA_OK && chunker->bytes != NULL &&
           !must_stop(chunker));
    return !must_stop(chunker) && err->status == STA_OK;
}

bool sta_chunker_next(struct sta_chunker *chunker, struct sta_chunk_text *chunk, struct sta_error *err)
{
    *err = STA_ERROR_INIT;
    if (take_carry(chunker, chunk, err) != STA_OK)
        return false;
    bool more = chunker->framing == STA_FRAMING_LINES ? next_lines(chunker, chunk, err)
                                                      : next_records(chunker, chunk, err);
    if (more)
        memset(chunk->bytes + chunk->size, 0, STA_BYTES_PADDING);
    return more && chunk->size > 0;
}

bool sta_chunker_withhold(struct sta_chunker *chunker, struct sta_chunk_text *chunk)
{
    chunker->withheld = drop_unended(chunk);
    chunker->next_offset -= chunker->withheld;
    return chunk->size > 0;
}
