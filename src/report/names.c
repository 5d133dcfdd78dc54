/* Shortens names in steps, each applied to the result of the one before, until one fits. A step
 * that does not understand the name (an operator, brackets that don't pair up) leaves it. */
#include "report/names.h"

#include "report/text_parts.h"

#include "base/columns.h"
#include "base/ctext.h"

#include <string.h>

#define ELLIPSIS "..."
#define OPERATOR "operator"

/* The end of what the bracket at `open` encloses, behind its partner; NULL: it has none. */
static const char *behind_partner(const char *open, char left, char right)
{
    size_t depth = 0;
    for (const char *at = open; *at; at++) {
        if (*at == left) {
            depth++;
        } else if (*at == right && --depth == 0) {
            return at + 1;
        }
    }
    return NULL;
}

/* Of an operator or a lambda function the last component says nothing. */
static bool is_special(const char *name)
{
    const char *at = name;
    while ((at = strstr(at, OPERATOR)) != NULL) {
        const char *end = at + strlen(OPERATOR);
        if ((at == name || !ctext_is_word(at[-1])) && !ctext_is_word(*end)) {
            return true;
        }
        at = end;
    }
    return strchr(name, '{') != NULL;
}

/* Puts "..." in the place of what stands between outermost brackets. An "(anonymous namespace)" is
 * no list of parameters. */
static void empty_brackets(struct strbuf *out, const char *name, char left, char right)
{
    while (*name) {
        const char *end = *name == left ? behind_partner(name, left, right) : NULL;
        bool is_namespace = end && left == '(' && strncmp(end, "::", 2) == 0;
        if (end && end - name > 2 && !is_namespace) {
            strbuf_printf(out, "%c" ELLIPSIS "%c", left, right);
            name = end;
        } else {
            strbuf_add(out, name++, 1);
        }
    }
}

/* The last component, behind the last "::" outside of brackets. */
static const char *last_component(const char *name)
{
    const char *last = name;
    size_t depth = 0;
    for (const char *at = name; *at; at++) {
        depth += *at == '<' || *at == '(';
        depth -= (*at == '>' || *at == ')') && depth > 0;
        last = depth == 0 && at[0] == ':' && at[1] == ':' ? at + 2 : last;
    }
    return last;
}

static bool fits(const struct strbuf *text, size_t columns)
{
    return layout_columns(text) <= columns;
}

/* Without parameters and template arguments. */
static void strip(struct strbuf *text, const char *name, size_t columns)
{
    struct strbuf plain = {0};
    empty_brackets(&plain, name, '(', ')');
    if (fits(&plain, columns)) {
        strbuf_puts(text, strbuf_text(&plain));
    } else {
        empty_brackets(text, strbuf_text(&plain), '<', '>');
    }
    text->failed |= plain.failed;
    strbuf_finish(&plain);
}

/* The component without what stands in brackets; "..." at its ends has to fit too, or only the one
 * behind it, or the middle gives way. */
static void add_bare(struct strbuf *out, const char *component, bool has_scope, size_t columns)
{
    struct strbuf bare = {0}, marked = {0};
    const size_t length = strcspn(component, "<(");
    const char *tail = component[length] && length > 0 ? ELLIPSIS : "";
    strbuf_add(&bare, component, length > 0 ? length : strlen(component));
    strbuf_printf(&marked, "%s%s%s", has_scope ? ELLIPSIS : "", strbuf_text(&bare), tail);
    if (!fits(&marked, columns)) {
        strbuf_clear(&marked);
        strbuf_printf(&marked, "%s%s", strbuf_text(&bare), tail);
    }
    layout_elide(out, strbuf_text(fits(&marked, columns) ? &marked : &bare), columns);
    out->failed |= bare.failed || marked.failed;
    strbuf_finish(&bare);
    strbuf_finish(&marked);
}

void names_shorten(struct strbuf *out, const char *name, size_t columns)
{
    struct strbuf text = {0}, last = {0};
    if (columns < 8 || columns_of(name, strlen(name)) <= columns || is_special(name)) {
        layout_elide(out, name, columns < 8 ? SIZE_MAX : columns);
    } else {
        strip(&text, name, columns);
        const char *component = last_component(strbuf_text(&text));
        strbuf_printf(&last, "%s%s",
                      component == strbuf_text(&text) ? "" : ELLIPSIS "::", component);
        if (fits(&text, columns)) {
            strbuf_puts(out, strbuf_text(&text));
        } else if (fits(&last, columns)) {
            strbuf_puts(out, strbuf_text(&last));
        } else {
            add_bare(out, component, component != strbuf_text(&text), columns);
        }
    }
    out->failed |= text.failed || last.failed;
    strbuf_finish(&text);
    strbuf_finish(&last);
}
