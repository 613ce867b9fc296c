/* Bytes of a gzip file of one or many members: by ISA-L, or by zlib where that is missing.
 *
 * The only file that knows either library.  A file that ends inside a member, or whose bits were flipped,
 * gives what comes before; zeros behind the last member are padding. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"
#include "decode/bytes.h"
#include "decode/source.h"

#define INPUT_BYTES (256u << 10)

enum inflated {
    INFLATED_MORE,   /* wants input or space for output */
    INFLATED_MEMBER, /* a member ended, its checksum was right */
    INFLATED_BAD
};

/* ---- the two libraries: step() inflates from input into out, moving both */

struct window {
    const unsigned char *in;
    size_t in_size;
    unsigned char *out;
    size_t out_size;
};

#ifdef STA_HAVE_ISAL

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <isa-l/igzip_lib.h>

struct inflater {
    struct inflate_state state;
};

static void inflater_init(struct inflater *inflater)
{
    isal_inflate_init(&inflater->state);
    inflater->state.crc_flag = ISAL_GZIP;
}

static void inflater_next_member(struct inflater *inflater)
{
    isal_inflate_reset(&inflater->state);
    inflater->state.crc_flag = ISAL_GZIP;
}

static void inflater_fini(struct inflater *inflater)
{
}

/* ISA-L leaves the upper halves of vector registers in use, and then instructions of SSE2 take several times
 * as long: until something clears these halves, as code for AVX does when it ends. */
#if defined(__x86_64__)
__attribute__((target("avx"))) static void clear_upper_halves(void)
{
    _mm256_zeroupper();
}
#endif

static enum inflated step(struct inflater *inflater, struct window *window)
{
    struct inflate_state *state = &inflater->state;
    state->next_in = (uint8_t *)window->in;
    state->avail_in = (uint32_t)window->in_size;
    state->next_out = window->out;
    state->avail_out = (uint32_t)window->out_size;
    int result = isal_inflate(state);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx"))
        clear_upper_halves();
#endif
    *window = (struct window){state->next_in, state->avail_in, state->next_out, state->avail_out};
    if (result < 0 || result == ISAL_NEED_DICT)
        return INFLATED_BAD;
    return state->block_state == ISAL_BLOCK_FINISH ? INFLATED_MEMBER : INFLATED_MORE;
}

#else

#include <zlib.h>

struct inflater {
    z_stream stream;
};

static void inflater_init(struct inflater *inflater)
{
    memset(inflater, 0, sizeof *inflater);
    while (inflateInit2(&inflater->stream, 15 + 16) != Z_OK)
        sta_memory_open_reserve(sizeof *inflater);
}

static void inflater_next_member(struct inflater *inflater)
{
    inflateReset(&inflater->stream);
}

static void inflater_fini(struct inflater *inflater)
{
    inflateEnd(&inflater->stream);
}

static enum inflated step(struct inflater *inflater, struct window *window)
{
    z_stream *stream = &inflater->stream;
    stream->next_in = (unsigned char *)window->in;
    stream->avail_in = (unsigned)window->in_size;
    stream->next_out = window->out;
    stream->avail_out = (unsigned)window->out_size;
    int result = inflate(stream, Z_NO_FLUSH);
    *window = (struct window){stream->next_in, stream->avail_in, stream->next_out, stream->avail_out};
    if (result == Z_STREAM_END)
        return INFLATED_MEMBER;
    return result == Z_OK || result == Z_BUF_ERROR ? INFLATED_MORE : INFLATED_BAD;
}

#endif

/* ---- the source */

struct gzip_source {
    struct sta_byte_source base;
    int fd;
    struct inflater inflater;
    const unsigned char *at; /* input not yet inflated */
    size_t left;
    bool at_end;          /* of the file */
    bool inside;          /* a member has begun */
    bool ends_line;       /* the text so far ends with a line's end, or there is none */
    uint64_t whole;       /* bytes of the file up to the end of the last member */
    uint64_t whole_line;  /* the same of the last member that ends with a line */
    unsigned char *input; /* INPUT_BYTES; NULL while paused */
};

static enum sta_bytes_state cut(struct gzip_source *source, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(source->base.reason, sizeof source->base.reason, format, args);
    va_end(args);
    return STA_BYTES_CUT;
}

static unsigned long long position(const struct gzip_source *source)
{
    return source->base.consumed - source->left;
}

static bool refill(struct gzip_source *source)
{
    ssize_t n;
    if (source->left > 0 || source->at_end)
        return true;
    if (source->input == NULL)
        source->input = sta_alloc(INPUT_BYTES);
    do
        n = read(source->fd, source->input,
                 STA_MIN((uint64_t)INPUT_BYTES, source->base.file_size - source->base.consumed));
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        sta_source_fail(&source->base, position(source), errno);
        return false;
    }
    source->at_end = n == 0;
    source->at = source->input;
    source->left = (size_t)n;
    source->base.consumed += (uint64_t)n;
    return true;
}

/* Between members: OK when another begins, END when only zeros follow. */
static enum sta_bytes_state begin_member(struct gzip_source *source)
{
    while (source->left > 0 && *source->at == 0) {
        source->at++;
        source->left--;
        if (!refill(source))
            return STA_BYTES_CUT;
    }
    if (source->left == 0)
        return STA_BYTES_END;
    if (*source->at != 0x1f)
        return cut(source, "what begins at byte %llu is no gzip member", position(source));
    source->inside = true;
    return STA_BYTES_OK;
}

static enum sta_bytes_state inflate_some(struct gzip_source *source, struct window *window)
{
    if (source->at_end)
        return cut(source, "ends inside a gzip member, at byte %llu", position(source));
    size_t before = window->out_size + source->left;
    const unsigned char *out = window->out;
    window->in = source->at;
    window->in_size = source->left;
    enum inflated result = step(&source->inflater, window);
    source->at = window->in;
    source->left = window->in_size;
    if (window->out != out)
        source->ends_line = window->out[-1] == '\n';
    if (result == INFLATED_BAD)
        return cut(source, "damaged gzip data before byte %llu", position(source));
    if (result == INFLATED_MEMBER) {
        source->inside = false;
        source->whole = position(source);
        if (source->ends_line)
            source->whole_line = source->whole;
        inflater_next_member(&source->inflater);
    } else if (before == window->out_size + source->left && source->left > 0) {
        return cut(source, "gzip data makes no progress at byte %llu", position(source));
    }
    return STA_BYTES_OK;
}

static enum sta_bytes_state gzip_read(struct sta_byte_source *base, char *out, size_t capacity, size_t *got)
{
    struct gzip_source *source = (struct gzip_source *)base;
    struct window window = {.out = (unsigned char *)out, .out_size = capacity};
    enum sta_bytes_state state = STA_BYTES_OK;
    while (state == STA_BYTES_OK && window.out_size > 0) {
        if (!refill(source))
            state = STA_BYTES_CUT;
        else if (!source->inside)
            state = begin_member(source);
        else
            state = inflate_some(source, &window);
    }
    *got = capacity - window.out_size;
    return state;
}

enum sta_bytes_state sta_gzip_source_pass(struct sta_byte_source *base, char *scratch, size_t capacity,
                                          const _Atomic bool *cancel, struct sta_gzip_member *member)
{
    struct gzip_source *source = (struct gzip_source *)base;
    enum sta_bytes_state state = refill(source) ? begin_member(source) : STA_BYTES_CUT;
    *member = (struct sta_gzip_member){.begin = position(source)};
    while (state == STA_BYTES_OK && source->inside) {
        struct window window = {.out = (unsigned char *)scratch, .out_size = capacity};
        state = refill(source) ? inflate_some(source, &window) : STA_BYTES_CUT;
        member->lines += sta_count_newlines(scratch, capacity - window.out_size);
        member->text += capacity - window.out_size;
        if (cancel != NULL && atomic_load(cancel))
            state = STA_BYTES_CUT;
    }
    member->end = position(source);
    member->ends_line = member->text > 0 && source->ends_line;
    return state;
}

static void gzip_close(struct sta_byte_source *base)
{
    struct gzip_source *source = (struct gzip_source *)base;
    inflater_fini(&source->inflater);
    free(source->input);
    free(source);
}

struct sta_byte_source *sta_gzip_source_create(int fd)
{
    struct gzip_source *source = sta_alloc(sizeof *source);
    source->base.read = gzip_read;
    source->base.close = gzip_close;
    source->fd = fd;
    source->ends_line = true;
    inflater_init(&source->inflater);
    return &source->base;
}

size_t sta_gzip_source_bytes(void)
{
    return sizeof(struct gzip_source);
}

uint64_t sta_gzip_source_whole(const struct sta_byte_source *base, bool lines)
{
    const struct gzip_source *source = (const struct gzip_source *)base;
    return lines ? source->whole_line : source->whole;
}

bool sta_gzip_source_pause(struct sta_byte_source *base)
{
    struct gzip_source *source = (struct gzip_source *)base;
    bool may_go_on = source->inside && source->at_end && source->left == 0 && !base->failed;
    free(source->input);
    source->input = NULL;
    return may_go_on;
}

void sta_gzip_source_go_on(struct sta_byte_source *base, int fd, uint64_t file_size)
{
    struct gzip_source *source = (struct gzip_source *)base;
    source->fd = fd;
    source->at_end = false;
    base->file_size = file_size;
    (void)lseek(fd, (off_t)base->consumed, SEEK_SET);
}
