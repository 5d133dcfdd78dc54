/* Members of classes by the functions that their initialisers call. */
#include "symbol/members.h"

#include "symbol/source.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static const char source[] =
    "struct pair; // struct pair { int *none = make(1); };\n"
    "struct pair *first(struct pair *p) { int *none = make(2); return p; }\n"
    "template <class T> struct alignas(16) pair final : public base<T>, other {\n"
    "  private:\n"
    "    int *a = make<int>(4 * N), /* make( */ *b = lib::make(4);\n"
    "    const char *text = \"= make(\", c = ';';\n"
    "    struct inner { int *none = make(3); };\n"
    "    int count = 0, *none = remake(4);\n"
    "    cudaStream_t stream = stream_of(\n"
    "        0);\n"
    "    pair() { int *none = make(5); }\n"
    "    void make(int n);\n"
    "    int *last = wrapped(make(6));\n"
    "};\n"
    "class pair { int *none = make(7); };\n";

static void assert_members(const char *function, const char *callee, const char *want)
{
    char out[SOURCE_MAX_BYTES + 1];
    const size_t length = members_find(source, strlen(source), function, callee, out, sizeof out);
    assert_string_equal(out, want);
    assert_int_equal(length, strlen(want));
}

static void finds_members(void **state)
{
    (void)state;
    assert_members("pair<int>::pair()", "make<int>(unsigned long)",
                   "private: int *a = make<int>(4 * N), *b = lib::make(4); "
                   "int *last = wrapped(make(6));");
    assert_members("ns::pair<ns::x<int> >::pair", "ns::stream_of",
                   "cudaStream_t stream = stream_of( 0);");
    assert_members("(anonymous namespace)::pair::pair()", "a::(anonymous namespace)::wrapped(int*)",
                   "int *last = wrapped(make(6));");
    assert_members("pair::pair", "absent", "");
    assert_members("missing::missing", "make", "");
    assert_members("main", "make", "");
}

static void keeps_to_the_room(void **state)
{
    char out[48];
    (void)state;
    assert_int_equal(29, members_find(source, strlen(source), "pair::pair", "wrapped", out, 31));
    assert_int_equal(0, members_find(source, strlen(source), "pair::pair", "wrapped", out, 30));
    for (size_t length = 0; length < sizeof source; length++) { /* cut anywhere */
        members_find(source, length, "pair::pair", "make", out, sizeof out);
        assert_true(strlen(out) < sizeof out);
    }
}

static void knows_heads(void **state)
{
    (void)state;
    assert_true(members_are_meant("pair::pair", "struct pair {", "make"));
    assert_true(members_are_meant("pair<int>::pair()", "pair()", "make(int)"));
    assert_true(members_are_meant("a::pair::pair", "{", "b::make"));
    assert_true(members_are_meant("(anonymous namespace)::pair::pair", "{", "make"));
    assert_false(members_are_meant("pair::pair", "pair() : a(make(1))", "make"));
    assert_false(members_are_meant("pair::pair", "{ make(1)", "(anonymous namespace)::make"));
    assert_false(members_are_meant("pair::pair", "NEW(a);", "make"));
    assert_false(members_are_meant("pair::other", "{", "make"));
    assert_false(members_are_meant("pair::~pair", "{", "make"));
    assert_false(members_are_meant("pair", "struct pair {", "make"));
    assert_false(members_are_meant("", "{", "make"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_members),
        cmocka_unit_test(keeps_to_the_room),
        cmocka_unit_test(knows_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
