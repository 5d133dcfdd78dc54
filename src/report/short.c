/* The short form of a report: one line a finding, for CI logs and editors. Cost: linear. */
#include "report/report.h"

#include "report/text_parts.h"

void report_short(struct strbuf *out, const struct report *report, bool color)
{
    size_t i;
    for (i = 0; i < report->finding_count; i++) {
        const struct finding *finding = report->findings[i];
        if (!finding->suppressed_by) {
            text_title(out, report, finding, color);
            strbuf_printf(out, " id=%s\n", finding->id ? finding->id : "?");
        }
    }
}
