/* Times as tracers write them: integers, decimal strings, fractions, exponents; exactly, without a double
 * between. */
#include <string.h>

#include "common/number.h"
#include "decode/json_text.h"
#include "decode/rows.h"

#define NS_PER_US 1000
#define DIGITS 30 /* of a mantissa; further ones are below any nanosecond */

struct decimal {
    bool negative;
    unsigned __int128 mantissa;
    int exponent; /* of ten */
};

/* @text is a valid JSON number. */
static struct decimal split(const char *text, size_t length)
{
    struct decimal number = {.negative = text[0] == '-'};
    bool fraction = false;
    int digits = 0;
    size_t at = number.negative;
    for (; at < length && text[at] != 'e' && text[at] != 'E'; at++) {
        if (text[at] == '.') {
            fraction = true;
            continue;
        }
        bool kept = digits < DIGITS;
        if (kept)
            number.mantissa = number.mantissa * 10 + (unsigned)(text[at] - '0');
        digits += kept && number.mantissa != 0;
        number.exponent += !kept - (fraction ? 1 : 0);
    }
    if (at < length) {
        bool down = text[at + 1] == '-';
        int exponent = 0;
        for (at += 1 + (text[at + 1] == '-' || text[at + 1] == '+'); at < length && exponent < 100000; at++)
            exponent = exponent * 10 + (text[at] - '0');
        number.exponent += down ? -exponent : exponent;
    }
    return number;
}

/* mantissa x 10^exponent, rounded to the nearest integer; false when far out of range. */
static bool scale(struct decimal number, int exponent, unsigned __int128 *scaled)
{
    unsigned __int128 value = number.mantissa;
    const unsigned __int128 limit = (unsigned __int128)STA_TIME_LIMIT * NS_PER_US * 2;
    for (; exponent > 0 && value > 0; exponent--) {
        value *= 10;
        if (value > limit)
            return false;
    }
    unsigned last = 0;
    for (; exponent < 0 && value > 0; exponent++) {
        last = (unsigned)(value % 10);
        value /= 10;
    }
    *scaled = value + (exponent == 0 && last >= 5);
    return *scaled <= limit;
}

static enum sta_time_fault parse_text(const char *text, size_t length, struct sta_time *time)
{
    double unused;
    int64_t whole;
    if (sta_parse_int(text, length, &whole))
        return sta_time_whole(whole, time);
    if (!sta_json_is_integer(text, length) && !sta_parse_double(text, length, &unused))
        return STA_TIME_NO_NUMBER;
    struct decimal decimal = split(text, length);
    unsigned __int128 ns;
    if (!scale(decimal, decimal.exponent + 3, &ns))
        return STA_TIME_OUT_OF_RANGE;
    __int128 value = decimal.negative ? -(__int128)ns : (__int128)ns;
    __int128 us = value / NS_PER_US;
    int rest = (int)(value % NS_PER_US);
    if (rest < 0) {
        rest += NS_PER_US;
        us--;
    }
    *time = (struct sta_time){.us = (int64_t)us, .ns = (uint16_t)rest};
    return us < -STA_TIME_LIMIT || us > STA_TIME_LIMIT ? STA_TIME_OUT_OF_RANGE : STA_TIME_GOOD;
}

enum sta_time_fault sta_time_parse_other(const struct sta_json_value *value, struct sta_time *time)
{
    const char *text = value->text;
    size_t length = value->length;
    switch (value->kind) {
    case STA_JSON_BIG:
        return STA_TIME_OUT_OF_RANGE;
    case STA_JSON_NUMBER:
        return parse_text(text, length, time);
    case STA_JSON_STRING:
        for (; length > 0 && (*text == ' ' || *text == '\t'); length--)
            text++;
        while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
            length--;
        return parse_text(text, length, time);
    case STA_JSON_ABSENT:
    case STA_JSON_NULL:
        return STA_TIME_MISSING;
    default:
        return STA_TIME_NO_NUMBER;
    }
}
