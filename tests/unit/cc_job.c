/* The command line of `streamsan cc`: where each kind of option goes, and what is refused. */
#include "cc/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MAX_WORDS 16

static struct cc_job job;
static struct ssan_error err;

/* Parses the words of `line`, which stay valid until the next call. */
static enum ssan_status parse(const char *line)
{
    static char text[1024];
    static char *words[MAX_WORDS];
    int count = 1;
    words[0] = text + sizeof text - 1;
    strncpy(text, line, sizeof text - 1);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        assert_true(count < MAX_WORDS);
        words[count++] = word;
    }
    err = (struct ssan_error){0};
    return job_parse(&job, count, words, &err);
}

static bool has(const struct words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(words->items[i], word) == 0) {
            return true;
        }
    }
    return false;
}

static const struct cc_item *item(size_t nth)
{
    assert_true(nth < job.items.count);
    return &job.items.items[nth];
}

static void options_reach_their_passes(void **state)
{
    assert_int_equal(
        parse("-O2 -I dir -DX=1 -Wall -fsanitize=thread -ffast-math -march=native a.cu"), SSAN_OK);
    assert_true(has(&job.device, "-O2") && has(&job.host, "-O2") && job.optimized);
    assert_true(has(&job.device, "-I") && has(&job.device, "dir") && has(&job.host, "dir"));
    assert_true(has(&job.device, "-DX=1") && has(&job.host, "-DX=1"));
    assert_true(has(&job.host, "-Wall") && !has(&job.device, "-Wall"));
    assert_true(has(&job.host, "-fsanitize=thread") && !has(&job.device, "-fsanitize=thread"));
    assert_true(has(&job.device, "-ffast-math"));
    assert_true(has(&job.host, "-march=native") && !has(&job.device, "-march=native"));
    assert_string_equal(item(0)->text, "-fsanitize=thread");
    assert_true(item(0)->is_word);
    job_finish(&job);
}

static void the_linker_sees_the_given_order(void **state)
{
    assert_int_equal(parse("a.cu -lfirst b.o -Wl,-z,now lib.a -L dir -Xlinker -x"), SSAN_OK);
    static const char *const expected[] = {"a.cu",  "-lfirst", "b.o", "-Wl,-z,now",
                                           "lib.a", "-L",      "dir", "-Wl,-x"};
    assert_int_equal(job.items.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < job.items.count; i++) {
        assert_string_equal(item(i)->text, expected[i]);
    }
    job_finish(&job);
}

static void languages_go_by_name_or_by_x(void **state)
{
    assert_int_equal(parse("a.cu b.c c.cpp d.so.1 -x cu e.c -x none f.c"), SSAN_OK);
    static const enum cc_language expected[] = {CC_CUDA, CC_C, CC_CXX, CC_OBJECT, CC_CUDA, CC_C};
    for (size_t i = 0; i < job.items.count; i++) {
        assert_int_equal(item(i)->language, expected[i]);
    }
    job_finish(&job);
}

static void standards_hold_for_their_language(void **state)
{
    assert_int_equal(parse("-std=c11 --std c++20 a.cu b.c"), SSAN_OK);
    assert_string_equal(job.c_standard, "-std=c11");
    assert_string_equal(job.cxx_standard, "-std=c++20");
    job_finish(&job);
}

static void words_of_nvcc_are_accepted(void **state)
{
    assert_int_equal(
        parse("-arch=sm_80 -gencode arch=compute_80,code=sm_80 --gpu-architecture sm_75 "
              "-lineinfo --expt-extended-lambda -Xcompiler -Wall,-fPIC -lcudart "
              "-rdc=false a.cu"),
        SSAN_OK);
    assert_true(has(&job.host, "-Wall") && has(&job.host, "-fPIC"));
    assert_false(has(&job.host, "-arch=sm_80") || has(&job.device, "-arch=sm_80"));
    assert_string_equal(item(job.items.count - 1)->text, "a.cu");
    assert_int_equal(job.items.count, 3);
    job_finish(&job);
}

static void per_thread_streams_are_a_macro(void **state)
{
    assert_int_equal(parse("--default-stream per-thread a.cu"), SSAN_OK);
    assert_true(has(&job.host, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"));
    assert_true(has(&job.device, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"));
    job_finish(&job);
    assert_int_equal(parse("--default-stream=other a.cu"), SSAN_USAGE);
    job_finish(&job);
}

static void wrong_lines_are_refused_with_a_reason(void **state)
{
    static const struct {
        const char *line, *reason;
    } wrong[] = {
        {"", "no input files"},
        {"-c a.o", "no source files"},
        {"-c -o x.o a.cu b.cu", "-o with several"},
        {"--frobnicate a.cu", "unknown option --frobnicate"},
        {"--defalt-stream=legacy a.cu", "--defalt-stream=legacy; did you mean --default-stream?"},
        {"-shred a.cu", "unknown option -shred; did you mean -shared?"},
        {"a.cu -o", "needs a value"},
        {"-dc a.cu", "not supported"},
        {"-rdc=true a.cu", "not supported"},
        {"--relocatable-device-code true a.cu", "not supported"},
        {"-dlink a.o", "not supported"},
        {"a.txt", "not a kind of file"},
        {"-x fortran a.f", "languages"},
        {"-c -E a.cu", "cannot be combined"},
        {"-MD -MF x.d a.cu b.cu", "-MF"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(parse(wrong[i].line), SSAN_USAGE);
        if (!strstr(err.text, wrong[i].reason)) {
            fail_msg("'%s' was refused with: %s", wrong[i].line, err.text);
        }
        job_finish(&job);
    }
}

static void lack_of_memory_is_a_status(void **state)
{
    for (uint64_t nth = 1; nth < 200; nth++) {
        mem_fail_at(nth);
        enum ssan_status status = parse("-O2 -I dir -Xcompiler a,b -std=c++14 -lx -MT t a.cu b.o");
        mem_fail_at(0);
        bool done = status == SSAN_OK;
        assert_true(done || status == SSAN_NO_MEMORY);
        job_finish(&job);
        if (done) {
            assert_true(nth > 3);
            return;
        }
    }
    fail_msg("never succeeded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_reach_their_passes),
        cmocka_unit_test(the_linker_sees_the_given_order),
        cmocka_unit_test(languages_go_by_name_or_by_x),
        cmocka_unit_test(standards_hold_for_their_language),
        cmocka_unit_test(words_of_nvcc_are_accepted),
        cmocka_unit_test(per_thread_streams_are_a_macro),
        cmocka_unit_test(wrong_lines_are_refused_with_a_reason),
        cmocka_unit_test(lack_of_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
