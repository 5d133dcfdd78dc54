/* Texts are measured and cut by characters, whatever their bytes. */
#include "base/columns.h"
#include "base/strbuf.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

/* Each row: a text, its columns, and the bytes of its first and last two. */
static void counts(void **state)
{
    static const struct {
        const char *text;
        size_t columns, head, tail;
    } rows[] = {
        {"", 0, 0, 0},
        {"a", 1, 1, 1},
        {"abc", 3, 2, 2},
        {"gr\xc3\xb6\xc3\x9f"
         "e",
         5, 2, 3},
        {"\xc3\xa9", 1, 2, 2},
        {"\xe6\xb5\x81\xf0\x9f\x98\x80x", 3, 7, 5},
        {"\xc3", 1, 1, 1},              /* cut short */
        {"\xc3x", 2, 2, 2},             /* not continued */
        {"\xa9\xa9\xa9", 3, 2, 2},      /* continues nothing */
        {"\xff\xfe", 2, 2, 2},          /* no UTF-8 at all */
        {"\xe6\xb5z\xc0\x80", 5, 2, 2}, /* a byte too few; an overlong NUL */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = rows[i].text;
        const size_t length = strlen(text);
        const size_t got[] = {columns_of(text, length), columns_head(text, length, 2),
                              columns_tail(text, length, 2)};
        if (got[0] != rows[i].columns || got[1] != rows[i].head || got[2] != rows[i].tail) {
            fail_msg("row %zu: %zu columns, %zu and %zu bytes", i, got[0], got[1], got[2]);
        }
    }
}

static void pads(void **state)
{
    struct strbuf text = {0};
    strbuf_puts(&text, "gr\xc3\xb6\xc3\x9f"
                       "er\n\xc3\xa4");
    strbuf_pad_to(&text, 4);
    strbuf_puts(&text, "|");
    assert_string_equal(strbuf_text(&text), "gr\xc3\xb6\xc3\x9f"
                                            "er\n\xc3\xa4   |");
    strbuf_finish(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(pads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
