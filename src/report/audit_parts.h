/* The parts of the text form of an audit, each in its own file. */
#ifndef SSAN_REPORT_AUDIT_PARTS_H
#define SSAN_REPORT_AUDIT_PARTS_H

#include "report/audit.h"
#include "report/words.h"

/* A block for each accidental order; nothing where there is none. `titles_only`: without bodies. */
void audit_text_accidents(struct strbuf *out, const struct audit *audit,
                          const struct text_options *options, bool titles_only);
/* The findings that appear under options.assume; nothing where nothing was assumed. */
void audit_text_assumed(struct strbuf *out, const struct audit *audit,
                        const struct text_options *options, bool titles_only);

#endif
