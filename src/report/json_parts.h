/* What json.c and json_tables.c share: values that may be null, and references into the tables by
 * id.
 *
 * Every function returns a new reference (jansson's) or NULL when out of memory; json_put takes its
 * value, also on failure. */
#ifndef SSAN_REPORT_JSON_PARTS_H
#define SSAN_REPORT_JSON_PARTS_H

#include "core/finding.h"
#include "json/values.h"
#include "report/report.h"

struct json_build {
    const struct report *report;
    bool failed; /* something ran out of memory */
    bool with_addresses;
};

/* Sets a key at the end of the object, or an element at the end of the array. */
void json_put(struct json_build *build, json_t *object, const char *key, json_t *value);
void json_add(struct json_build *build, json_t *array, json_t *value);

json_t *json_place(struct json_build *build, const struct place *place); /* null when unknown */
json_t *json_frames(struct json_build *build, const struct place *places, size_t count);
json_t *json_op_id(const struct report *report, int op);       /* "s1.2" or null */
json_t *json_event_id(const struct report *report, int event); /* "e1" or null */
json_t *json_buffer_id(int buffer);                            /* "b1" or null */
json_t *json_ranges(struct json_build *build, const struct ranges *bytes);

json_t *json_stream_id(const struct report *report, int stream); /* "s1" or null */
json_t *json_tool(struct json_build *build);
json_t *json_run(struct json_build *build, const struct verdict *verdict);
json_t *json_side(struct json_build *build, const struct finding_side *side);
json_t *json_edits(struct json_build *build, const struct fix *fix); /* [] for NULL */
json_t *json_message(struct json_build *build, const struct finding *finding);

/* A whole report; NULL when out of memory. */
json_t *json_report(const struct report *report, const struct verdict *verdict,
                    bool with_addresses);
json_t *json_witness(struct json_build *build, const struct witness *witness); /* null: none */
json_t *json_diagnosis(struct json_build *build, const struct diagnosis *diagnosis);

/* The five tables of the report, set into `root` in their order. */
void json_tables(struct json_build *build, json_t *root);

#endif
