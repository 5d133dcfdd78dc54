/* Lines of device code: what a line table says of each place, also where it is damaged, and what
 * nvcc writes. */
#include "symbol/cubin.h"
#include "symbol/sites.h"

#include "support/cubin_bytes.h"
#include "support/temporary.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void expect(const struct cubin *cubin, uint32_t section, uint64_t offset, const char *file,
                   uint32_t line, const char *function)
{
    struct arena arena = {0};
    struct object_frame frame;
    assert_true(cubin_resolve(cubin, section, offset, &arena, &frame));
    assert_int_equal(frame.line, line);
    assert_string_equal(frame.function, function);
    if (file) {
        assert_string_equal(frame.file, file);
    } else {
        assert_null(frame.file);
    }
    arena_finish(&arena);
}

static void test_places(void **state)
{
    unsigned char bytes[CUBIN_ROOM];
    struct cubin *cubin = cubin_read(bytes, cubin_bytes(bytes));
    struct arena arena = {0};
    struct object_frame frame;
    assert_non_null(cubin);
    expect(cubin, SECTION_ADD, 0, "src/a.cu", 5, "add");
    expect(cubin, SECTION_ADD, 31, "src/a.cu", 5, "add");
    expect(cubin, SECTION_ADD, 32, "src/a.cu", 7, "add");
    expect(cubin, SECTION_ADD, 63, "src/a.cu", 7, "add");
    expect(cubin, SECTION_SCALE, 0, "src/a.cu", 9, "scale");
    expect(cubin, SECTION_SCALE, 16, "src/a.cu", 3, "helper");
    assert_false(cubin_resolve(cubin, SECTION_ADD, 64, &arena, &frame));
    assert_false(cubin_resolve(cubin, SECTION_LINES, 0, &arena, &frame));
    assert_false(cubin_resolve(cubin, 77, 0, &arena, &frame));
    arena_finish(&arena);
    cubin_close(cubin);
}

static void test_not_a_cubin(void **state)
{
    unsigned char bytes[CUBIN_ROOM];
    size_t size = cubin_bytes(bytes);
    assert_null(cubin_read(bytes, 10));
    bytes[offsetof(Elf64_Ehdr, e_machine)] = 62;
    assert_null(cubin_read(bytes, size));
    assert_null(cubin_open("/nowhere"));
    assert_null(cubin_open("/proc/self/exe"));
}

/* Each byte changed in turn, and each length: no answer is right any more, none crashes. */
static void test_damaged(void **state)
{
    unsigned char bytes[CUBIN_ROOM];
    size_t size = cubin_bytes(bytes), opened = 0;
    for (size_t at = 0; at < 2 * size; at++) {
        struct cubin *cubin;
        struct arena arena = {0};
        struct object_frame frame;
        cubin_bytes(bytes);
        if (at < size) {
            bytes[at] ^= 0xff;
        }
        cubin = cubin_read(bytes, at < size ? size : at - size);
        for (uint64_t offset = 0; cubin && offset < 80; offset += 8) {
            (void)cubin_resolve(cubin, SECTION_SCALE, offset, &arena, &frame);
        }
        opened += cubin != NULL;
        cubin_close(cubin);
        arena_finish(&arena);
    }
    assert_true(opened > size / 2);
}

static void test_no_memory(void **state)
{
    unsigned char bytes[CUBIN_ROOM];
    size_t size = cubin_bytes(bytes);
    struct cubin *cubin = NULL;
    uint64_t nth = 1;
    for (; !cubin; nth++) {
        mem_fail_once(nth);
        cubin = cubin_read(bytes, size);
    }
    mem_fail_once(0);
    assert_true(nth > 8);
    expect(cubin, SECTION_ADD, 32, "src/a.cu", 7, "add");
    cubin_close(cubin);
}

struct lines {
    unsigned count;
    uint32_t line[8], depth[8];
};

static bool take_line(void *self, const struct ssan_event *event)
{
    struct lines *lines = self;
    assert_int_equal(event->kind, SSAN_EV_line);
    assert_int_equal(event->line.site, 9);
    lines->line[lines->count] = event->line.line;
    lines->depth[lines->count++] = event->line.depth;
    return true;
}

/* A site's frames are candidates, each place told once. */
static void test_sites(void **state)
{
    static const uint64_t frames[] = {UINT64_C(3) << 48 | (uint64_t)SECTION_ADD << 32,
                                      UINT64_C(3) << 48 | (uint64_t)SECTION_ADD << 32 | 16,
                                      UINT64_C(3) << 48 | (uint64_t)SECTION_SCALE << 32,
                                      UINT64_C(3) << 48 | (uint64_t)SECTION_SCALE << 32 | 64};
    unsigned char bytes[CUBIN_ROOM];
    char path[TEMPORARY_ROOM];
    size_t size = cubin_bytes(bytes);
    struct sites *sites = sites_create("");
    struct ssan_event event = {.kind = SSAN_EV_module};
    struct lines lines = {0};
    int file;
    temporary_name(path, "cubin");
    file = mkstemp(path);
    assert_true(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    close(file);
    event.module = (struct ssan_ev_module){.module = 3, .path = ssan_str(path)};
    assert_true(sites_take(sites, &event));
    event = (struct ssan_event){.kind = SSAN_EV_site, .site = {9, {frames, 4}}};
    assert_true(sites_take(sites, &event));
    assert_true(sites_resolve(sites, take_line, &lines));
    assert_int_equal(lines.count, 2);
    assert_int_equal(lines.line[0], 5);
    assert_int_equal(lines.line[1], 9);
    assert_int_equal(lines.depth[1], 1);
    sites_destroy(sites);
    unlink(path);
}

/* The same from nvcc, where it is installed. */
static void test_nvcc(void **state)
{
    static const char source[] = "__global__ void fill(int *p)\n{\n    p[threadIdx.x] = 7;\n}\n";
    char folder[TEMPORARY_ROOM], command[3 * TEMPORARY_ROOM], path[TEMPORARY_ROOM + 32];
    struct cubin *cubin;
    struct arena arena = {0};
    struct object_frame frame;
    bool seen = false;
    FILE *file;
    if (system("nvcc --version >/dev/null 2>&1") != 0) {
        print_message("skipped: no nvcc on PATH\n");
        skip();
    }
    temporary_name(folder, "nvcc");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/fill.cu", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(source, file);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof command, "cd '%s' && nvcc -lineinfo -cubin -o fill.cubin fill.cu",
             folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/fill.cubin", folder);
    cubin = cubin_open(path);
    assert_non_null(cubin);
    for (uint32_t section = 1; section < 64; section++) {
        for (uint64_t offset = 0; offset < 512; offset += 16) {
            if (cubin_resolve(cubin, section, offset, &arena, &frame) && frame.line == 3) {
                assert_string_equal(frame.function, "fill");
                assert_non_null(strstr(frame.file, "/fill.cu"));
                seen = true;
            }
        }
    }
    assert_true(seen);
    arena_finish(&arena);
    cubin_close(cubin);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),  cmocka_unit_test(test_not_a_cubin),
        cmocka_unit_test(test_damaged), cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_sites),   cmocka_unit_test(test_nvcc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
