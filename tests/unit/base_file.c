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
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole), cmocka_unit_test(refused),
                                       cmocka_unit_test(no_memory), cmocka_unit_test(words),
                                       cmocka_unit_test(temporary_folder)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
