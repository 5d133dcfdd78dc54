/* Values that jansson takes, and documents out of them. */
#include "json/values.h"

#include "base/mem.h"

json_t *json_text(const char *text)
{
    json_t *value;
    char *copy;
    size_t i;
    if (!text) {
        return json_null();
    }
    value = json_string(text);
    if (value) {
        return value;
    }
    copy = mem_strdup(text);
    if (!copy) {
        return NULL;
    }
    for (i = 0; copy[i]; i++) {
        if ((unsigned char)copy[i] >= 0x80) {
            copy[i] = '?';
        }
    }
    value = json_string(copy);
    mem_free(copy);
    return value;
}

json_t *json_texts(const char *const *texts, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < count; i++) {
        if (json_array_append_new(list, json_text(texts[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

json_t *json_words(const char *const *words)
{
    size_t count = 0;
    while (words && words[count]) {
        count++;
    }
    return json_texts(words, count);
}

json_t *json_number(uint64_t number)
{
    return json_integer((json_int_t)(number > INT64_MAX ? INT64_MAX : number));
}

json_t *json_number_or_null(uint64_t number)
{
    return number > 0 ? json_number(number) : json_null();
}

static int add_bytes(const char *bytes, size_t length, void *out)
{
    strbuf_add(out, bytes, length);
    return ((struct strbuf *)out)->failed ? -1 : 0;
}

bool json_print(struct strbuf *out, json_t *take_root)
{
    const bool good =
        take_root && json_dump_callback(take_root, add_bytes, out, JSON_INDENT(2)) == 0;
    strbuf_puts(out, "\n");
    json_decref(take_root);
    return good && !out->failed;
}
