/* The small forms. */
#include "contract/forms.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool forms_number(const char *text, double *number)
{
    char *end;
    if (!text[0] || strchr(" \t\n\r\f\v", text[0])) {
        return false;
    }
    *number = strtod(text, &end);
    return !*end && isfinite(*number);
}

/* All digits, from 1; no more than `most`. */
static bool is_count(const char *text, unsigned long most, unsigned long *count)
{
    char *end;
    errno = 0;
    *count = strtoul(text, &end, 10);
    return text[0] >= '1' && text[0] <= '9' && !*end && errno == 0 && *count <= most;
}

bool forms_is_device(const char *text)
{
    unsigned long count;
    return strcmp(text, "virtual") == 0 || strcmp(text, "gpu") == 0 ||
           (strncmp(text, "virtual:", 8) == 0 && is_count(text + 8, FORMS_DEVICES_MOST, &count));
}

bool forms_is_below(const char *path)
{
    if (!path[0]) {
        return false;
    }
    for (;;) {
        const size_t length = strcspn(path, "/");
        if (length == 0 || (length == 1 && path[0] == '.') ||
            (length == 2 && path[0] == '.' && path[1] == '.')) {
            return false;
        }
        if (!path[length]) {
            return true;
        }
        path += length + 1;
    }
}

bool forms_is_key(const char *text)
{
    static const char taken[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    return text[0] && text[strspn(text, taken)] == '\0';
}

bool forms_is_name(const char *text)
{
    return forms_is_key(text) && text[0] != '.' && text[0] != '-' && strlen(text) <= 60;
}

bool forms_is_own_file(const char *path)
{
    return strcmp(path, "report.json") == 0 || strcmp(path, "trace.ssan") == 0 ||
           strcmp(path, "run.json") == 0;
}

bool forms_place(struct forms_place *place, const char *text)
{
    const char *slash = strstr(text, ":/"), *colon = strrchr(text, ':');
    const size_t length = strlen(text);
    unsigned long line;
    *place = (struct forms_place){0};
    if (slash && slash > text && length > 0 && text[length - 1] == '/' &&
        text + length - 1 > slash + 2) {
        place->file_length = (size_t)(slash - text);
        place->text = slash + 2;
        place->text_length = (size_t)(text + length - 1 - place->text);
        return true;
    }
    if (!colon || colon == text || !is_count(colon + 1, 100000000, &line)) {
        return false;
    }
    place->file_length = (size_t)(colon - text);
    place->line = (unsigned)line;
    return true;
}

unsigned forms_line_with(const char *text, const char *wanted, size_t length, unsigned *count)
{
    unsigned line = 1, found = 0;
    *count = 0;
    while (*text) {
        const size_t width = strcspn(text, "\n");
        if (memmem(text, width, wanted, length)) {
            found = line;
            ++*count;
        }
        text += width + (text[width] == '\n');
        line++;
    }
    return *count == 1 ? found : 0;
}
