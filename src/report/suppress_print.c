/* Ready entries for a suppression file. An entry asks for rule and id, which together fit one
 * finding; its reason is the reader's to write, and says so.
 *
 * Invariant: what is printed is YAML that the reader of suppressions takes, whatever the program
 * calls its kernels and buffers: names stand in comments only, without control characters. */
#include "report/suppress.h"

#include "report/words.h"

#define REASON "say here why this is not a fault"

void suppress_entry(struct strbuf *out, const struct finding *finding, size_t indent)
{
    strbuf_printf(out, "%*s- rule: %s\n", (int)indent, "", check_info(finding->check)->id);
    if (finding->id) {
        strbuf_printf(out, "%*s  id: \"%s\"\n", (int)indent, "", finding->id);
    }
    strbuf_printf(out, "%*s  reason: " REASON "\n", (int)indent, "");
}

/* Bytes that a comment may hold: all printable ASCII; the rest as '?'. */
static void add_comment(struct strbuf *out, const char *text)
{
    strbuf_puts(out, "# ");
    for (; *text; text++) {
        char c = *text >= ' ' && *text <= '~' ? *text : '?';
        strbuf_add(out, &c, 1);
    }
    strbuf_puts(out, "\n");
}

static void one(struct strbuf *out, const struct report *report, const struct finding *finding)
{
    struct strbuf text = {0};
    words_place_full(&text, words_site(report, finding));
    strbuf_printf(&text, ": %s: ", severity_word(finding->severity));
    words_message(&text, report, finding);
    add_comment(out, strbuf_text(&text));
    suppress_entry(out, finding, 0);
    out->failed |= text.failed;
    strbuf_finish(&text);
}

void suppress_entries(struct strbuf *out, const struct report *report)
{
    size_t i, k, printed = 0;
    for (i = 0; i < report->finding_count; i++) {
        const struct finding *finding = report->findings[i];
        if (finding->suppressed_by) {
            continue;
        }
        one(out, report, finding);
        printed++;
        for (k = 0; k < finding->folded_count; k++) {
            if (!finding->folded[k]->suppressed_by) {
                one(out, report, finding->folded[k]);
            }
        }
    }
    if (printed == 0) {
        strbuf_puts(out, "# nothing to suppress\n");
    }
}
