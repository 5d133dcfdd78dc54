/* Looks into the outputs of programs for the line to show. Reads a bounded part of each. */
#include "contract/said.h"

#include "base/file.h"

#include <string.h>

#define FIRST_LINE_BYTES (64u << 10)
#define STDERR_BYTES     (1u << 20)
#define SHOWN_LINE       300

/* The first line that compilers, linkers and programs mark as an error; the first one, if none is.
 */
static const char *telling_line(const char *text)
{
    static const char *const marks[] = {"error: ", "undefined reference", "cannot find "};
    const char *first = text + strspn(text, "\n");
    for (const char *at = first; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        size_t length = strcspn(at, "\n");
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
            if (memmem(at, length, marks[i], strlen(marks[i]))) {
                return at;
            }
        }
    }
    return first;
}

/* A program may write anything. */
static void end_no_text(struct strbuf *text, size_t begin)
{
    for (size_t i = begin; i < text->length; i++) {
        text->text[i] = text->text[i] ? text->text[i] : ' ';
    }
}

enum ssan_status said_read(struct strbuf *out, const char *path, size_t most_bytes,
                           struct ssan_error *err)
{
    const size_t begin = out->length;
    const enum ssan_status status = file_read(out, path, most_bytes, err);
    end_no_text(out, begin);
    return status;
}

void said_first_line(struct strbuf *out, const char *folder, const char *file)
{
    struct strbuf path = {0}, text = {0};
    strbuf_printf(&path, "%s/%s", folder, file);
    (void)said_read(&text, strbuf_text(&path), FIRST_LINE_BYTES, NULL); /* or as much as fits */
    const char *line = telling_line(strbuf_text(&text));
    strbuf_add_printable(out, line, strcspn(line, "\n"), SHOWN_LINE);
    strbuf_finish(&path);
    strbuf_finish(&text);
}

void said_by_tool(struct strbuf *out, const char *folder, bool verdict)
{
    static const char mark[] = "streamsan: ";
    static const char *const verdicts[] = {"clean: ", "errors: ", "incomplete: "};
    struct strbuf path = {0}, text = {0};
    const char *found = NULL;
    strbuf_printf(&path, "%s/stderr", folder);
    file_read_end(&text, strbuf_text(&path), STDERR_BYTES);
    end_no_text(&text, 0);
    for (const char *at = strbuf_text(&text); *at; at += strcspn(at, "\n"), at += *at == '\n') {
        if (strncmp(at, mark, sizeof mark - 1) == 0) {
            bool is = false;
            for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
                is |= strncmp(at + sizeof mark - 1, verdicts[i], strlen(verdicts[i])) == 0;
            }
            found = is == verdict ? at + sizeof mark - 1 : found;
        }
    }
    if (found) {
        strbuf_add_printable(out, found, strcspn(found, "\n"), SHOWN_LINE);
    }
    strbuf_finish(&path);
    strbuf_finish(&text);
}

void said_missing_header(struct strbuf *out, const char *line)
{
    static const char mark[] = "fatal error: ";
    const char *name = strstr(line, mark);
    name = name ? name + sizeof mark - 1 : "";
    if (name[0] == '\'' && strstr(name, "' file not found")) { /* clang */
        strbuf_add(out, name + 1, (size_t)(strstr(name, "' file not found") - name) - 1);
    } else if (strstr(name, ": No such file")) { /* gcc, which nvcc calls */
        strbuf_add(out, name, (size_t)(strstr(name, ": No such file") - name));
    }
}

void said_last_lines(struct strbuf *out, const char *text, unsigned count)
{
    size_t end = strlen(text);
    while (end > 0 && text[end - 1] == '\n') {
        end--;
    }
    size_t begin = end;
    for (unsigned lines = 0; begin > 0; begin--) {
        if (text[begin - 1] == '\n' && ++lines == count) {
            break;
        }
    }
    while (begin < end) {
        const size_t width = strcspn(text + begin, "\n");
        strbuf_puts(out, out->length ? " | " : "");
        strbuf_add_printable(out, text + begin, width, SHOWN_LINE / count);
        begin += width + 1;
    }
}
