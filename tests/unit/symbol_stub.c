/* Stacks of launches as nvcc makes them: what is hidden, what is left. */
#include "symbol/launch_stub.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#define HEADER    "/usr/local/cuda/bin/../targets/x86_64-linux/include/crt/device_functions.h"
#define TEMPLATES "/opt/cuda/include/cuda_runtime.h"
#define STUB_FILE "/var/tmp/tmpxft_00003b60_00000000-6_ring.cudafe1.stub.c"

static void left(const struct symbol_frame *frames, size_t count, const char *expected)
{
    struct launch_stub stub = {0};
    char seen[16] = "";
    size_t i, kept = 0;
    for (i = 0; i < count; i++) {
        if (!launch_stub_hides(&stub, &frames[i])) {
            seen[kept++] = (char)('0' + i);
        }
    }
    assert_string_equal(seen, expected);
}

#define FRAME(file_, function_)                                                                    \
    {                                                                                              \
        .file = file_, .function = function_, .line = 1                                            \
    }
/* With the linker's name, as nvcc 13.0 gives them. */
#define NAMED(function_, symbol_)                                                                  \
    {                                                                                              \
        .file = "k.cu", .function = function_, .symbol = symbol_, .line = 1                        \
    }
#define LEFT(expected, ...)                                                                        \
    do {                                                                                           \
        const struct symbol_frame frames[] = {__VA_ARGS__};                                        \
        left(frames, sizeof frames / sizeof *frames, expected);                                    \
    } while (0)

static void launches(void **state)
{
    (void)state;
    LEFT("034", FRAME(NULL, "app+0xe214"), FRAME(HEADER, "__device_stub__Z5drainPKiPii"),
         FRAME("ring.cu", "drain(int const*, int*, int)"), FRAME("ring.cu", "step()"),
         FRAME("ring.cu", "main"));
    LEFT("3", FRAME(HEADER, "__device_stub__Z5drainPKiPii(int const*, int*, int)"),
         FRAME(STUB_FILE, "__device_stub__Z5drainPKiPii(int const*, int*, int)"),
         FRAME("ring.cu", "drain"), FRAME("ring.cu", "main"));
    LEFT("4", FRAME(TEMPLATES, "cudaLaunchKernel<char>(char const*, dim3, dim3)"),
         FRAME(STUB_FILE, "__device_stub__ZN2ns4kernIiEEvPT_"),
         FRAME(STUB_FILE, "void ns::__wrapper__device_stub_kern<int>(int*)"),
         FRAME("k.cu", "void (anonymous namespace)::kern<int>(int*)"), FRAME("k.cu", "main"));
}

/* Without a frame of the kernel's host function the caller stays, whatever it is called. */
static void without_wrapper(void **state)
{
    (void)state;
    LEFT("1", FRAME(STUB_FILE, "__device_stub__Z5drainPi(int*)"), FRAME("ring.cu", "main"));
    LEFT("1", FRAME(STUB_FILE, "__device_stub__Z5drainPi(int*)"), FRAME("ring.cu", "rain(int*)"));
    LEFT("1", FRAME(STUB_FILE, "__device_stub__Z5drainPi(int*)"), FRAME(NULL, NULL));
}

static void names_of_the_linker(void **state)
{
    (void)state;
    LEFT("2", NAMED("__device_stub__ZN2ns3addEPfi", "_Z28__device_stub__ZN2ns3addEPfiPfi"),
         NAMED("ns::add", "_ZN2ns3addEPfi"), NAMED("launch", "_ZL6launchPfi"));
    LEFT("23", NAMED("__device_stub__Z5scaleIfEvPT_i", "_ZL30__device_stub__Z5scaleIfEvPT_iPfi"),
         NAMED("scale<float>", "_Z5scaleIfEvPT_i"), NAMED("scale<float>", "_Z5scaleIfEvPT_i"),
         NAMED("main", "main"));
    LEFT("2", NAMED("__device_stub__Z4statPf", "_ZL23__device_stub__Z4statPfPf"),
         NAMED("stat", "_ZL4statPf"), NAMED("main", "main"));
    LEFT("2", NAMED("__device_stub__Z6cstylePf", "_Z25__device_stub__Z6cstylePfPf"),
         NAMED("cstyle", "cstyle"), NAMED("main", "main"));
    /* An overload that launches, and jumps into the kernel's host function. */
    LEFT("12", NAMED("__device_stub__Z5scalePfi", "_Z25__device_stub__Z5scalePfiPfi"),
         NAMED("scale", "_Z5scalePfP11CUstream_st"), NAMED("main", "main"));
}

static void others(void **state)
{
    (void)state;
    LEFT("012", FRAME("ring.cu", "drain(int*)"), FRAME("cuda_runtime.hpp", "f"), FRAME(NULL, NULL));
    LEFT("1", FRAME(TEMPLATES, "cudaMalloc<int>(int**, unsigned long)"), FRAME("ring.cu", "main"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches),
        cmocka_unit_test(without_wrapper),
        cmocka_unit_test(names_of_the_linker),
        cmocka_unit_test(others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
