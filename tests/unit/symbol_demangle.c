/* Names without argument lists and return types. */
#include "symbol/demangle.h"

#include "base/mem.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static const struct {
    const char *mangled, *name;
} cases[] = {
    {"_Z5scalePfi", "scale"},
    {"_ZN2ns4kernIiEEvPT_i", "ns::kern<int>"},
    {"_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo"},
    {"_ZN1AclEi", "A::operator()"},
    {"_ZlsRSoi", "operator<<"},
    {"_Z1fIPFivEEvT_", "f<int (*)()>"},
    {"_ZN1AcviEv", "A::operator int"},
    {"main", "main"},
    {"_Zbroken", "_Zbroken"},
    {"", ""},
};

static void names(void **state)
{
    size_t i;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *name = demangle(cases[i].mangled);
        assert_string_equal(name, cases[i].name);
        mem_free(name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
