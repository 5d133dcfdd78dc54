/* What is read from cubins: instructions without a patch, kernels, line tables; damaged files. */
#include "capture/observe_cubin.h"
#include "capture/patch_abi.h"
#include "support/cubin_file.h"

#include "base/rng.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

struct found {
    struct cubin_function functions[4];
    unsigned count;
};

static bool take(void *self, const struct cubin_function *function)
{
    struct found *found = self;
    found->functions[found->count++] = *function;
    return found->count < 4;
}

static struct found read_file(const struct cubin_file *file, struct cubin_facts *facts)
{
    struct found found = {.count = 0};
    assert_true(cubin_read(file->bytes, file->size, facts, take, &found));
    assert_int_equal(found.count, 2);
    assert_string_equal(found.functions[0].name, "k");
    assert_true(found.functions[0].is_kernel);
    assert_int_equal(found.functions[0].section, 1);
    assert_int_equal(found.functions[0].size, 64);
    assert_string_equal(found.functions[1].name, "f");
    assert_false(found.functions[1].is_kernel);
    return found;
}

/* First words as ptxas 13.0 writes them for sm_90; the second half where it tells a direction. */
static void operations(void **state)
{
    static const struct {
        uint64_t low, high;
        unsigned flags;
    } cases[] = {
        {UINT64_C(0x00000008040075b4), 0, CUBIN_TENSOR_READ},
        {UINT64_C(0x00000008060073b4), 0, CUBIN_TENSOR_READ},
        {UINT64_C(0x00000004080073b5), 0, CUBIN_TENSOR_WRITE},
        {UINT64_C(0x00000004080073b6), 0, CUBIN_TENSOR_WRITE},
        {UINT64_C(0x00000004060075b8), 0, 0}, /* prefetch */
        {UINT64_C(0x00000006080073ba), UINT64_C(0x0001d80008000204), CUBIN_BULK_READ},
        {UINT64_C(0x00000006050073ba), UINT64_C(0x0001e40008000404), CUBIN_BULK_WRITE},
        {UINT64_C(0x00000006060073ba), UINT64_C(0x0001d80008000604), 0},
        {UINT64_C(0x00000006050073bb), UINT64_C(0x0001d80008020404), CUBIN_BULK_REDUCE},
        {UINT64_C(0x000000ff04007f60), 0, CUBIN_TEXTURE},
        {UINT64_C(0x000000ff04007b66), 0, CUBIN_TEXTURE},
        {UINT64_C(0x0000000204007f9d), 0, CUBIN_SURFACE_WRITE},
        {UINT64_C(0x0000000402007981), 0, 0}, /* an ordinary load */
        {UINT64_C(0x0000000502007986), 0, 0}, /* and store */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cubin_file file;
        struct cubin_facts facts;
        const uint64_t code[8] = {UINT64_C(0x7918), 0, cases[i].low,     cases[i].high,
                                  UINT64_C(0x794d), 0, UINT64_C(0x7918), 0};
        const uint64_t plain[8] = {0};
        cubin_file_make(&file, code, plain, ".debug_line");
        struct found found = read_file(&file, &facts);
        assert_int_equal(found.functions[0].flags, cases[i].flags);
        assert_int_equal(found.functions[1].flags, 0);
        assert_int_equal(facts.called_flags, 0);
        assert_true(facts.has_lines);
        cubin_file_make(&file, plain, code, ".nothing");
        found = read_file(&file, &facts);
        assert_int_equal(found.functions[0].flags, 0);
        assert_int_equal(facts.called_flags, cases[i].flags);
        assert_false(facts.has_lines);
    }
}

/* Which kinds of accesses a function can make, by instructions as ptxas 13.0 writes them for sm_90.
 */
static void kinds(void **state)
{
    static const struct {
        uint64_t low, high;
        unsigned kind;
    } cases[] = {
        {UINT64_C(0x0000040402037981), UINT64_C(0x000ea2000c1e1900), PATCH_KIND(0, 0)}, /* LDG */
        {UINT64_C(0x0000100404047981), UINT64_C(0x000ea2000c1e1d00), PATCH_KIND(0, 0)}, /* .128 */
        {UINT64_C(0x0000020402037981), UINT64_C(0x000ea2000c1e1500), PATCH_KIND(0, 1)}, /* .U16 */
        {UINT64_C(0x0000010402037981), UINT64_C(0x000ea2000c1e1100), PATCH_KIND(0, 1)}, /* .U8 */
        {UINT64_C(0x0000000608117980), UINT64_C(0x000362000c101900), PATCH_KIND(0, 0)}, /* LD */
        {UINT64_C(0x0000000002077fae), UINT64_C(0x000fe2000b901c46), PATCH_KIND(0, 0)}, /* LDGSTS */
        {UINT64_C(0x0000000204007986), UINT64_C(0x004fe2000c101b04), PATCH_KIND(1, 0)}, /* STG.64 */
        {UINT64_C(0x0000000304007986), UINT64_C(0x004fe2000c101504), PATCH_KIND(1, 1)}, /* .U16 */
        {UINT64_C(0x0000000904007985), UINT64_C(0x004fe2000c10110a), PATCH_KIND(1, 1)}, /* ST.U8 */
        {UINT64_C(0x00000009020809a8), UINT64_C(0x000ee200081ee1c6), PATCH_KIND(2, 0)}, /* ATOMG */
        {UINT64_C(0x00000011080a738b), UINT64_C(0x000ea400001ee10b), PATCH_KIND(2, 0)}, /* CAS */
        {UINT64_C(0x000000130c0079a6), UINT64_C(0x0103e8000c10f386), PATCH_KIND(2, 0)}, /* REDG */
        {UINT64_C(0x00000006080073ba), UINT64_C(0x0001d80008000204), PATCH_KIND(0, 0)}, /* bulk */
        {UINT64_C(0x00000006050073bb), UINT64_C(0x0001d80008020404), PATCH_KIND(2, 0)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cubin_file file;
        struct cubin_facts facts;
        const uint64_t code[8] = {UINT64_C(0x7918), 0, cases[i].low, cases[i].high};
        const uint64_t plain[8] = {0};
        cubin_file_make(&file, code, plain, ".nothing");
        struct found found = read_file(&file, &facts);
        assert_int_equal(found.functions[0].kinds, 1u << cases[i].kind);
        assert_int_equal(found.functions[1].kinds, 0);
        cubin_file_make(&file, plain, code, ".nothing");
        (void)read_file(&file, &facts);
        assert_int_equal(facts.called_kinds, 1u << cases[i].kind);
    }
}

/* Whatever a damaged file says, nothing outside of it is read (the sanitizers watch). */
static void damaged(void **state)
{
    struct rng rng = {3};
    struct cubin_file file, copy;
    struct cubin_facts facts;
    const uint64_t code[8] = {UINT64_C(0x73b4)};
    cubin_file_make(&file, code, code, ".debug_line");
    unsigned refused = 0;
    for (unsigned i = 0; i < 20000; i++) {
        struct found found = {.count = 0};
        copy = file;
        for (unsigned k = 0; k < 1 + i % 4; k++) {
            copy.bytes[rng_below(&rng, i % 2 ? sizeof(Elf64_Ehdr) : file.size)] =
                (unsigned char)rng_next(&rng);
        }
        refused += !cubin_read(copy.bytes, i % 3 ? file.size : rng_below(&rng, file.size + 1),
                               &facts, take, &found);
    }
    assert_true(refused > 0 && refused < 20000);
    assert_false(cubin_read("", 0, &facts, take, NULL));
}

/* Prologues as ptxas 13.0 writes them for sm_90 and sm_100. */
static void waits(void **state)
{
    static const struct {
        uint64_t code[6];
        bool waits_first;
    } cases[] = {
        {{0x00000a00ff017b82, 0x0000000000007919, 0x00000000000479c3, 0x000000000000782e}, true},
        {{0x00007200ff0577ac, 0x000000000000782d, 0x0000000407077c24, 0x000000000000782e}, true},
        {{0x00000a00ff017b82, 0x0000000402027981, 0x000000000000782e}, false}, /* LDG */
        {{0x00000a00ff017b82, 0x000000000000094d, 0x000000000000782e}, false}, /* @P0 EXIT */
        {{0x00000a00ff017b82, 0x0000000000200947, 0x000000000000782e}, false}, /* @P0 BRA */
        {{0x00000a00ff017b82, 0x000000000000082e}, false},                     /* @P0 ACQBULK */
        {{0x00000a00ff017b82, 0x0000000000007919}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t code[12] = {0};
        for (size_t k = 0; k < 6; k++) {
            code[2 * k] = cases[i].code[k];
        }
        assert_int_equal(cubin_waits_first((const unsigned char *)code, sizeof code),
                         cases[i].waits_first);
    }
    assert_false(cubin_waits_first(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations),
        cmocka_unit_test(kinds),
        cmocka_unit_test(damaged),
        cmocka_unit_test(waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
