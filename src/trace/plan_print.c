/* Schedules printed.
 *
 * Invariant: what is printed reads back to the same plan (plan.c). Cost: O(length). */
#include "trace/plan.h"

#include "trace/cuda_names.h"
#include "trace/directive.h"

#include <inttypes.h>

#define LINE_ITEMS 16 /* printed on one line */

static void print_items(const struct plan *plan, struct strbuf *out)
{
    size_t together = 0, on_line = 0;
    for (size_t i = 0; i < plan->items.count; i++) {
        const struct plan_together *group =
            together < plan->togethers.count ? &plan->togethers.items[together] : NULL;
        bool inside = group && i > group->first && i < group->first + group->count;
        if (group && i == group->first + group->count) {
            together++;
            group = together < plan->togethers.count ? &plan->togethers.items[together] : NULL;
            on_line = 0;
        }
        if (group && i == group->first) {
            strbuf_printf(out, "%stogether %" PRIu64, i ? "\n" : "", group->seed);
        } else if (!inside && on_line++ % LINE_ITEMS == 0) {
            strbuf_printf(out, "%sitems", i ? "\n" : "");
        }
        strbuf_puts(out, " ");
        strbuf_puts(out, plan_item_text(&plan->items.items[i]).text);
    }
    strbuf_puts(out, plan->items.count ? "\n" : "");
}

static void print_call(const struct plan_call *call, struct strbuf *out)
{
    strbuf_printf(out, " t%" PRIu32 ".%" PRIu32, call->thread, call->number);
    if (call->query != 0) {
        strbuf_printf(out, "q%" PRIu32, call->query);
    }
}

static void print_by(const char *word, const struct plan_by *by, struct strbuf *out)
{
    strbuf_puts(out, word);
    print_call(&by->call, out);
    strbuf_puts(out, " ");
    strbuf_puts(out, plan_item_text(&by->item).text);
    strbuf_puts(out, "\n");
}

static void print_fail(const struct plan_fail *fail, struct strbuf *out)
{
    strbuf_printf(out, "fail %s ", fail->call);
    if (fail->number == 0) {
        strbuf_puts(out, "all");
    } else {
        strbuf_printf(out, "%" PRIu32, fail->number);
    }
    strbuf_printf(out, " %s\n", cuda_error_name(fail->error));
}

void plan_print_items(const struct plan *plan, struct strbuf *out)
{
    for (size_t i = 0; i < plan->items.count; i++) {
        strbuf_puts(out, i ? "," : "");
        strbuf_puts(out, plan_item_text(&plan->items.items[i]).text);
    }
}

void plan_print(const struct plan *plan, struct strbuf *out)
{
    strbuf_printf(out, PLAN_FIRST_LINE "\npolicy %s\n", plan->policy);
    print_items(plan, out);
    for (size_t i = 0; i < plan->calls.count; i++) {
        strbuf_puts(out, i % LINE_ITEMS ? "" : i ? "\ncalls" : "calls");
        print_call(&plan->calls.items[i], out);
    }
    strbuf_puts(out, plan->calls.count ? "\n" : "");
    for (size_t i = 0; i < plan->bys.count; i++) {
        print_by("by", &plan->bys.items[i], out);
    }
    for (size_t i = 0; i < plan->afters.count; i++) {
        print_by("after", &plan->afters.items[i], out);
    }
    for (size_t i = 0; i < plan->places.count; i++) {
        const struct plan_place *place = &plan->places.items[i];
        strbuf_puts(out, place->use == PLAN_IGNORE ? "ignore " : "serialize at ");
        directive_print(place->module, true, out);
        strbuf_printf(out, " %" PRIx64 " %" PRIx64 "\n", place->begin, place->end);
    }
    for (size_t i = 0; i < plan->fails.count; i++) {
        print_fail(&plan->fails.items[i], out);
    }
    if (plan->serialize_all) {
        strbuf_puts(out, "serialize all\n");
    }
    if (plan->note) {
        strbuf_puts(out, "note ");
        directive_print(plan->note, false, out);
        strbuf_puts(out, "\n");
    }
    for (size_t i = 0; i < plan->serialize_streams.count; i++) {
        strbuf_printf(out, "serialize s%" PRIu32 "\n", plan->serialize_streams.items[i]);
    }
}
