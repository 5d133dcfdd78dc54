/* Words of sources: a macro may stand anywhere, in a comment too, so that one which is told really
 * stands nowhere. */
#include "contract/mention.h"

#include "base/ctext.h"
#include "base/file.h"

#include <string.h>

#define MOST_BYTES ((size_t)64 << 20)

static bool has_word(const char *text, const char *word, size_t length)
{
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        if ((at == text || !ctext_is_word(at[-1])) && !ctext_is_word(at[length])) {
            return true;
        }
    }
    return false;
}

/* Whether one of the files has the word; `*is_known` becomes false where one can't be read. */
static bool is_in_files(const char *work, const struct spec_list *files, const char *word,
                        bool *is_known)
{
    bool found = false;
    for (unsigned i = 0; i < files->count && !found && *is_known; i++) {
        struct strbuf path = {0}, text = {0};
        struct ssan_error err;
        strbuf_printf(&path, "%s/sources/%s", work, files->items[i]);
        *is_known =
            !path.failed && file_read(&text, strbuf_text(&path), MOST_BYTES, &err) == SSAN_OK;
        found = *is_known && has_word(strbuf_text(&text), word, strlen(word));
        strbuf_finish(&path);
        strbuf_finish(&text);
    }
    return found;
}

const char *mention_missing(const char *work, const struct spec_build *build,
                            const struct spec_list *macros)
{
    bool is_known = build->sources.count > 0 && build->command.count == 0;
    for (unsigned i = 0; i < macros->count && is_known; i++) {
        struct strbuf word = {0};
        strbuf_add(&word, macros->items[i], strcspn(macros->items[i], "="));
        is_known = !word.failed;
        bool found =
            is_known && (is_in_files(work, &build->sources, strbuf_text(&word), &is_known) ||
                         is_in_files(work, &build->files, strbuf_text(&word), &is_known));
        strbuf_finish(&word);
        if (is_known && !found) {
            return macros->items[i];
        }
    }
    return NULL;
}
