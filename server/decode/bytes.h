/* bytes.h - the loops over raw bytes, with vector instructions where the processor has them (private to
 * decode).
 *
 * Memory handed to these must be readable for STA_BYTES_PADDING bytes past its end. */
#ifndef STA_DECODE_BYTES_H
#define STA_DECODE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#define STA_BYTES_PADDING 128

/** How many '\n' there are; nothing is read behind the bytes.  Context: any thread. */
size_t sta_count_newlines(const char *bytes, size_t size);

struct sta_byte_kernels {
    const char *name;
    /** The first byte from @at that is no blank: ' ' or '\t' .. '\r'; @end when there is none. */
    const char *(*blanks_end)(const char *at, const char *end);
    /** The first byte from @at that is '"', '\\', a control character or not ASCII; @end when there is none
     * before it. */
    const char *(*string_end)(const char *at, const char *end);
};

/** The fastest that this processor can do.  Context: any thread. */
const struct sta_byte_kernels *sta_byte_kernels(void);
/** All that were built and can run here, the portable ones first, for tests; ended by NULL. */
const struct sta_byte_kernels *const *sta_byte_kernels_all(void);

#endif
