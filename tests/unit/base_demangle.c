/* Names of kernels and functions as people wrote them. */
#include "base/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void expect(const char *mangled, const char *name)
{
    struct arena arena = {0};
    assert_string_equal(demangle_name(&arena, mangled), name);
    arena_finish(&arena);
}

static void without_types_and_arguments(void **state)
{
    expect("_Z1kPii", "k");
    expect("_ZN2ns5plainEPfi", "ns::plain");
    expect("_ZN2ns12_GLOBAL__N_14kernIiEEvT_i", "ns::(anonymous namespace)::kern<int>");
    expect("_ZN2ns12_GLOBAL__N_14kernIPFvPfiEEEvT_i",
           "ns::(anonymous namespace)::kern<void (*)(float*, int)>");
    expect("_ZN2ns12_GLOBAL__N_14kernIZNS_2goEvEUliE_EEvT_i",
           "ns::(anonymous namespace)::kern<ns::go()::{lambda(int)#1}>");
    expect(
        "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIiEESt5arrayIPcLm1EEEE"
        "viT0_T1_",
        "at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>, "
        "std::array<char*, 1ul> >");
}

static void brackets_of_operators(void **state)
{
    expect("_ZN2ns1QaSERKS0_", "ns::Q::operator=");
    expect("_ZN2nslsENS_12_GLOBAL__N_11FEi", "ns::operator<<");
    expect("_ZZN2at6native3fooEvENKUlvE_clEv", "at::native::foo()::{lambda()#1}::operator()");
}

static void what_is_no_name_of_cpp(void **state)
{
    expect("main", "main");
    expect("_ZN37_INTERNAL_x", "_ZN37_INTERNAL_x");
    expect("", "");
}

int main(void)
{
    demangle_open();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_types_and_arguments),
        cmocka_unit_test(brackets_of_operators),
        cmocka_unit_test(what_is_no_name_of_cpp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
