/* chunks.h - a source cut into chunks of whole lines, for whichever worker comes next (private to decode).
 *
 * Reading (and inflating) a source goes on in order, by one worker at a time; the chunks it gives know their
 * first line's number and offset, so they can be scanned anywhere, in any order: while one worker scans,
 * another reads on. */
#ifndef STA_DECODE_CHUNKS_H
#define STA_DECODE_CHUNKS_H

#include <pthread.h>
#include <stdatomic.h>

#include "common/account.h"
#include "common/ledger.h"
#include "decode/source.h"

#define STA_LINE_LIMIT ((size_t)16 << 20) /* bytes of a line */
#define STA_CHUNK_BYTES ((size_t)2 << 20) /* of lines, but for lines that are longer */

/* What a source is cut between: lines; or records, a length of 8 bytes (big endian) and so many bytes each.
 * What is said of lines below holds of records likewise. */
enum sta_framing { STA_FRAMING_LINES, STA_FRAMING_RECORDS };
#define STA_RECORD_LENGTH 8 /* bytes before a record's payload */
#define STA_RECORD_LIMIT                                                                                     \
    ((uint64_t)64 << 20) /* bytes of a payload; more is damage, behind which no record is found */
uint64_t sta_record_length(const char *at);

struct sta_chunk_text {
    char *bytes; /* whole lines (the last of a source may lack its '\n'), readable STA_BYTES_PADDING past the
                    end */
    size_t size, capacity;
    size_t wanted;               /* bytes to read up to */
    size_t newlines;             /* among them */
    uint64_t first_line;         /* from 1 */
    uint64_t offset;             /* in the decompressed source */
    bool unended;                /* its last line is the source's and has no '\n' */
    struct sta_account *account; /* the bytes are charged to it; NULL: not counted */
};
void sta_chunk_text_fini(struct sta_chunk_text *chunk);

struct sta_chunker {
    struct sta_byte_source *bytes; /* NULL once it has ended */
    struct sta_account *account;   /* what it carries over is charged to it; NULL: not counted */
    enum sta_framing framing;
    char *carry; /* the beginning of a line that the last chunk could not hold */
    size_t carry_size, carry_capacity;
    uint64_t next_line, next_offset;
    bool skipping;              /* inside a line past the limit */
    enum sta_bytes_state state; /* how the source ended, when bytes is NULL */
    bool failed;                /* it ended because reading failed */
    bool ends_with_line;        /* its last line is ended, or there was none */
    char reason[160];
    uint64_t consumed; /* bytes of the file on disk */
    uint64_t withheld; /* bytes of a last line that is not whole yet: they belong to no chunk */
    uint64_t limit;    /* bytes of text after which it is cut */
    bool passed_limit;
    const _Atomic bool *stop; /* ends a long skip early; NULL: never */
    /* Lines past the limit are accounted for here, since no chunk holds them. */
    struct sta_line_notes long_lines;
    uint64_t long_line_count;
};

/** Takes over @bytes, of lines.  @line, @offset: of the first byte to come (1 and 0 at a source's beginning).
 * @limit: bytes of text before which the source is cut, at a line's end; 0: none.  @stop may be NULL. */
void sta_chunker_init(struct sta_chunker *chunker, struct sta_byte_source *bytes, uint64_t line,
                      uint64_t offset, uint64_t limit, const _Atomic bool *stop);
void sta_chunker_fini(struct sta_chunker *chunker);
/** Fills the chunk with the next lines.  Return: false when there are none left, it was stopped, or
 * memory for a long line was refused, which @err says (else its status is 0); then the source cannot be read
 * on. Context: one worker at a time. */
bool sta_chunker_next(struct sta_chunker *chunker, struct sta_chunk_text *chunk, struct sta_error *err);
/** Takes the unended last line out of the chunk: it is for the next time.  Return: whether lines are left. */
bool sta_chunker_withhold(struct sta_chunker *chunker, struct sta_chunk_text *chunk);

#endif
