/* The lower case of letters in and past ASCII. */
#include <criterion/criterion.h>
#include <string.h>

#include "common/lower_case.h"

static void expect(const char *text, const char *wanted)
{
    char out[256];
    size_t size = sta_lower_case(text, strlen(text), out);
    cr_assert(size <= STA_LOWER_CASE_CAPACITY(strlen(text)));
    cr_assert(size == strlen(wanted) && memcmp(out, wanted, size) == 0, "%s: %.*s", text, (int)size, out);
}

Test(lower_case, ascii_letters)
{
    expect("POSIX_0123456789_abcXYZ[]@`{", "posix_0123456789_abcxyz[]@`{");
    expect("", "");
}

Test(lower_case, letters_of_other_alphabets)
{
    expect("\u00c4RGER \u00d7", "\u00e4rger \u00d7");
    expect("\u0141\u0142\u017d", "\u0142\u0142\u017e");
    expect("\u0391\u03a3\u03a3", "\u03b1\u03c3\u03c3"); /* each by itself: no final sigma */
    expect("\u0414\u0410\u041d\u041d\u042b\u0415", "\u0434\u0430\u043d\u043d\u044b\u0435");
    expect("\U00010400\u2160\uff21", "\U00010428\u2170\uff41");
}

Test(lower_case, letters_that_take_more_or_fewer_bytes)
{
    expect("\u023a\u023e", "\u2c65\u2c66");
    expect("\u212a\u0130\u1e9e", "ki\u00df");
}

Test(lower_case, what_has_no_case_or_is_no_text_stays)
{
    expect("\u4e2d\u00df\u00e9\u01c5", "\u4e2d\u00df\u00e9\u01c6");
    expect("\xc3", "\xc3");
    expect("a\xff\x80\xe2\x84Z", "a\xff\x80\xe2\x84z");
}
