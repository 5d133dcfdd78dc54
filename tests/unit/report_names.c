/* Names in few columns: what is left out first, and that each place of it is marked. */
#include "report/names.h"

#include "base/columns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *name;
    size_t columns;
    const char *shown;
} cases[] = {
    {"scale", 8, "scale"},
    {"scale<float, 4>", 15, "scale<float, 4>"},
    {"scale<float, 4>", 12, "scale<...>"},
    {"scale(float*, int)", 10, "scale(...)"},
    {"scale()", 8, "scale()"},
    {"app::scale<float, app::policy<4> >", 20, "app::scale<...>"},
    {"app::scale<float, app::policy<4> >", 14, "...scale..."},
    {"app::detail::scale<float>(float*)", 30, "app::detail::scale<float>(...)"},
    {"app::detail::scale<float>(float*)", 28, "app::detail::scale<...>(...)"},
    {"app::detail::scale<float>(float*)", 20, "...::scale<...>(...)"},
    {"app::detail::scale<float>(float*)", 10, "scale..."},
    {"kernels<float>::run", 18, "kernels<...>::run"},
    {"kernels<float>::run", 8, "...::run"},
    {"(anonymous namespace)::fill<int>(int*)", 38, "(anonymous namespace)::fill<int>(int*)"},
    {"(anonymous namespace)::fill<int>(int*)", 37, "(anonymous namespace)::fill<int>(...)"},
    {"(anonymous namespace)::fill<int>(int*)", 20, "...::fill<...>(...)"},
    {"a_rather_long_name_of_a_kernel", 16, "a_rath..._kernel"},
    {"app::a_rather_long_name_of_a_kernel<int>", 16, "a_rath..._kernel"},
    {"app::a_long_name<int>", 11, "a_long_name"},
    {"main::{lambda(void*)#1}::__invoke", 22, "main::{la...::__invoke"},
    {"less<3, (2<1)>", 12, "less<...>"},
    {"odd<<name", 8, "odd..."},
    {"vec::operator<(int)", 12, "vec:...(int)"},
    {"my_operators::operator<(int)", 12, "my_o...(int)"},
    {"app::\xc3\xbc"
     "operator<int>",
     13,
     "\xc3\xbc"
     "operator..."},
};

static void names_are_shortened(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf out = {0};
        names_shorten(&out, cases[i].name, cases[i].columns);
        assert_string_equal(strbuf_text(&out), cases[i].shown);
        strbuf_finish(&out);
    }
}

/* Never wider than asked for, and the same when asked for as many columns as it took. */
static void widths_are_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t columns = 8; columns < 60; columns++) {
            struct strbuf out = {0}, again = {0};
            names_shorten(&out, cases[i].name, columns);
            const size_t took = columns_of(strbuf_text(&out), out.length);
            assert_true(took <= columns);
            names_shorten(&again, cases[i].name, took < 8 ? 8 : took);
            assert_string_equal(strbuf_text(&again), strbuf_text(&out));
            strbuf_finish(&out);
            strbuf_finish(&again);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_shortened),
        cmocka_unit_test(widths_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
