/* Kernels that clang compiles, at -O0 to -O3 and as PTX 7.0, against the same code on the host.
 * Skipped, and said so, where there is no clang with NVPTX. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "unit/ptx_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FN         static
#define CASE(name) static long long name(int t)
#include "unit/ptx_kernels.def"

#define THREADS 256
#define CASES   9

static long long (*const host[CASES])(int) = {structs_by_value, function_pointers, switches,
                                              local_arrays,     wide_integers,     narrow_integers,
                                              floats,           early_returns,     bits};
static const char *const names[CASES] = {"structs_by_value", "function_pointers", "switches",
                                         "local_arrays",     "wide_integers",     "narrow_integers",
                                         "floats",           "early_returns",     "bits"};
static const char *const compilers[] = {"clang-14", "clang-15", "clang-16", "clang-17",
                                        "clang-18", "clang-19", "clang"};

/* What clang writes for the kernels at a level; NULL when it can't. The caller frees it. */
static char *compile(const char *compiler, int level)
{
    char command[1024];
    snprintf(
        command, sizeof command,
        "%s -x cuda -nocudainc -nocudalib --cuda-path=/nonexistent -Xclang -target-sdk-version=11.0"
        " --cuda-gpu-arch=sm_70 --cuda-device-only -Xclang -target-feature -Xclang +ptx70 "
        "-gline-tables-only"
        " -ffp-contract=off -O%d -S '%s/tests/unit/ptx_kernels.cu' -o - 2>/dev/null",
        compiler, level, SSAN_SOURCE_DIR);
    FILE *pipe = popen(command, "r");
    struct strbuf text = {0};
    char part[4096];
    size_t got;
    while (pipe && (got = fread(part, 1, sizeof part, pipe)) > 0) {
        strbuf_add(&text, part, got);
    }
    const bool ok = pipe && pclose(pipe) == 0 && text.length > 0;
    char *taken = ok ? strbuf_take(&text) : NULL;
    strbuf_finish(&text);
    return taken;
}

static void check_level(const char *text, int level)
{
    long long *out = mem_zalloc(CASES * THREADS, sizeof *out);
    struct device device;
    device_init(&device);
    device_map(&device, out, CASES * THREADS * sizeof *out, true);
    struct ptx_module *module = module_load(&device, text);
    const struct {
        uint64_t out;
        uint8_t flag;
    } params = {(uint64_t)(uintptr_t)out, 1};
    const struct ptx_launch launch = launch_of(module, "k", 4, THREADS / 4, &params);
    assert_null(launch.kernel->unresolved);
    struct ptx_exec *exec = run_launch(&device, &launch, PTX_DONE);
    for (int c = 0; c < CASES; c++) {
        for (int t = 0; t < THREADS; t++) {
            if (out[c * THREADS + t] != host[c](t)) {
                fail_msg("%s at -O%d, thread %d: %lld, not %lld", names[c], level, t,
                         out[c * THREADS + t], host[c](t));
            }
        }
    }
    ptx_exec_destroy(exec);
    module_drop(module);
    device_finish(&device);
    mem_free(out);
}

static void clang_kernels_give_what_the_host_gives(void **state)
{
    int ran = 0;
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        for (int level = 0; level <= 3; level++) {
            char *text = compile(compilers[i], level);
            if (!text) {
                break;
            }
            check_level(text, level);
            mem_free(text);
            ran++;
        }
    }
    print_message("%d compilations\n", ran);
    if (!ran) {
        print_message("skipped: no clang with NVPTX here\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(clang_kernels_give_what_the_host_gives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
