/* Whole files: read to the end, refused above the limit, told of by name. */
#include "base/file.h"

#include "base/mem.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_BYTES 40000u /* more than one block */

static char path[4096];

static int setup(void **state)
{
    const char *folder = getenv("TMPDIR");
    FILE *file;
    size_t i;
    snprintf(path, sizeof path, "%s/ssan-file-XXXXXX", folder ? folder : "/tmp");
    file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    for (i = 0; i < LONG_BYTES; i++) {
        assert_int_equal(fputc((int)(i % 251), file), i % 251);
    }
    return fclose(file);
}

static int teardown(void **state)
{
    return unlink(path);
}

static void whole(void **state)
{
    struct strbuf text = {0};
    size_t i;
    strbuf_puts(&text, "x");
    assert_int_equal(file_read(&text, path, LONG_BYTES, NULL), SSAN_OK);
    assert_int_equal(text.length, LONG_BYTES + 1);
    for (i = 0; i < LONG_BYTES; i++) {
        assert_int_equal((unsigned char)text.text[i + 1], i % 251);
    }
    strbuf_finish(&text);
}

static void ends(void **state)
{
    static const size_t mosts[] = {0, 1, 17000, LONG_BYTES, LONG_BYTES + 1};
    struct strbuf text = {0};
    for (size_t i = 0; i < sizeof mosts / sizeof *mosts; i++) {
        const size_t wanted = mosts[i] < LONG_BYTES ? mosts[i] : LONG_BYTES;
        strbuf_clear(&text);
        file_read_end(&text, path, mosts[i]);
        assert_int_equal(text.length, wanted);
        for (size_t k = 0; k < wanted; k++) {
            assert_int_equal((unsigned char)text.text[k], (LONG_BYTES - wanted + k) % 251);
        }
    }
    strbuf_clear(&text);
    file_read_end(&text, "/dev/zero", 1000);
    file_read_end(&text, "/", 1000);
    file_read_end(&text, "/nowhere/at/all", 1000);
    assert_int_equal(text.length, 0);
    strbuf_finish(&text);
}

static void refused(void **state)
{
    struct strbuf text = {0};
    struct ssan_error err = {0};
    assert_int_equal(file_read(&text, path, LONG_BYTES - 1, &err), SSAN_FORMAT);
    assert_non_null(strstr(err.text, path));
    strbuf_finish(&text);
    assert_int_equal(file_read(&text, "/dev/zero", 1000, &err), SSAN_FORMAT);
    strbuf_finish(&text);
    assert_int_equal(file_read(&text, "/", 1000, &err), SSAN_IO);
    assert_string_equal(err.text, "/: Is a directory");
    assert_int_equal(file_read(&text, "/nowhere/at/all", 1000, &err), SSAN_IO);
    assert_string_equal(err.text, "/nowhere/at/all: No such file or directory");
    assert_int_equal(text.length, 0);
}

/* Even from a file without an end. */
static void no_memory(void **state)
{
    struct strbuf text = {0};
    mem_fail_at(1);
    assert_int_equal(file_read(&text, "/dev/zero", SIZE_MAX / 2, NULL), SSAN_NO_MEMORY);
    mem_fail_at(0);
    strbuf_finish(&text);
}

static void words(void **state)
{
    struct ssan_error err = {0};
    assert_int_equal(file_fail(&err, EACCES, "can't create", "a"), SSAN_IO);
    assert_string_equal(err.text, "can't create a: Permission denied");
    assert_int_equal(file_fail(&err, EDQUOT, "can't write", "a"), SSAN_FULL);
    assert_int_equal(file_fail(NULL, ENOSPC, "can't write", "a"), SSAN_FULL);
}

/* A pipe takes less than all at once: the other side reads it by and by. */
static void written(void **state)
{
    static char from[LONG_BYTES * 10], to[LONG_BYTES * 10];
    size_t got = 0;
    ssize_t more;
    int pipes[2];
    memset(from, 'a', sizeof from);
    assert_int_equal(pipe(pipes), 0);
    const pid_t child = fork();
    if (child == 0) {
        _exit(file_write(pipes[1], from, sizeof from));
    }
    close(pipes[1]);
    while ((more = read(pipes[0], to + got, sizeof to - got)) > 0) {
        got += (size_t)more;
    }
    close(pipes[0]);
    assert_int_equal(got, sizeof from);
    assert_memory_equal(from, to, sizeof from);
    assert_int_equal(waitpid(child, &pipes[0], 0), child);
    assert_int_equal(pipes[0], 0);
    assert_int_equal(file_write(-1, "x", 1), EBADF);
    assert_int_equal(file_write(-1, NULL, 0), 0);
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_int_equal(file_write(fileno(full), "x", 1), ENOSPC);
    fclose(full);
}

static void temporary_folder(void **state)
{
    const char *before = getenv("TMPDIR");
    char *kept = before ? mem_strdup(before) : NULL;
    assert_int_equal(!before, !kept);
    unsetenv("TMPDIR");
    assert_string_equal(file_temporary_folder(), "/tmp");
    setenv("TMPDIR", "", 1);
    assert_string_equal(file_temporary_folder(), "/tmp");
    setenv("TMPDIR", "/var/tmp", 1);
    assert_string_equal(file_temporary_folder(), "/var/tmp");
    if (kept) {
        setenv("TMPDIR", kept, 1);
        mem_free(kept);
    } else {
        unsetenv("TMPDIR");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),           cmocka_unit_test(ends),  cmocka_unit_test(refused),
        cmocka_unit_test(no_memory),       cmocka_unit_test(words), cmocka_unit_test(written),
        cmocka_unit_test(temporary_folder)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
