/* Statements cut out of source text. */
#include "symbol/source.h"
#include "support/temporary.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *text;
    uint32_t line;
    const char *statement;
} cases[] = {
    {"a();\n  b(1,\n    2);\nc();\n", 2, "b(1, 2);"},
    {"x\n    add<<<grid, 256, 0, s>>>(d,   n);  // C1\n", 2, "add<<<grid, 256, 0, s>>>(d, n);"},
    {"CHECK(\n  cudaMalloc(&dev,\n    bytes));\nnext();", 2, "cudaMalloc(&dev, bytes))"},
    {"for (int i = 0; i < 4; i++) {\n  f(i);\n}\n", 1, "for (int i = 0; i < 4; i++) {"},
    {"if (err)\n  f();\ng();\n", 1, "if (err) f();"},
    {"f(/* why\n not */ 1);\n", 1, "f( 1);"},
    {"puts(\"a; b // c\"); d();\n", 1, "puts(\"a; b // c\"); d();"},
    {"f(';', '\\'', \"\\\"\",\n 2);\n", 1, "f(';', '\\'', \"\\\"\", 2);"},
    {"f(a,\n#ifdef X\n b);\n", 1, "f(a,"},
    {"} else\n  g(1);\n", 2, "g(1);"},
    {"scale\n<<<1,\n2>>>(d)\n;\n", 1, "scale <<<1, 2>>>(d) ;"},
    {"last(1", 1, "last(1"},
    {"one\n", 2, ""},
};

static void statements(void **state)
{
    size_t i;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[SOURCE_MAX_BYTES + 1];
        size_t length = source_join(cases[i].text, strlen(cases[i].text), cases[i].line, 0, out);
        assert_string_equal(out, cases[i].statement);
        assert_int_equal(length, strlen(out));
    }
}

/* The column is that of `@`, which is no part of the text. */
static const struct {
    const char *text, *statement;
} columns[] = {
    {"a(&x, n); @a(&y, n); a(&z, n);\n", "a(&y, n);"},
    {"  @a(&x, n); a(&y, n);\n", "a(&x, n);"},
    {"float *h, *d; b(&h, 1); @a(&d,\n  1); c();\n", "a(&d, 1);"},
    {"x(); e_t e = @a(&d); y();\n", "e_t e = a(&d);"},
    {"x(); check(@a(&d), 1); y();\n", "check(a(&d), 1);"},
    {"for (int i = 0; i < n; i++) @a(&p[i]);\n", "for (int i = 0; i < n; i++) a(&p[i]);"},
    {"for (i = 0; i < n; i++) { @a(&p[i]); b(); }\n", "a(&p[i]);"},
    {"for (int i = @begin(); i < n; i++) {\n", "for (int i = begin(); i < n; i++)"},
    {"  i < n; i++) @a(&p[i]);\n", "a(&p[i]);"},
    {"t.add([&] { a(&x); @a(&y); });\n", "a(&y);"},
    {"@t.add([&] { a(&x); a(&y); }); b();\n", "t.add([&] { a(&x); a(&y); });"},
    {"int *p[] = {a(1), @a(2)}; b();\n", "int *p[] = {a(1), a(2)};"},
    {"f(\";{\", ';'); /* ; } */ @a(\"x;\"); b();\n", "a(\"x;\");"},
    {"} else @a(&x); b();\n", "else a(&x);"},
    {"  a(&x); @}\n", "}"},
    {"if (e) return @a(&x); b();\n", "if (e) return a(&x);"},
};

static void a_column_tells_statements_apart(void **state)
{
    size_t i;
    for (i = 0; i < sizeof columns / sizeof *columns; i++) {
        char text[200], out[SOURCE_MAX_BYTES + 1];
        const char *mark = strchr(columns[i].text, '@');
        const size_t before = (size_t)(mark - columns[i].text);
        memcpy(text, columns[i].text, before);
        strcpy(text + before, mark + 1);
        source_join(text, strlen(text), 1, (uint32_t)before + 1, out);
        assert_string_equal(out, columns[i].statement);
    }
}

static void a_wrong_column_is_none(void **state)
{
    char out[SOURCE_MAX_BYTES + 1];
    source_join("a(); b();\n", 10, 1, 11, out);
    assert_string_equal(out, "a(); b();");
    source_join("a(); b();\n", 10, 1, 5, out);
    assert_string_equal(out, "a(); b();");
}

static void long_ones_are_cut(void **state)
{
    char text[2000], out[SOURCE_MAX_BYTES + 1];
    size_t i;
    memset(text, 'x', sizeof text);
    assert_int_equal(source_join(text, sizeof text, 1, 0, out), SOURCE_MAX_BYTES);
    for (i = 0; i < sizeof text; i++) {
        text[i] = i % 2 ? '\n' : '(';
    }
    assert_int_equal(source_join(text, sizeof text, 1, 0, out), 2 * SOURCE_MAX_LINES - 1);
}

static void files_that_are_not_there(void **state)
{
    struct source_cache *cache = source_create();
    const char *text;
    assert_null(source_statement(cache, "/nonexistent/a.cu", 1, 0));
    assert_null(source_statement(cache, __FILE__, 1, 0)); /* a comment */
    text = source_statement(cache, __FILE__, 2, 0);
    assert_string_equal(text, "#include \"symbol/source.h\"");
    assert_ptr_equal(source_statement(cache, __FILE__, 2, 0), text);
    assert_null(source_statement(cache, __FILE__, 1000000, 0));
    source_destroy(cache);
}

/* The statement on a line of a file with this text. */
static void assert_in_file(const char *text, uint32_t line, const char *want)
{
    char path[TEMPORARY_ROOM];
    temporary_name(path, "symbol-source");
    const int fd = mkstemp(path);
    struct source_cache *cache = source_create();
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    assert_string_equal(source_statement(cache, path, line, 0), want);
    source_destroy(cache);
    unlink(path);
}

static void bodies_without_braces_begin_with_their_head(void **state)
{
    assert_in_file("if (a(1)) // why\n\n    f();\n", 3, "if (a(1)) f();");
    assert_in_file("    } else\n    f();\n", 2, "else f();");
    assert_in_file("for (;;)\n f();\n", 2, "for (;;) f();");
    assert_in_file("if (a) {\n f();\n", 2, "f();");
    assert_in_file("if (a)\n g();\n f();\n", 3, "f();");
    assert_in_file("check(a)\n f();\n", 2, "f();");
    assert_in_file("while (a);\n f();\n", 2, "f();");
    assert_in_file("  if (a) b(c)\n f();\n", 2, "f();");
    assert_in_file("f();\n", 1, "f();");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements),
        cmocka_unit_test(a_column_tells_statements_apart),
        cmocka_unit_test(a_wrong_column_is_none),
        cmocka_unit_test(bodies_without_braces_begin_with_their_head),
        cmocka_unit_test(long_ones_are_cut),
        cmocka_unit_test(files_that_are_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
