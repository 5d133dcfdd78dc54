/* The paragraph "witness": the order in which the two operations changed places, what came of it,
 * and the command that shows it again; or why there is none. Also what --bisect found out.
 *
 * The command stands on one line however long it is, so that it can be copied. */
#include "report/text_parts.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ORDER_PRINTED 12 /* operations; a longer order is described */
#define ORDER_WORD    "order:"
#define LINE_COLUMNS  60 /* of a line of the program's output */

/* Appends "P2" for "s1.2": its letters are those of the labels of its stream, also where the report
 * holds other items of it only. The id of what has none. */
static void add_label(struct strbuf *out, const struct report *report, const char *id)
{
    const char *dot = strchr(id, '.');
    const size_t stream = dot ? (size_t)(dot + 1 - id) : 0; /* the length of "s1." */
    for (size_t i = 0; stream > 0 && i < report->op_count; i++) {
        const struct report_op *op = &report->ops[i];
        if (op->id && op->label && strncmp(op->id, id, stream) == 0) {
            const size_t label = strlen(op->label), number = strlen(op->id + stream);
            strbuf_add(out, op->label, label > number ? label - number : 0);
            strbuf_puts(out, id + stream);
            return;
        }
    }
    strbuf_puts(out, id);
}

/* The first access of the host in an order, whose items stand apart by commas or spaces; NULL: none
 * stands there. */
static const char *listed_access(const char *order)
{
    while (*order && *order != 'a') {
        order += strcspn(order, ", ");
        order += strspn(order, ", ");
    }
    return *order ? order : NULL;
}

/* Which streams the numbers in an order are, and which access of the host stands in it:
 * "s1 'producer', s2 'consumer', a1.1 reads 'out'". */
static void add_legend(struct strbuf *out, const struct report *report,
                       const struct finding *finding, const char *order)
{
    const char *access = listed_access(order);
    size_t begin = out->length;
    words_streams(out, report, order);
    if (access) {
        strbuf_printf(out, "%s%.*s %s '%s'", out->length > begin ? ", " : "",
                      (int)strcspn(access, ", "), access, words_verb(report, &finding->then),
                      words_buffer(report, finding->buffer));
    }
}

/* The whole order of a witness, and " (s1 'producer', s2 'consumer')". */
static void add_order(struct strbuf *out, const struct report *report,
                      const struct finding *finding)
{
    const struct witness *witness = finding->witness;
    struct strbuf ids = {0}, legend = {0};
    strbuf_puts(out, "order");
    for (size_t i = 0; i < witness->order_count; i++) {
        strbuf_puts(out, " ");
        add_label(out, report, witness->order[i]);
        strbuf_printf(&ids, "%s%s", i > 0 ? "," : "", witness->order[i]);
    }
    add_legend(&legend, report, finding, strbuf_text(&ids));
    if (legend.length > 0) {
        strbuf_printf(out, " (%s)", strbuf_text(&legend));
    }
    out->failed |= ids.failed || legend.failed;
    strbuf_finish(&ids);
    strbuf_finish(&legend);
}

static bool is_order_told(const struct witness *witness)
{
    return witness->order_count > 0 && witness->order_count <= ORDER_PRINTED;
}

/* "holding scale on 'producer' until add on 'consumer' is done", "until the host reads 'out'": the
 * finding's own operations by name, another kernel, or a later instance of one, with its id. */
static void lead_gate(struct strbuf *out, const struct report *report,
                      const struct finding *finding)
{
    const struct witness *witness = finding->witness;
    const char *first = report->ops[finding->first.op].id;
    const char *then = report->ops[finding->then.op].id;
    strbuf_puts(out, "holding ");
    if (first && strcmp(witness->held, first) == 0) {
        words_subject(out, report, finding->first.op);
    } else {
        strbuf_printf(out, "%s (%s)", witness->held_name, witness->held);
    }
    strbuf_puts(out, " until ");
    words_subject(out, report, finding->then.op);
    if (witness->until[0] == 'a') { /* an announced access */
        strbuf_printf(out, " %s '%s'", words_verb(report, &finding->then),
                      words_buffer(report, finding->buffer));
        return;
    }
    if (!then || strcmp(witness->until, then) != 0) {
        strbuf_printf(out, " (%s)", witness->until);
    }
    strbuf_puts(out, " is done");
}

static void lead(struct strbuf *out, const struct report *report, const struct finding *finding)
{
    const struct witness *witness = finding->witness;
    if (witness->held) {
        lead_gate(out, report, finding);
        return;
    }
    if (is_order_told(witness)) {
        add_order(out, report, finding);
        strbuf_puts(out, witness->interleaved ? ", the two interleaved by block," : "");
        return;
    }
    if (witness->interleaved) {
        strbuf_puts(out, "interleaving ");
        words_subject(out, report, finding->first.op);
        strbuf_puts(out, " and ");
        words_subject(out, report, finding->then.op);
        strbuf_puts(out, " by block");
        return;
    }
    words_subject(out, report, finding->then.op);
    strbuf_printf(out, " %s before ", words_verb(report, &finding->then));
    words_subject(out, report, finding->first.op);
    strbuf_printf(out, " %s, which", words_verb(report, &finding->first));
}

/* A line of the program, with what does not print as '?'. */
static void add_line(struct strbuf *out, const char *line)
{
    if (!line) {
        strbuf_puts(out, "nothing");
        return;
    }
    strbuf_puts(out, "'");
    strbuf_add_printable(out, line, strlen(line), LINE_COLUMNS);
    strbuf_puts(out, "'");
}

/* "exit code 2, expected 0", "signal 11, expected exit code 0" */
static void add_ends(struct strbuf *out, const struct witness_exit *exit)
{
    bool alike = (exit->signal != 0) == (exit->expected_signal != 0);
    strbuf_printf(out, exit->signal ? "signal %d, expected " : "exit code %d, expected ",
                  exit->signal ? exit->signal : exit->code);
    if (!alike) {
        strbuf_puts(out, exit->expected_signal ? "signal " : "exit code ");
    }
    strbuf_printf(out, "%d", exit->expected_signal ? exit->expected_signal : exit->expected_code);
}

static void effects(struct strbuf *out, const struct report *report, const struct witness *witness)
{
    const struct witness_memory *memory = &witness->memory;
    const char *separator = " gives ";
    if (memory->buffer >= 0) {
        strbuf_printf(out, "%s%s[%" PRIu64 "] = %s, expected %s", separator,
                      words_buffer(report, memory->buffer), memory->index, memory->got,
                      memory->expected);
        separator = "; ";
    }
    if (witness->output.differs) {
        strbuf_printf(out, "%soutput line %" PRIu64 " ", separator, witness->output.line);
        add_line(out, witness->output.got);
        strbuf_puts(out, ", expected ");
        add_line(out, witness->output.expected);
        separator = "; ";
    }
    if (witness->exit.timed_out) {
        strbuf_printf(out, "%sno end of the program within its time", separator);
    } else if (witness->exit.differs) {
        strbuf_puts(out, separator);
        add_ends(out, &witness->exit);
    }
}

static void add_command(struct strbuf *out, const char *const *words)
{
    for (size_t i = 0; words[i]; i++) {
        strbuf_puts(out, i ? " " : "");
        words_shell(out, words[i]);
    }
}

/* Below a command with a list of items: which streams they are of, unless that stands above. */
static void add_command_streams(struct strbuf *out, const struct report *report,
                                const struct finding *finding)
{
    const char *schedule = finding->witness->replay[3];
    struct strbuf legend = {0}, text = {0};
    if (!is_order_told(finding->witness) &&
        strncmp(schedule, ORDER_WORD, strlen(ORDER_WORD)) == 0) {
        add_legend(&legend, report, finding, schedule + strlen(ORDER_WORD));
    }
    if (legend.length > 0) {
        strbuf_printf(&text, "where %s", strbuf_text(&legend));
        layout_wrap(out, NULL, strbuf_text(&text));
    }
    out->failed |= legend.failed || text.failed;
    strbuf_finish(&legend);
    strbuf_finish(&text);
}

static void replay(struct strbuf *out, const struct report *report, const struct finding *finding)
{
    const struct witness *witness = finding->witness;
    if (!witness->replay) {
        if (witness->kind == WITNESS_SHOWN || witness->kind == WITNESS_SILENT) {
            layout_wrap(out, NULL,
                        witness->needs_file
                            ? "its schedule needs a file: --keep FOLDER writes one that "
                              "'streamsan run --schedule file:' takes"
                        : witness->held ? "it did not show again"
                                        : "no words of --schedule showed it again");
        }
        return;
    }
    strbuf_printf(out, "%*s", LAYOUT_INDENT, "");
    add_command(out, witness->replay);
    strbuf_puts(out, "\n");
    add_command_streams(out, report, finding);
    if (witness->repeats > 1 || witness->reproduced < witness->repeats) {
        strbuf_printf(out, "%*sreplayed: the same %" PRIu32 " of %" PRIu32 " times\n",
                      LAYOUT_INDENT, "", witness->reproduced, witness->repeats);
    }
}

static void reason(struct strbuf *out, const struct report *report, const struct finding *finding)
{
    const struct witness *witness = finding->witness;
    switch (witness->kind) {
    case WITNESS_ORDERED:
        strbuf_printf(out, "none on this device, where %s orders the two in every schedule",
                      finding->ordered_by ? finding->ordered_by : "observed behaviour");
        break;
    case WITNESS_ALWAYS:
        strbuf_puts(out, "none is needed: every schedule has the fault, since ");
        words_noun(out, report, finding->then.op);
        strbuf_puts(out, " was issued behind the free");
        break;
    case WITNESS_CALL:
        strbuf_puts(out, "none on this device, where the call waits for ");
        words_noun(out, report, finding->first.op);
        break;
    case WITNESS_INFEASIBLE:
        strbuf_puts(out, "none: the schedules that were tried could not be followed");
        if (witness->detail) {
            strbuf_printf(out, " (%s)", witness->detail);
        }
        break;
    case WITNESS_MISSED:
        strbuf_puts(out, "none: in the schedules that were tried the two kept their order");
        break;
    case WITNESS_DIVERGED:
        strbuf_puts(out, "none: the program took another way in the schedules that were tried");
        break;
    case WITNESS_FAILED:
        strbuf_puts(out, "not searched for to the end");
        if (witness->detail) {
            strbuf_printf(out, ": %s", witness->detail);
        }
        break;
    case WITNESS_NO_GATE:
        strbuf_printf(out, "none on a GPU: only kernels can be held there%s%s",
                      witness->detail ? ", and " : "", witness->detail ? witness->detail : "");
        break;
    case WITNESS_PROCESSES:
        strbuf_puts(out, "not searched for: several processes of the program use CUDA");
        break;
    default:
        strbuf_puts(out, "none was found in the time that --time gives");
        break;
    }
}

void text_witness(struct strbuf *out, const struct report *report, const struct finding *finding)
{
    const struct witness *witness = finding->witness;
    struct strbuf text = {0};
    if (!witness) {
        return;
    }
    if (witness->kind == WITNESS_SHOWN) {
        lead(&text, report, finding);
        effects(&text, report, witness);
    } else if (witness->kind == WITNESS_SILENT) {
        lead(&text, report, finding);
        strbuf_puts(&text, witness->held ? " changes nothing visible"
                                         : " is legal, and nothing visible changes");
    } else {
        reason(&text, report, finding);
    }
    layout_wrap(out, "witness", strbuf_text(&text));
    replay(out, report, finding);
    strbuf_puts(out, "\n");
    out->failed |= text.failed;
    strbuf_finish(&text);
}

void short_witness(struct strbuf *out, const struct witness *witness)
{
    if (witness) {
        strbuf_printf(out, " witness=%s", witness_word(witness->kind));
        if (witness->replay) {
            strbuf_puts(out, " replay: ");
            add_command(out, witness->replay);
        }
    }
}

static void add_wait(struct strbuf *out, const struct diagnosis_wait *wait)
{
    strbuf_puts(out, "the item submitted at ");
    words_place_full(out, &wait->at);
    if (wait->what) {
        strbuf_printf(out, " (%s", wait->what);
        strbuf_printf(out, wait->stream ? " on '%s')" : ")", wait->stream);
    }
}

static void add_limit(struct strbuf *text, enum diagnosis_limit limit)
{
    static const char *const words[] = {
        [DIAGNOSIS_NO_LIMIT] = "",
        [DIAGNOSIS_TIME] = " (the time was over)",
        [DIAGNOSIS_LINES] = " (waits at the lines that are known do not)",
        [DIAGNOSIS_FAILED] = " (a trial could not be run)",
    };
    strbuf_puts(text, words[limit]);
}

static void diagnose(struct strbuf *text, const struct report *report)
{
    const struct diagnosis *diagnosis = report->diagnosis;
    size_t i;
    if (!diagnosis->wrong) {
        strbuf_puts(text, "no schedule that was run gave a wrong result, so there is nothing to "
                          "bisect");
        add_limit(text, diagnosis->limit);
        return;
    }
    if (!diagnosis->cured && diagnosis->limit) {
        strbuf_puts(text, "it is not known whether waits of the host cure the wrong result");
        add_limit(text, diagnosis->limit);
        return;
    }
    if (!diagnosis->cured) {
        strbuf_puts(text,
                    "the wrong result stays when the host waits for every item: missing order "
                    "between streams is not its cause");
        return;
    }
    strbuf_puts(text, "waiting for ");
    for (i = 0; i < diagnosis->wait_count; i++) {
        strbuf_puts(text, i == 0 ? "" : i + 1 == diagnosis->wait_count ? " and " : ", ");
        add_wait(text, &diagnosis->waits[i]);
    }
    strbuf_puts(text, diagnosis->wait_count == 0 ? "every item cures the wrong result"
                                                 : " cures the wrong result");
    if (!diagnosis->smallest) {
        strbuf_puts(text, ", and fewer may do");
        add_limit(text, diagnosis->limit);
    }
    strbuf_puts(text, report_explains(report)
                          ? "; where the order is missing stands above, and a wait of the host is "
                            "no fix"
                          : ", but no finding explains it: the host probably reads or writes the "
                            "memory itself, which SSAN_HOST_READ and SSAN_HOST_WRITE of "
                            "streamsan/annotate.h announce");
}

void text_diagnosis(struct strbuf *out, const struct report *report)
{
    struct strbuf text = {0};
    if (!report->diagnosis) {
        return;
    }
    diagnose(&text, report);
    layout_wrap(out, "diagnosis", strbuf_text(&text));
    strbuf_puts(out, "\n");
    out->failed |= text.failed;
    strbuf_finish(&text);
}
