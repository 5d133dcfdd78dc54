/* The JSON form of a report (docs/report.md): run, tables, findings, summary, in this order.
 *
 * Interface: everything but `message`. Key order and number format are fixed, times and sizes of
 * the tool are left out, so equal runs give equal bytes. A changed meaning raises SCHEMA; additions
 * are allowed. */
#include "report/report.h"

#include "trace/cuda_names.h"

#include "report/json_parts.h"
#include "report/words.h"

#define SCHEMA "streamsan-report/1"

json_t *json_tool(struct json_build *build)
{
    json_t *object = json_object();
    json_put(build, object, "name", json_string("streamsan"));
    json_put(build, object, "version", json_string(STREAMSAN_VERSION));
    return object;
}

static json_t *exit_object(struct json_build *build, const struct run_info *run)
{
    json_t *object = json_object();
    bool has_code = run->has_exit && run->exit_signal == 0;
    json_put(build, object, "code", has_code ? json_integer(run->exit_code) : json_null());
    json_put(build, object, "signal",
             run->exit_signal > 0 ? json_integer(run->exit_signal) : json_null());
    return object;
}

static json_t *scope_object(struct json_build *build)
{
    const struct report *report = build->report;
    const struct run_info *run = &report->run;
    json_t *object = json_object();
    uint32_t host = (uint32_t)verdict_host_scope(report);
    json_put(build, object, "accesses",
             json_text(ssan_enum_word(SSAN_TABLE_accesses, (uint32_t)run->accesses)));
    json_put(build, object, "kernels", json_text(run->observed));
    json_put(build, object, "footprint_kernels", json_number(report->totals.footprints));
    json_put(build, object, "host", json_text(ssan_enum_word(SSAN_TABLE_host_scope, host)));
    json_put(build, object, "threads",
             json_string(run->threads_strict           ? "strict"
                         : run->submitting_threads > 1 ? "observed"
                                                       : "single"));
    return object;
}

static json_t *lost_object(struct json_build *build, const struct run_info *run)
{
    json_t *object = json_object();
    uint32_t i;
    for (i = 0; i < ssan_loss_count; i++) {
        json_put(build, object, ssan_enum_word(SSAN_TABLE_loss, i), json_number(run->lost[i]));
    }
    return object;
}

static json_t *unsupported_array(struct json_build *build, const struct run_info *run)
{
    json_t *array = json_array();
    size_t i;
    for (i = 0; i < run->unsupported_count; i++) {
        json_t *object = json_object();
        json_put(build, object, "call", json_text(run->unsupported[i]));
        json_put(build, object, "count", json_number(run->unsupported_counts[i]));
        json_put(build, object, "first",
                 run->unsupported_at ? json_place(build, &run->unsupported_at[i]) : json_null());
        json_add(build, array, object);
    }
    return array;
}

static json_t *fault_value(struct json_build *build, const struct run_info *run)
{
    json_t *object;
    if (!run->fault.text) {
        return json_null();
    }
    object = json_object();
    json_put(build, object, "text", json_text(run->fault.text));
    json_put(build, object, "at", json_place(build, &run->fault.at));
    json_put(build, object, "error", json_text(cuda_error_name(run->fault.error)));
    json_put(build, object, "planned", json_boolean(run->fault.planned));
    json_put(build, object, "call", json_text(run->fault.call));
    json_put(build, object, "kernel", json_text(run->fault.name));
    json_put(build, object, "called_at", json_place(build, &run->fault.op_at));
    json_put(build, object, "returned_by", json_text(run->fault.returned));
    json_put(build, object, "returned_at", json_place(build, &run->fault.returned_at));
    return object;
}

static json_t *failures_array(struct json_build *build, const struct run_info *run)
{
    json_t *array = json_array();
    size_t i;
    for (i = 0; i < run->failure_count; i++) {
        const struct run_failure *failure = &run->failures[i];
        json_t *object = json_object();
        json_put(build, object, "call", json_text(failure->call));
        json_put(build, object, "error", json_text(cuda_error_name(failure->error)));
        json_put(build, object, "at", json_place(build, &failure->at));
        json_put(build, object, "count", json_number(failure->count));
        json_add(build, array, object);
    }
    return array;
}

static json_t *missed_array(struct json_build *build, const struct run_info *run)
{
    json_t *array = json_array();
    size_t i;
    for (i = 0; i < run->missed_count; i++) {
        json_t *object = json_object();
        json_put(build, object, "failure", json_text(run->missed[i].failure));
        json_put(build, object, "calls", json_number(run->missed[i].calls));
        json_add(build, array, object);
    }
    return array;
}

json_t *json_run(struct json_build *build, const struct verdict *verdict)
{
    const struct run_info *run = &build->report->run;
    json_t *object = json_object();
    json_put(build, object, "command", json_words(run->command));
    json_put(build, object, "source",
             json_text(ssan_enum_word(SSAN_TABLE_producer, (uint32_t)run->source)));
    json_put(build, object, "exit", exit_object(build, run));
    json_put(build, object, "schedule", json_text(run->schedule));
    json_put(build, object, "altered", json_text(run->altered));
    json_put(build, object, "planned_failures", failures_array(build, run));
    json_put(build, object, "missed_failures", missed_array(build, run));
    json_put(build, object, "infeasible", json_text(run->infeasible));
    json_put(build, object, "rules",
             json_string(run->order_documented ? "documented" : "observed"));
    json_put(build, object, "threads", json_string(run->threads_strict ? "strict" : "observed"));
    json_put(build, object, "scope", scope_object(build));
    if (build->report->device_count > 1) {
        json_put(build, object, "devices", json_integer(build->report->device_count));
    }
    json_put(build, object, "complete", json_boolean(verdict->complete));
    json_put(build, object, "lost", lost_object(build, run));
    json_put(build, object, "open_operations", json_number(run->open_operations));
    json_put(build, object, "rounded_sets", json_number(run->rounded_sets));
    json_put(build, object, "cut", json_boolean(run->cut));
    json_put(build, object, "fault", fault_value(build, run));
    json_put(build, object, "unsupported_calls", unsupported_array(build, run));
    json_put(build, object, "other_losses", json_texts(run->reasons, run->reason_count));
    return object;
}

json_t *json_side(struct json_build *build, const struct finding_side *side)
{
    json_t *object = json_object();
    json_put(build, object, "op", json_op_id(build->report, side->op));
    json_put(build, object, "access",
             json_string(side->access == SSAN_access_READ ? "read" : "write"));
    json_put(build, object, "device_at", json_frames(build, side->device_at, side->device_count));
    json_put(build, object, "size_bytes", json_number_or_null(side->size_bytes));
    return object;
}

static json_t *missing_value(struct json_build *build, const struct finding *finding)
{
    const struct report *report = build->report;
    const struct nearest *nearest = &finding->nearest;
    json_t *object, *near;
    if (!finding->has_missing) {
        return json_null();
    }
    near = json_object();
    json_put(build, near, "kind", json_text(nearest_word(nearest->kind)));
    json_put(build, near, "event", json_event_id(report, nearest->event));
    json_put(build, near, "record", json_op_id(report, nearest->record));
    json_put(build, near, "wait", json_op_id(report, nearest->wait));
    json_put(build, near, "other_event", json_event_id(report, nearest->other_event));
    json_put(build, near, "other_record", json_op_id(report, nearest->other_record));
    object = json_object();
    json_put(build, object, "from", json_op_id(report, finding->first.op));
    json_put(build, object, "to", json_op_id(report, finding->then.op));
    json_put(build, object, "seen_seq", json_integer(finding->seen_seq));
    json_put(build, object, "needed_seq", json_integer(finding->needed_seq));
    json_put(build, object, "nearest", near);
    return object;
}

json_t *json_edits(struct json_build *build, const struct fix *fix)
{
    json_t *edits = json_array();
    size_t i;
    for (i = 0; fix && i < fix->edit_count; i++) {
        const struct source_edit *edit = &fix->edits[i];
        json_t *one = json_object();
        json_put(build, one, "file", json_text(edit->file));
        json_put(build, one, "line", json_integer(edit->line));
        json_put(build, one, "insert_before", json_text(edit->insert_before));
        if (edit->insert_behind) {
            json_put(build, one, "insert_behind", json_text(edit->insert_behind));
        }
        if (edit->remove) {
            json_put(build, one, "remove", json_true());
        }
        json_add(build, edits, one);
    }
    return edits;
}

static json_t *fix_value(struct json_build *build, const struct fix *fix)
{
    json_t *object;
    if (!fix_is_told(fix)) {
        return json_null();
    }
    object = json_object();
    json_put(build, object, "kind", json_text(fix_word(fix->kind)));
    json_put(build, object, "checked", json_boolean(fix->checked));
    json_put(build, object, "partial", json_boolean(fix->partial));
    json_put(build, object, "removes", json_texts(fix->removes, fix->remove_count));
    json_put(build, object, "leaves", json_texts(fix->leaves, fix->leave_count));
    json_put(build, object, "edits", json_edits(build, fix));
    if (fix->usage) {
        json_put(build, object, "usage", json_text(fix->usage));
    }
    return object;
}

static json_t *folded_side(struct json_build *build, const struct finding_side *side)
{
    json_t *object = json_object();
    json_put(build, object, "op", json_op_id(build->report, side->op));
    json_put(build, object, "access",
             json_string(side->access == SSAN_access_READ ? "read" : "write"));
    return object;
}

static json_t *folded_array(struct json_build *build, const struct finding *finding)
{
    json_t *array = json_array();
    size_t i;
    for (i = 0; i < finding->folded_count; i++) {
        const struct finding *folded = finding->folded[i];
        json_t *object = json_object();
        json_put(build, object, "id", json_text(folded->id));
        json_put(build, object, "rule", json_string(check_info(folded->check)->id));
        json_put(build, object, "severity", json_string(severity_word(folded->severity)));
        json_put(build, object, "buffer", json_buffer_id(folded->buffer));
        json_put(build, object, "ranges", json_ranges(build, &folded->bytes));
        json_put(build, object, "first", folded_side(build, &folded->first));
        json_put(build, object, "then", folded_side(build, &folded->then));
        json_put(build, object, "suppressed_by", json_text(folded->suppressed_by));
        json_add(build, array, object);
    }
    return array;
}

json_t *json_message(struct json_build *build, const struct finding *finding)
{
    struct strbuf text = {0};
    json_t *value;
    words_message(&text, build->report, finding);
    value = text.failed ? NULL : json_text(strbuf_text(&text));
    strbuf_finish(&text);
    return value;
}

static json_t *finding_object(struct json_build *build, const struct finding *finding)
{
    const struct check_info *info = check_info(finding->check);
    json_t *object = json_object();
    json_put(build, object, "id", json_text(finding->id));
    json_put(build, object, "rule", json_string(info->id));
    json_put(build, object, "severity", json_string(severity_word(finding->severity)));
    json_put(build, object, "family", json_string(family_word(info->family)));
    json_put(build, object, "sureness", json_string(sureness_word(finding->sureness)));
    json_put(build, object, "ordered_by", json_text(finding->ordered_by));
    json_put(build, object, "message", json_message(build, finding));
    json_put(build, object, "buffer", json_buffer_id(finding->buffer));
    json_put(build, object, "ranges", json_ranges(build, &finding->bytes));
    json_put(build, object, "first", json_side(build, &finding->first));
    json_put(build, object, "then", json_side(build, &finding->then));
    json_put(build, object, "missing", missing_value(build, finding));
    json_put(build, object, "fix", fix_value(build, finding->fix));
    json_put(build, object, "witness", json_witness(build, finding->witness));
    json_put(build, object, "folded", folded_array(build, finding));
    json_put(build, object, "count", json_number(finding->count));
    json_put(build, object, "suppressed_by", json_text(finding->suppressed_by));
    return object;
}

/* The entries that were applied, used or not. */
static json_t *suppressions_array(struct json_build *build)
{
    json_t *array = json_array();
    size_t i;
    for (i = 0; i < build->report->suppression_count; i++) {
        const struct suppression *entry = &build->report->suppressions[i];
        json_t *object = json_object();
        json_put(build, object, "file", json_text(entry->file));
        json_put(build, object, "line", entry->line ? json_integer(entry->line) : json_null());
        json_put(build, object, "rule", json_text(entry->rule));
        json_put(build, object, "id", json_text(entry->id));
        json_put(build, object, "buffer", json_text(entry->buffer));
        json_put(build, object, "kernel", json_text(entry->kernel));
        json_put(build, object, "reason", json_text(entry->reason));
        json_put(build, object, "used", json_number(entry->used));
        json_add(build, array, object);
    }
    return array;
}

static json_t *summary_object(struct json_build *build, const struct verdict *verdict)
{
    const struct engine_totals *totals = &build->report->totals;
    json_t *object = json_object(), *family = json_object(), *all = json_object();
    int i;
    for (i = FAMILY_RACE; i <= FAMILY_MISUSE; i++) {
        json_put(build, family, family_word((enum family)i), json_number(verdict->by_family[i]));
    }
    json_put(build, all, "streams", json_number(totals->streams));
    json_put(build, all, "events", json_number(totals->events));
    json_put(build, all, "buffers", json_number(totals->buffers));
    json_put(build, all, "operations", json_number(totals->operations));
    json_put(build, all, "accesses", json_number(totals->accesses));
    json_put(build, object, "verdict", json_string(verdict_word(verdict->kind)));
    json_put(build, object, "errors", json_number(verdict->errors));
    json_put(build, object, "warnings", json_number(verdict->warnings));
    json_put(build, object, "advice", json_number(verdict->advice));
    json_put(build, object, "by_family", family);
    json_put(build, object, "folded", json_number(verdict->folded));
    json_put(build, object, "suppressed", json_number(verdict->suppressed));
    json_put(build, object, "totals", all);
    json_put(build, object, "exit_code", json_integer(verdict->exit_code));
    return object;
}

json_t *json_report(const struct report *report, const struct verdict *verdict, bool with_addresses)
{
    struct json_build build = {report, false, with_addresses};
    json_t *root = json_object(), *findings = json_array();
    json_put(&build, root, "schema", json_string(SCHEMA));
    json_put(&build, root, "tool", json_tool(&build));
    json_put(&build, root, "run", json_run(&build, verdict));
    json_tables(&build, root);
    for (size_t i = 0; i < report->finding_count; i++) {
        json_add(&build, findings, finding_object(&build, report->findings[i]));
    }
    json_put(&build, root, "findings", findings);
    json_put(&build, root, "suppressions", suppressions_array(&build));
    if (report->diagnosis) {
        json_put(&build, root, "diagnosis", json_diagnosis(&build, report->diagnosis));
    }
    json_put(&build, root, "summary", summary_object(&build, verdict));
    if (build.failed) {
        json_decref(root);
        return NULL;
    }
    return root;
}

bool report_json(struct strbuf *out, const struct report *report, const struct verdict *verdict,
                 bool with_addresses)
{
    return json_print(out, json_report(report, verdict, with_addresses));
}
