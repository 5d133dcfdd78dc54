/* Manifests of small folders: each byte of each file, of the manifest too, and each file counts. */
#include "contract/manifest.h"

#include "base/file.h"
#include "base/mem.h"
#include "support/temporary.h"
#include "base/strbuf.h"
#include "contract/tree.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[TEMPORARY_ROOM];

static const char *inside(const char *name)
{
    static char path[TEMPORARY_ROOM + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text, size_t length)
{
    assert_int_equal(tree_write(inside(name), text, length, NULL), SSAN_OK);
}

static int make(void **state)
{
    char digest[DIGEST_ROOM];
    (void)state;
    temporary_name(folder, "ssan-manifest");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(tree_make(folder, "a/b", NULL), SSAN_OK);
    put("a/b/one", "x", 1);
    put("a.txt", "hello\n", 6);
    put("empty", "", 0);
    assert_int_equal(manifest_write(folder, digest, NULL), SSAN_OK);
    assert_int_equal(strlen(digest), 64);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    file_remove_tree(folder);
    return 0;
}

/* How many files differ; -1: there is no manifest that can be read. */
static int differences(void)
{
    struct manifest_result result;
    struct ssan_error err = {0};
    const enum ssan_status status = manifest_verify(&result, folder, &err);
    const int count = status ? -1 : (int)result.differences.count;
    assert_true(!status == !err.text[0]);
    manifest_result_finish(&result);
    return count;
}

static char *slurp(const char *name, size_t *length)
{
    FILE *file = fopen(inside(name), "rb");
    char *bytes = calloc(1, 4096);
    assert_true(file && bytes);
    *length = fread(bytes, 1, 4096, file);
    fclose(file);
    return bytes;
}

static void known_digest(void **state)
{
    char digest[DIGEST_ROOM];
    (void)state;
    put("abc", "abc", 3); /* FIPS 180-2, B.1 */
    assert_int_equal(digest_file(digest, inside("abc"), NULL), SSAN_OK);
    assert_string_equal(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    unlink(inside("abc"));
    assert_int_equal(differences(), 0);
}

static void each_bit(void **state)
{
    static const char *const names[] = {"a/b/one", "a.txt", MANIFEST_NAME};
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        size_t length;
        char *bytes = slurp(names[n], &length);
        for (size_t bit = 0; bit < 8 * length; bit++) {
            bytes[bit / 8] ^= (char)(1 << bit % 8);
            put(names[n], bytes, length);
            assert_true(differences() != 0);
            bytes[bit / 8] ^= (char)(1 << bit % 8);
        }
        put(names[n], bytes, length);
        assert_int_equal(differences(), 0);
        free(bytes);
    }
}

static void each_length(void **state)
{
    size_t length;
    char *bytes = slurp(MANIFEST_NAME, &length);
    (void)state;
    for (size_t cut = 0; cut < length; cut++) {
        put(MANIFEST_NAME, bytes, cut);
        assert_true(differences() != 0);
    }
    put(MANIFEST_NAME, bytes, length);
    free(bytes);
    put("empty", "\0", 1);
    assert_int_equal(differences(), 1);
    put("empty", "", 0);
    assert_int_equal(differences(), 0);
}

static void more_and_less(void **state)
{
    (void)state;
    put("a/new", "", 0);
    assert_int_equal(differences(), 1);
    unlink(inside("a.txt"));
    assert_int_equal(differences(), 2);
    assert_int_equal(symlink("a/new", inside("a.txt")), 0);
    assert_int_equal(differences(), 2);
    assert_int_equal(mkfifo(inside("pipe"), 0600), 0);
    assert_int_equal(differences(), 3);
    unlink(inside(MANIFEST_NAME));
    assert_int_equal(differences(), -1);
}

/* What a manifest can't hold is refused, and no manifest is left. */
static void no_manifest(void **state)
{
    char digest[DIGEST_ROOM];
    struct ssan_error err = {0};
    (void)state;
    unlink(inside(MANIFEST_NAME));
    assert_int_equal(symlink("empty", inside("link")), 0);
    assert_int_equal(manifest_write(folder, digest, &err), SSAN_FORMAT);
    assert_non_null(strstr(err.text, "link"));
    unlink(inside("link"));
    put("two\nlines", "", 0);
    assert_int_equal(manifest_write(folder, digest, &err), SSAN_FORMAT);
    unlink(inside("two\nlines"));
    assert_int_not_equal(access(inside(MANIFEST_NAME), F_OK), 0);
    assert_int_equal(manifest_write(folder, digest, &err), SSAN_OK);
    assert_int_equal(differences(), 0);
}

/* Allocation after allocation fails: a manifest is written whole or not at all, and a difference is
 * never passed over. */
static void no_memory(void **state)
{
    char digest[DIGEST_ROOM];
    unsigned failed = 0;
    (void)state;
    put("a.txt", "other\n", 6);
    for (uint64_t nth = 1;; nth++) {
        mem_fail_at(nth);
        const int count = differences();
        const bool done = mem_count() < nth;
        mem_fail_at(0);
        assert_true(count == 1 || count == -1);
        failed += count == -1;
        if (done) {
            break;
        }
    }
    assert_true(failed > 3);
    for (uint64_t nth = 1;; nth++) {
        unlink(inside(MANIFEST_NAME));
        mem_fail_at(nth);
        const enum ssan_status status = manifest_write(folder, digest, NULL);
        const bool done = mem_count() < nth;
        mem_fail_at(0);
        assert_int_equal(access(inside(MANIFEST_NAME), F_OK) == 0, status == SSAN_OK);
        if (done) {
            break;
        }
    }
    assert_int_equal(differences(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(known_digest, make, drop),
        cmocka_unit_test_setup_teardown(each_bit, make, drop),
        cmocka_unit_test_setup_teardown(each_length, make, drop),
        cmocka_unit_test_setup_teardown(more_and_less, make, drop),
        cmocka_unit_test_setup_teardown(no_manifest, make, drop),
        cmocka_unit_test_setup_teardown(no_memory, make, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
