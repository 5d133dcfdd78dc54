/* Names without argument lists and return types. */
#include "symbol/demangle.h"
#include "symbol/names.h"

#include "base/mem.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

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

/* Names of events: each demangled once, others as they are, mangled ones without memory. */
static void events(void **state)
{
    struct names known = {0};
    struct ssan_event event = {.kind = SSAN_EV_op};
    const char *first;
    size_t i;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        event.op.name = ssan_str(cases[i].mangled);
        names_tidy(&known, &event);
        assert_int_equal(event.op.name.length, strlen(cases[i].name));
        assert_memory_equal(event.op.name.ptr, cases[i].name, event.op.name.length);
    }
    event.op.name = ssan_str("_Z5scalePfi");
    names_tidy(&known, &event);
    first = event.op.name.ptr;
    event.op.name = ssan_str("_Z5scalePfi");
    names_tidy(&known, &event);
    assert_ptr_equal(event.op.name.ptr, first);
    names_finish(&known);
    for (i = 1; i < 4; i++) {
        mem_fail_at(i);
        event.op.name = ssan_str("_Z3addPf");
        names_tidy(&known, &event);
        mem_fail_at(0);
        assert_int_equal(event.op.name.ptr[0], '_');
        names_finish(&known);
        memset(&known, 0, sizeof known);
    }
    event = (struct ssan_event){.kind = SSAN_EV_alloc};
    event.alloc.call = ssan_str("_Z3addPf");
    names_tidy(&known, &event);
    assert_int_equal(event.alloc.call.length, 8);
    names_finish(&known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
