/* The JSON form of an audit: run, tables, call sites, what can go together, summary, in this order
 * (docs/audit.schema.json).
 *
 * Interface: everything but `message`. Equal audits give equal bytes but for `blocked_ns`, which is
 * measured. A changed meaning raises SCHEMA; additions are allowed. */
#include "report/audit.h"

#include "report/json_parts.h"

#define SCHEMA "streamsan-audit/1"

static const char *cover_word(enum audit_cover_kind kind)
{
    static const char *const words[] = {"sync", "call", "legacy", "hand-over"};
    return words[kind];
}

static const char *why_word(enum audit_why why)
{
    static const char *const words[] = {"covered", "needed-covered", "no-conflict",
                                        "nothing-behind", "nothing-before"};
    return words[why];
}

/* A finding that the trace has without a call: no fix, no id. */
static json_t *protected_object(struct json_build *build, const struct finding *finding,
                                uint64_t known)
{
    json_t *object = json_object();
    json_put(build, object, "rule", json_string(check_info(finding->check)->id));
    json_put(build, object, "severity", json_string(severity_word(finding->severity)));
    json_put(build, object, "sureness", json_string(sureness_word(finding->sureness)));
    json_put(build, object, "ordered_by", json_text(finding->ordered_by));
    json_put(build, object, "message", json_message(build, finding));
    json_put(build, object, "buffer", json_buffer_id(finding->buffer));
    json_put(build, object, "ranges", json_ranges(build, &finding->bytes));
    json_put(build, object, "first", json_side(build, &finding->first));
    json_put(build, object, "then", json_side(build, &finding->then));
    json_put(build, object, "count", json_number(finding->count));
    json_put(build, object, "known", json_number(known));
    return object;
}

static json_t *covers_array(struct json_build *build, const struct audit_site *site)
{
    json_t *array = json_array();
    for (size_t i = 0; i < site->cover_count; i++) {
        json_t *object = json_object();
        json_put(build, object, "kind", json_string(cover_word(site->covers[i].kind)));
        json_put(build, object, "op", json_op_id(build->report, site->covers[i].op));
        json_add(build, array, object);
    }
    return array;
}

static json_t *site_object(struct json_build *build, const struct audit_site *site)
{
    const struct report *report = build->report;
    const struct report_op *op = &report->ops[site->op];
    json_t *object = json_object(), *streams = json_array(), *events = json_array();
    json_t *protects = json_array();
    for (size_t i = 0; i < site->stream_count; i++) {
        json_add(build, streams, json_stream_id(report, site->streams[i]));
    }
    for (size_t i = 0; i < site->event_count; i++) {
        json_add(build, events, json_event_id(report, site->events[i]));
    }
    for (size_t i = 0; i < site->protect_count; i++) {
        json_add(build, protects, protected_object(build, site->protects[i], site->known[i]));
    }
    json_put(build, object, "at", json_place(build, &op->at));
    json_put(build, object, "call", json_text(op->call));
    json_put(build, object, "op", json_op_id(report, site->op));
    json_put(build, object, "verdict",
             json_string(site->load_bearing ? "load-bearing" : "redundant"));
    json_put(build, object, "joins_host", json_boolean(!site->is_wait));
    json_put(build, object, "streams", streams);
    json_put(build, object, "events", events);
    json_put(build, object, "calls", json_number(site->calls));
    json_put(build, object, "blocked_ns", json_number(site->blocked_ns));
    json_put(build, object, "protects", protects);
    json_put(build, object, "more", json_number(site->more_count));
    json_put(build, object, "why",
             site->load_bearing ? json_null() : json_string(why_word(site->why)));
    json_put(build, object, "covers", covers_array(build, site));
    json_put(build, object, "together", json_boolean(site->together));
    json_put(build, object, "by_accident", json_boolean(site->by_accident));
    return object;
}

static json_t *accident_object(struct json_build *build, const struct audit_accident *accident)
{
    static const struct {
        unsigned rest;
        const char *word;
    } words[] = {
        {AUDIT_RESTS_LEGACY, "legacy"}, {AUDIT_RESTS_DEVICE, "device"}, {AUDIT_RESTS_CALL, "call"}};
    const struct finding *finding = accident->finding;
    json_t *object = json_object(), *rests = json_array();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (accident->rests & words[i].rest) {
            json_add(build, rests, json_string(words[i].word));
        }
    }
    json_put(build, object, "rule", json_string(check_info(finding->check)->id));
    json_put(build, object, "message", json_message(build, finding));
    json_put(build, object, "rests_on", rests);
    json_put(build, object, "buffer", json_buffer_id(finding->buffer));
    json_put(build, object, "ranges", json_ranges(build, &finding->bytes));
    json_put(build, object, "first", json_side(build, &finding->first));
    json_put(build, object, "then", json_side(build, &finding->then));
    json_put(build, object, "edits", json_edits(build, accident->fix));
    return object;
}

/* Accidents of one report, with its tables. */
static json_t *accidental_object(struct json_build *outer, const struct audit *audit,
                                 const struct report *report)
{
    struct json_build build = {report, false, outer->with_addresses};
    json_t *object = json_object(), *pairs = json_array();
    json_tables(&build, object);
    for (size_t i = 0; i < audit->accident_count; i++) {
        if (audit->accidents[i].in == report) {
            json_add(&build, pairs, accident_object(&build, &audit->accidents[i]));
        }
    }
    json_put(&build, object, "pairs", pairs);
    outer->failed |= build.failed;
    return object;
}

/* One object for each report that accidents refer to. */
static json_t *accidental_array(struct json_build *build, const struct audit *audit)
{
    json_t *array = json_array();
    const struct report *last = NULL;
    for (size_t i = 0; i < audit->accident_count; i++) {
        if (audit->accidents[i].in != last) { /* those of one report stand together */
            last = audit->accidents[i].in;
            json_add(build, array, accidental_object(build, audit, last));
        }
    }
    return array;
}

static json_t *assumed_value(struct json_build *build, const struct audit *audit,
                             const struct verdict *verdict)
{
    json_t *object, *what;
    if (audit->assume == 0) {
        return json_null();
    }
    object = json_object();
    what = json_array();
    if (audit->assume & AUDIT_ASSUME_NON_BLOCKING) {
        json_add(build, what, json_string("non-blocking"));
    }
    if (audit->assume & AUDIT_ASSUME_PER_THREAD) {
        json_add(build, what, json_string("per-thread-default-stream"));
    }
    json_put(build, object, "what", what);
    json_put(build, object, "report", json_report(&audit->assumed, verdict, build->with_addresses));
    return object;
}

static json_t *summary_object(struct json_build *build, const struct audit *audit,
                              const struct verdict *verdict)
{
    json_t *object = json_object();
    json_put(build, object, "load_bearing", json_number(audit->load_bearing));
    json_put(build, object, "redundant", json_number(audit->redundant));
    json_put(build, object, "together", json_number(audit->together));
    json_put(build, object, "together_exact", json_boolean(audit->together_exact));
    json_put(build, object, "accidental", json_number(audit->accident_count));
    json_put(build, object, "runs", json_number(audit->runs));
    json_put(build, object, "verdict", json_string(verdict_word(verdict->kind)));
    json_put(build, object, "errors", json_number(verdict->errors));
    json_put(build, object, "warnings", json_number(verdict->warnings));
    json_put(build, object, "advice", json_number(verdict->advice));
    json_put(build, object, "exit_code", json_integer(verdict->exit_code));
    return object;
}

bool report_audit_json(struct strbuf *out, const struct audit *audit, const struct verdict *verdict,
                       const struct verdict *assumed, const struct text_options *options)
{
    struct json_build build = {&audit->report, false, options->with_addresses};
    json_t *root = json_object(), *sites = json_array();
    json_put(&build, root, "schema", json_string(SCHEMA));
    json_put(&build, root, "tool", json_tool(&build));
    json_put(&build, root, "run", json_run(&build, verdict));
    json_tables(&build, root);
    for (size_t i = 0; i < audit->site_count; i++) {
        json_add(&build, sites, site_object(&build, &audit->sites[i]));
    }
    json_put(&build, root, "sites", sites);
    json_put(&build, root, "accidental", accidental_array(&build, audit));
    json_put(&build, root, "assumed", assumed_value(&build, audit, assumed));
    json_put(&build, root, "summary", summary_object(&build, audit, verdict));
    if (build.failed) {
        json_decref(root);
        root = NULL;
    }
    return json_print(out, root);
}
