/* Numbers as text, exactly and without locale. */
#include "common/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sta_parse_int(const char *text, size_t length, int64_t *value)
{
    bool negative = length > 0 && text[0] == '-';
    size_t at = negative ? 1 : 0;
    if (at == length || length - at > 19 || (text[at] == '0' && length - at > 1))
        return false;
    uint64_t sum = 0;
    for (; at < length; at++) {
        unsigned digit = (unsigned)(text[at] - '0');
        if (digit > 9)
            return false;
        sum = sum * 10 + digit;
    }
    if (sum > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return false;
    *value = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

static size_t skip_digits(const char *text, size_t length, size_t at)
{
    while (at < length && text[at] >= '0' && text[at] <= '9')
        at++;
    return at;
}

/* Whether the text is exactly one number by JSON's grammar. */
static bool is_json_number(const char *text, size_t length)
{
    size_t at = length > 0 && text[0] == '-' ? 1 : 0;
    size_t whole = skip_digits(text, length, at);
    if (whole == at || (text[at] == '0' && whole - at > 1))
        return false;
    at = whole;
    if (at < length && text[at] == '.') {
        size_t fraction = skip_digits(text, length, at + 1);
        if (fraction == at + 1)
            return false;
        at = fraction;
    }
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        if (at < length && (text[at] == '+' || text[at] == '-'))
            at++;
        size_t exponent = skip_digits(text, length, at);
        if (exponent == at)
            return false;
        at = exponent;
    }
    return at == length;
}

bool sta_parse_double(const char *text, size_t length, double *value)
{
    char stack[128];
    if (!is_json_number(text, length))
        return false;
    char *copy = length < sizeof stack ? stack : malloc(length + 1);
    if (copy == NULL)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    *value = strtod(copy, NULL);
    if (copy != stack)
        free(copy);
    return isfinite(*value);
}

size_t sta_format_int(int64_t value, char out[STA_DOUBLE_TEXT])
{
    char reversed[24];
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t digits = 0;
    size_t size = 0;
    do {
        reversed[digits++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        out[size++] = '-';
    while (digits > 0)
        out[size++] = reversed[--digits];
    out[size] = '\0';
    return size;
}

/* Less than a hundred millionths: written with an exponent. */
static size_t format_few_millionths(uint64_t whole, char *out)
{
    size_t size = 0;
    out[size++] = (char)('0' + (whole < 10 ? whole : whole / 10));
    if (whole >= 10 && whole % 10 != 0) {
        out[size++] = '.';
        out[size++] = (char)('0' + whole % 10);
    }
    memcpy(out + size, whole < 10 ? "e-06" : "e-05", 5);
    return size + 4;
}

/* Whole millionths (times in seconds, most of all) need no search: up to 15 digits are the shortest there
 * are, and the quotient is the double nearest to them. */
static size_t format_millionths(double value, char out[STA_DOUBLE_TEXT])
{
    double whole = nearbyint(value * 1e6);
    if (!(fabs(whole) < 1e15) || whole / 1e6 != value || (value == 0 && signbit(value)))
        return 0;
    size_t size = 0;
    if (whole < 0)
        out[size++] = '-';
    uint64_t rest = (uint64_t)fabs(whole);
    if (rest != 0 && rest < 100)
        return size + format_few_millionths(rest, out + size);
    size += sta_format_int((int64_t)(rest / 1000000), out + size);
    out[size++] = '.';
    uint32_t fraction = (uint32_t)(rest % 1000000);
    for (uint32_t unit = 100000; unit > 0; unit /= 10)
        out[size++] = (char)('0' + fraction / unit % 10);
    while (out[size - 1] == '0' && out[size - 2] != '.')
        size--;
    out[size] = '\0';
    return size;
}

/* digits (no point) times 10^(exponent - (count - 1)), laid out as Python's repr does. */
static size_t lay_out(char *out, const char *digits, int count, int exponent)
{
    char *at = out;
    if (exponent < -4 || exponent >= 16) {
        *at++ = digits[0];
        if (count > 1) {
            *at++ = '.';
            memcpy(at, digits + 1, (size_t)count - 1);
            at += count - 1;
        }
        return (size_t)(at - out) + (size_t)sprintf(at, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    }
    if (exponent < 0) {
        *at++ = '0';
        *at++ = '.';
        for (int i = -1; i > exponent; i--)
            *at++ = '0';
        memcpy(at, digits, (size_t)count);
        at += count;
    } else {
        for (int i = 0; i <= exponent || i < count; i++) {
            if (i == exponent + 1)
                *at++ = '.';
            *at++ = i < count ? digits[i] : '0';
        }
        if (count <= exponent + 1) {
            *at++ = '.';
            *at++ = '0';
        }
    }
    *at = '\0';
    return (size_t)(at - out);
}

size_t sta_format_double(double value, char out[STA_DOUBLE_TEXT])
{
    size_t quick = format_millionths(value, out);
    if (quick > 0)
        return quick;
    char text[40];
    /* Denormal numbers have fewer digits than others. */
    for (int precision = fabs(value) < DBL_MIN ? 0 : 14; precision <= 16; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    size_t sign = text[0] == '-' ? 1 : 0;
    char *mark = strchr(text, 'e');
    if (mark == NULL) /* not finite: callers check, and print nothing a number reader would take */
        return (size_t)snprintf(out, STA_DOUBLE_TEXT, "%s", text);
    int exponent = atoi(mark + 1);
    char digits[24];
    int count = 0;
    for (char *at = text + sign; at < mark; at++)
        if (*at != '.')
            digits[count++] = *at;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (sign)
        out[0] = '-';
    return sign + lay_out(out + sign, digits, count, exponent);
}

bool sta_parse_size(const char *text, uint64_t *bytes)
{
    static const struct {
        const char *suffix;
        unsigned shift;
    } units[] = {{"", 0},     {"B", 0},  {"K", 10},   {"KiB", 10}, {"M", 20},
                 {"MiB", 20}, {"G", 30}, {"GiB", 30}, {"T", 40},   {"TiB", 40}};
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 18)
        return false;
    uint64_t value = strtoull(text, NULL, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(text + digits, units[i].suffix) == 0) {
            *bytes = value << units[i].shift;
            return *bytes >> units[i].shift == value;
        }
    }
    return false;
}

/* Length of the valid sequence at `at`, 0 if there is none. */
static size_t utf8_sequence(const unsigned char *at, size_t left)
{
    unsigned lead = at[0];
    if (lead < 0x80)
        return 1;
    size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || length > left)
        return 0;
    unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

size_t sta_utf8_valid_prefix(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        uint64_t word;
        if (length - at >= sizeof word) {
            memcpy(&word, text + at, sizeof word);
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                at += sizeof word;
                continue;
            }
        }
        size_t step = utf8_sequence((const unsigned char *)text + at, length - at);
        if (step == 0)
            break;
        at += step;
    }
    return at;
}

size_t sta_utf8_count(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

size_t sta_utf8_prefix(const char *text, size_t length, size_t count)
{
    size_t at = 0;
    for (; at < length && count > 0; count--)
        do
            at++;
        while (at < length && ((unsigned char)text[at] & 0xc0) == 0x80);
    return at;
}
