/* Frames of this very program: lines, inlined calls, and what a changed or missing file gives. */
#include "symbol/sites.h"
#include "symbol/symbols.h"

#include "base/strbuf.h"

#include <link.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

uint64_t seen;
void look(void);
void rewritten(void); /* symbol_rewritten.cudafe1.cpp */
void members(void);   /* symbol_members.cpp */

static char self[4096], build_id[64];

__attribute__((noinline)) void look(void)
{
    seen = (uint64_t)(uintptr_t)__builtin_return_address(0);
    __asm__ volatile("" ::: "memory");
}

static const uint32_t inner_line = __LINE__ + 3;
static inline __attribute__((always_inline)) void inner(void)
{
    look();
    __asm__ volatile("" ::: "memory");
}

static const uint32_t outer_line = __LINE__ + 3;
__attribute__((noinline)) static void outer(void)
{
    inner();
    __asm__ volatile("" ::: "memory");
}

/* The build id of the main program, from its notes; base of its addresses. */
static int read_notes(struct dl_phdr_info *info, size_t size, void *base)
{
    int i;
    *(uint64_t *)base = info->dlpi_addr;
    for (i = 0; i < info->dlpi_phnum; i++) {
        const char *p = (const char *)(uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        const char *end = p + info->dlpi_phdr[i].p_memsz;
        while (info->dlpi_phdr[i].p_type == PT_NOTE && p + sizeof(ElfW(Nhdr)) <= end) {
            ElfW(Nhdr) note;
            memcpy(&note, p, sizeof note);
            p += sizeof note;
            if (note.n_type == NT_GNU_BUILD_ID && strcmp(p, "GNU") == 0 && note.n_descsz == 20) {
                unsigned k;
                for (k = 0; k < note.n_descsz; k++) {
                    snprintf(build_id + 2 * k, 3, "%02x",
                             (unsigned char)p[((note.n_namesz + 3) & ~3u) + k]);
                }
            }
            p += ((note.n_namesz + 3) & ~3u) + ((note.n_descsz + 3) & ~3u);
        }
    }
    return 1;
}

/* The frame of a call of look, which `calls` makes. */
static uint64_t frame_in(void (*calls)(void), uint32_t module)
{
    uint64_t base = 0;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    dl_iterate_phdr(read_notes, &base);
    calls();
    return (uint64_t)module << 48 | (seen - base);
}

static uint64_t own_frame(uint32_t module)
{
    return frame_in(outer, module);
}

static void lines_and_inlined_calls(void **state)
{
    struct symbols *symbols = symbols_create(SSAN_SOURCE_DIR);
    struct symbol_frame frames[16];
    struct strbuf trouble = {0};
    uint64_t frame = own_frame(3);
    size_t count;
    assert_true(symbols_add_module(symbols, 3, self, build_id));
    count = symbols_resolve(symbols, frame, frames, 16);
    symbols_explain(symbols, &trouble);
    assert_string_equal(strbuf_text(&trouble), "");
    assert_int_equal(count, 2);
    assert_string_equal(frames[0].function, "inner");
    assert_string_equal(frames[0].file, "tests/unit/symbol_lines.c");
    assert_int_equal(frames[0].line, inner_line);
    assert_string_equal(frames[0].text, "look();");
    assert_string_equal(frames[1].function, "outer");
    assert_int_equal(frames[1].line, outer_line);
    assert_string_equal(frames[1].text, "inner();");
    assert_int_equal(symbols_resolve(symbols, frame, frames, 16), 2); /* from the cache */
    symbols_destroy(symbols);
}

/* A unit of nvcc's has the lines of its source and columns of another text: lines are taken whole.
 */
static void rewritten_by_nvcc(void **state)
{
    struct symbols *symbols = symbols_create(SSAN_SOURCE_DIR);
    struct symbol_frame frames[16];
    const uint64_t frame = frame_in(rewritten, 5);
    assert_true(symbols_add_module(symbols, 5, self, build_id));
    assert_int_equal(symbols_resolve(symbols, frame, frames, 16), 2);
    assert_string_equal(frames[0].function, "inlined");
    assert_int_equal(frames[0].line, 6);
    assert_string_equal(frames[0].text, "before(); (look()); behind();");
    assert_string_equal(frames[1].function, "rewritten");
    assert_int_equal(frames[1].line, 7);
    assert_string_equal(frames[1].text, "before(); inlined(); behind();");
    symbols_destroy(symbols);
}

static bool keep_text(void *text, const struct ssan_event *event)
{
    const struct ssan_str *told = &event->line.text;
    if (event->line.depth == 1) {
        snprintf(text, 256, "%.*s", (int)told->length, told->ptr);
    }
    return true;
}

/* gcc gives the calls of a default member initialiser the line of the class. */
static void constructor_by_the_compiler(void **state)
{
    struct sites *sites = sites_create(SSAN_SOURCE_DIR);
    const uint64_t frame = frame_in(members, 5);
    struct ssan_event module = {.kind = SSAN_EV_module,
                                .module = {5, 0, ssan_str(self), ssan_str(build_id)}};
    struct ssan_event site = {.kind = SSAN_EV_site, .site = {1, {&frame, 1}}};
    char text[256] = "";
    assert_true(sites_take(sites, &module) && sites_take(sites, &site));
    assert_true(sites_resolve(sites, keep_text, text));
    assert_non_null(strstr(text, "int *second = give();"));
    sites_destroy(sites);
}

/* Nothing is known but the object's name and the offset in it. */
static void assert_bare(struct symbols *symbols, uint64_t frame)
{
    struct symbol_frame frames[16];
    assert_int_equal(symbols_resolve(symbols, frame, frames, 16), 1);
    assert_null(frames[0].file);
    assert_non_null(strstr(frames[0].function, "+0x"));
}

static void changed_missing_unknown(void **state)
{
    struct symbols *symbols = symbols_create("");
    struct symbol_frame frames[16];
    struct strbuf trouble = {0};
    uint64_t offset = own_frame(0);
    assert_true(symbols_add_module(symbols, 1, self, "00112233"));
    assert_true(symbols_add_module(symbols, 2, "/nonexistent/program", ""));
    assert_true(symbols_add_module(symbols, 4, "/etc/passwd", ""));
    assert_bare(symbols, UINT64_C(1) << 48 | offset);
    assert_bare(symbols, UINT64_C(2) << 48 | offset);
    assert_bare(symbols, UINT64_C(4) << 48 | offset);
    assert_int_equal(symbols_resolve(symbols, UINT64_C(9) << 48 | offset, frames, 16), 0);
    symbols_explain(symbols, &trouble);
    assert_non_null(strstr(trouble.text, "has changed since it was loaded"));
    assert_non_null(strstr(trouble.text, "/nonexistent/program can't be read"));
    assert_non_null(strstr(trouble.text, "/etc/passwd can't be read"));
    strbuf_finish(&trouble);
    symbols_destroy(symbols);
}

extern void _start(void);

/* The start code of the C library has no debug info of its own: function+0xoffset. */
static void without_debug_info(void **state)
{
    struct symbols *symbols = symbols_create("");
    struct symbol_frame frames[16];
    uint64_t base = 0;
    own_frame(0);
    dl_iterate_phdr(read_notes, &base);
    assert_true(symbols_add_module(symbols, 1, self, build_id));
    assert_int_equal(symbols_resolve(symbols,
                                     UINT64_C(1) << 48 | ((uint64_t)(uintptr_t)_start - base + 9),
                                     frames, 16),
                     1);
    if (!frames[0].file) {
        assert_string_equal(frames[0].function, "_start+0x8");
    }
    symbols_destroy(symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_inlined_calls),     cmocka_unit_test(rewritten_by_nvcc),
        cmocka_unit_test(constructor_by_the_compiler), cmocka_unit_test(changed_missing_unknown),
        cmocka_unit_test(without_debug_info),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
