/* The short form of a report: one line a finding, for CI logs and editors. What `witness` adds
 * stands behind the id, the command last, as it is copied. Cost: linear. */
#include "report/report.h"

#include "report/text_parts.h"

void report_short(struct strbuf *out, const struct report *report, bool color)
{
    size_t i;
    for (i = 0; i < report->finding_count; i++) {
        const struct finding *finding = report->findings[i];
        if (!finding->suppressed_by) {
            text_title(out, report, finding, color);
            strbuf_printf(out, " id=%s", finding->id ? finding->id : "?");
            short_witness(out, finding->witness);
            strbuf_puts(out, "\n");
        }
    }
}
