/* Contents of memory: read back whole and damaged, compared, and their values told. */
#include "explore/snapshot.h"
#include "support/temporary.h"

#include "trace/snapshot_abi.h"

#include "base/strbuf.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct file {
    struct strbuf text;
    char path[TEMPORARY_ROOM];
};

static void begin(struct file *file)
{
    const struct snapshot_header header = {.magic = SNAPSHOT_MAGIC, .version = SNAPSHOT_VERSION};
    memset(file, 0, sizeof *file);
    strbuf_add(&file->text, (const char *)&header, sizeof header);
}

static void block(struct file *file, uint32_t alloc, const void *bytes, uint64_t kept,
                  uint64_t size)
{
    const struct snapshot_block head = {alloc, SSAN_memory_DEVICE, 0x1000, size, kept};
    strbuf_add(&file->text, (const char *)&head, sizeof head);
    if (kept) {
        strbuf_add(&file->text, bytes, kept);
    }
}

/* Writes the file; true when it was read. */
static enum ssan_status read_back(struct file *file, struct snapshot *snapshot,
                                  struct ssan_error *err)
{
    enum ssan_status status;
    int fd;
    temporary_name(file->path, "ssan-memory");
    fd = mkstemp(file->path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, strbuf_text(&file->text), file->text.length), file->text.length);
    close(fd);
    status = snapshot_read(snapshot, file->path, err);
    unlink(file->path);
    strbuf_finish(&file->text);
    return status;
}

static void blocks_are_compared(void **state)
{
    const float expected[4] = {1, 3, 5, 7}, got[4] = {1, 2, 5, 8};
    struct file file;
    struct snapshot left, right;
    struct snapshot_differences found = {0};
    struct ssan_error err;
    begin(&file);
    block(&file, 2, expected, sizeof expected, sizeof expected);
    block(&file, 1, "same", 4, 4);
    block(&file, 3, "abcd", 4, 8);
    block(&file, 5, "only here", 9, 9);
    block(&file, 0, NULL, 0, 0);
    assert_int_equal(read_back(&file, &left, &err), SSAN_OK);
    assert_true(left.complete && left.cut);
    assert_int_equal(left.blocks.count, 4);
    begin(&file);
    block(&file, 1, "same", 4, 4);
    block(&file, 2, got, sizeof got, sizeof got);
    block(&file, 3, "abXdefgh", 8, 8);
    block(&file, 4, "x", 1, 1);
    assert_int_equal(read_back(&file, &right, &err), SSAN_OK);
    assert_false(right.complete || right.cut);
    assert_true(snapshot_compare(&left, &right, &found));
    assert_int_equal(found.count, 2);
    assert_int_equal(found.items[0].alloc, 2);
    assert_int_equal(found.items[0].first / 4, 1);
    assert_int_equal(found.items[0].bytes, 3); /* 3 and 2 differ in one byte, 7 and 8 in two */
    assert_int_equal(found.items[1].alloc, 3);
    assert_int_equal(found.items[1].first, 2);
    assert_int_equal(found.items[1].bytes, 1);
    assert_null(snapshot_find(&left, 4));
    assert_int_equal(snapshot_find(&left, 5)->kept_bytes, 9);
    mem_free(found.items);
    snapshot_close(&left);
    snapshot_close(&right);
}

static void damage_is_told(void **state)
{
    struct snapshot snapshot;
    struct snapshot_block head = {1, 1000, 0, 4, 4};
    struct file file = {0};
    struct ssan_error err;
    assert_int_equal(read_back(&file, &snapshot, &err), SSAN_FORMAT);
    snapshot_close(&snapshot);
    strbuf_puts(&file.text, "something else entirely");
    assert_int_equal(read_back(&file, &snapshot, &err), SSAN_FORMAT);
    snapshot_close(&snapshot);
    begin(&file);
    file.text.text[8] = 99;
    assert_int_equal(read_back(&file, &snapshot, &err), SSAN_VERSION);
    snapshot_close(&snapshot);
    begin(&file);
    strbuf_add(&file.text, (const char *)&head, sizeof head);
    strbuf_puts(&file.text, "abcd");
    assert_int_equal(read_back(&file, &snapshot, &err), SSAN_FORMAT);
    snapshot_close(&snapshot);
    begin(&file);
    block(&file, 1, "abcd", 4, 4);
    file.text.length--;
    assert_int_equal(read_back(&file, &snapshot, &err), SSAN_OK);
    assert_int_equal(snapshot.blocks.count, 0);
    assert_false(snapshot.complete);
    snapshot_close(&snapshot);
    assert_int_equal(snapshot_read(&snapshot, "/nowhere/at/all", &err), SSAN_IO);
    snapshot_close(&snapshot);
}

static void told(const void *left, const void *right, uint32_t width, const char *type,
                 const char *expected)
{
    char text[64];
    enum snapshot_type guess = snapshot_guess(left, right, width);
    assert_string_equal(snapshot_type_name(guess), type);
    snapshot_value(guess, left, width, text, sizeof text);
    assert_string_equal(text, expected);
}

static void values_are_told(void **state)
{
    const float two = 2, third = 1.0f / 3, zero = 0;
    const double tenth = 0.1;
    const int32_t minus = -1, small = 1234, none = 0;
    const int64_t big = -5000000000;
    const int16_t pair = -7;
    told(&two, &third, 4, "f32", "2");
    told(&third, &two, 4, "f32", "0.33333334");
    told(&zero, &two, 4, "f32", "0");
    told(&minus, &two, 4, "f32", "nan"); /* poison in an array of numbers */
    told(&minus, &small, 4, "i32", "-1");
    told(&none, &small, 4, "i32", "0");
    told(&tenth, &tenth, 8, "f64", "0.1");
    told(&big, (const int64_t[]){3}, 8, "i64", "-5000000000");
    told(&pair, &pair, 2, "i16", "-7");
    told("\x05", "\x06", 1, "i8", "5");
    told("\x01\x02\xff", "\x01\x02\x03", 3, "hex", "0xff0201");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_compared),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(values_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
