/* Lists of words for commands. */
#include "cc/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void words_init(struct words *words, struct arena *arena)
{
    *words = (struct words){.arena = arena};
}

void words_finish(struct words *words)
{
    VEC_FREE(words);
}

void words_add(struct words *words, const char *word)
{
    if (!word || !VEC_PUSH(words, word)) {
        words->failed = true;
    }
}

void words_add_all(struct words *words, const struct words *more)
{
    for (size_t i = 0; i < more->count; i++) {
        words_add(words, more->items[i]);
    }
    words->failed |= more->failed;
}

static char *text_of(struct arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : arena_alloc(arena, (size_t)length + 1);
    if (text) {
        vsnprintf(text, (size_t)length + 1, format, args);
    }
    return text;
}

void words_printf(struct words *words, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    words_add(words, text_of(words->arena, format, args));
    va_end(args);
}

void words_split(struct words *words, const char *text, char separator)
{
    while (*text) {
        const char *end = strchrnul(text, separator);
        if (end != text) {
            words_add(words, arena_strndup(words->arena, text, (size_t)(end - text)));
        }
        text = *end ? end + 1 : end;
    }
}

bool words_end(struct words *words)
{
    if (!words->failed && !VEC_PUSH(words, NULL)) {
        words->failed = true;
    }
    return !words->failed;
}

char *words_text(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = text_of(arena, format, args);
    va_end(args);
    return text;
}
