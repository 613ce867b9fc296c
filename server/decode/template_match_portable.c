/* The match without vector instructions: eight bytes at a time. */
#include "decode/template_trie.h"

#define STA_TEMPLATE_MATCH sta_template_match_portable

static inline bool has_fragment(const struct sta_template_node *node, const char *at)
{
    return memcmp(at, node->fragment, node->length) == 0;
}

static inline bool has_piece(const struct sta_template_step *step, const char *at)
{
    return memcmp(at, step->fragment, step->length) == 0;
}

/* What is above the most is summed up without a branch, so that compilers find vector instructions for it. */
static inline bool is_within(const struct sta_byte_bounds *bounds, const char *at)
{
    uint8_t beyond = 0;
    for (unsigned i = 0; i < STA_BOUNDS_VECTOR; i++) {
        const uint8_t above = (uint8_t)((uint8_t)at[i] - bounds->least[i]);
        beyond |= (uint8_t)(above > bounds->more[i] ? above - bounds->more[i] : 0);
    }
    return beyond == 0;
}

static inline const char *string_stop(const char *at)
{
    while (*at != '"' && *at != '\\' && *at >= 0x20 && (unsigned char)*at < 0x80)
        at++;
    return at;
}

static inline uint64_t eight_bytes(const char *at)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++) /* one load where bytes are ordered so */
        word |= (uint64_t)(unsigned char)at[i] << (8 * i);
    return word;
}

/* How many of the 8 bytes are digits before the first that is none.  After the exclusive or, digits are 0 ..
 * 9; adding 0x76 sets the top bit of what is more.  A carry can only spoil bytes above the first such, which
 * do not matter. */
static inline unsigned leading_digits(uint64_t word)
{
    uint64_t values = word ^ UINT64_C(0x3030303030303030);
    uint64_t others = ((values + UINT64_C(0x7676767676767676)) | values) & UINT64_C(0x8080808080808080);
    return others == 0 ? 8 : (unsigned)__builtin_ctzll(others) / 8;
}

/* The number that the first @count (1 .. 8) bytes, all digits, stand for: pairs, then fours, then eight at
 * once. */
static inline uint64_t digits_value(uint64_t word, unsigned count)
{
    word <<= 64 - 8 * count;
    word = (word & UINT64_C(0x0f0f0f0f0f0f0f0f)) * 2561 >> 8;
    word = (word & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
    return (word & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32;
}

static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

static inline size_t digits(const struct sta_digit_tables *tables, const char *at, uint64_t *value)
{
    size_t total = 0;
    *value = 0;
    for (int words = 0; words < 3; words++) {
        uint64_t word = eight_bytes(at + total);
        unsigned count = leading_digits(word);
        if (count > 0 && total + count <= 19)
            *value = *value * powers[count] + digits_value(word, count);
        total += count;
        if (count < 8)
            break;
    }
    return total;
}

static inline uint64_t number(const struct sta_digit_tables *tables, const char *at, size_t length)
{
    const uint64_t first = digits_value(eight_bytes(at), (unsigned)(length < 8 ? length : 8));
    const unsigned more = (unsigned)(length < 16 ? length : 16) - 8;
    return length <= 8 ? first : first * powers[more] + digits_value(eight_bytes(at + 8), more);
}

static inline size_t count_digits(const struct sta_digit_tables *tables, const char *at)
{
    size_t count = 0;
    while (count < 32 && at[count] >= '0' && at[count] <= '9')
        count++;
    return count;
}

#include "decode/template_match.h"
