/* The schema of a contract for libcyaml. spec.schema.json beside this file says the same for
 * editors; a test compares the two. */
#include "contract/spec_parts.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MOST 4096
#define LIST_MOST 1000
#define NEEDED    CYAML_FLAG_POINTER
#define MAY       (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)

/* A text of the heap. */
#define TEXT(key, flags, structure, member)                                                        \
    CYAML_FIELD_STRING_PTR(key, flags, structure, member, 1, TEXT_MOST)

/* A list whose elements and count lie in one member. */
#define LIST_OF(name, structure, member, element, schema, least)                                   \
    {                                                                                              \
        .key = name,                                                                               \
        .value = {.type = CYAML_SEQUENCE,                                                          \
                  .flags = MAY,                                                                    \
                  .data_size = sizeof(element),                                                    \
                  .sequence = {.entry = &(schema), .min = least, .max = LIST_MOST}},               \
        .data_offset = offsetof(structure, member.items),                                          \
        .count_offset = offsetof(structure, member.count), .count_size = sizeof(unsigned)          \
    }
#define TEXTS(name, structure, member)      LIST_OF(name, structure, member, char *, text_value, 0)
#define SOME_TEXTS(name, structure, member) LIST_OF(name, structure, member, char *, text_value, 1)

#define FLAG_WORD CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT

static const cyaml_schema_value_t text_value = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 0, TEXT_MOST)};
static const cyaml_schema_value_t int_value = {CYAML_VALUE_INT(CYAML_FLAG_DEFAULT, int)};

static const cyaml_strval_t modes[] = {{"full", SPEC_FULL}, {"pairwise", SPEC_PAIRWISE}};
static const cyaml_strval_t verdicts[] = {{"clean", SPEC_CLEAN}, {"any", SPEC_ANY}};
static const cyaml_strval_t wheres[] = {{"every", SPEC_EVERY}, {"some", SPEC_SOME}};
static const cyaml_strval_t nans[] = {{"never", SSAN_COMPARE_NAN_NEVER},
                                      {"equal", SSAN_COMPARE_NAN_EQUAL},
                                      {"bits", SSAN_COMPARE_NAN_BITS}};
static const cyaml_strval_t infs[] = {{"equal", SSAN_COMPARE_INF_EQUAL},
                                      {"never", SSAN_COMPARE_INF_NEVER}};
static const cyaml_strval_t zeros[] = {{"equal", SSAN_COMPARE_ZERO_EQUAL},
                                       {"distinct", SSAN_COMPARE_ZERO_DISTINCT}};

static const cyaml_schema_field_t build_fields[] = {
    TEXTS("sources", struct spec_build, sources), TEXTS("files", struct spec_build, files),
    TEXTS("options", struct spec_build, options), TEXTS("macros", struct spec_build, macros),
    TEXTS("command", struct spec_build, command), CYAML_FIELD_END};

static const cyaml_schema_field_t run_fields[] = {
    TEXTS("arguments", struct spec_run, arguments),
    TEXTS("environment", struct spec_run, environment), TEXTS("options", struct spec_run, options),
    CYAML_FIELD_UINT("timeout", CYAML_FLAG_OPTIONAL, struct spec_run, timeout), CYAML_FIELD_END};

static const cyaml_schema_field_t parameter_fields[] = {
    TEXT("name", NEEDED, struct spec_parameter, name),
    SOME_TEXTS("values", struct spec_parameter, values), CYAML_FIELD_END};
static const cyaml_schema_value_t parameter_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct spec_parameter, parameter_fields)};

/* What `matrix` and a fault share. */
#define OVER(structure)                                                                            \
    SOME_TEXTS("sizes", structure, over.sizes), SOME_TEXTS("slots", structure, over.slots),        \
        SOME_TEXTS("devices", structure, over.devices),                                            \
        SOME_TEXTS("schedules", structure, over.schedules),                                        \
        CYAML_FIELD_SEQUENCE("parameters", MAY, structure, over.parameters, &parameter_value, 0,   \
                             LIST_MOST)

static const cyaml_schema_field_t matrix_fields[] = {
    OVER(struct spec_matrix),
    CYAML_FIELD_ENUM("mode", FLAG_WORD, struct spec_matrix, mode, modes, 2),
    CYAML_FIELD_UINT("repeats", CYAML_FLAG_OPTIONAL, struct spec_matrix, repeats), CYAML_FIELD_END};

static const cyaml_schema_field_t value_fields[] = {
    TEXT("key", NEEDED, struct spec_value, key),
    TEXT("equals", MAY, struct spec_value, equals),
    TEXT("min", MAY, struct spec_value, min),
    TEXT("max", MAY, struct spec_value, max),
    CYAML_FIELD_FLOAT("abs", CYAML_FLAG_OPTIONAL, struct spec_value, abs),
    CYAML_FIELD_FLOAT("rel", CYAML_FLAG_OPTIONAL, struct spec_value, rel),
    CYAML_FIELD_END};
static const cyaml_schema_value_t value_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct spec_value, value_fields)};

static const cyaml_schema_field_t file_fields[] = {
    TEXT("output", NEEDED, struct spec_file, output),
    TEXT("expected", NEEDED, struct spec_file, expected),
    TEXT("type", MAY, struct spec_file, type),
    CYAML_FIELD_FLOAT("abs", CYAML_FLAG_OPTIONAL, struct spec_file, abs),
    CYAML_FIELD_FLOAT("rel", CYAML_FLAG_OPTIONAL, struct spec_file, rel),
    CYAML_FIELD_UINT("ulp", CYAML_FLAG_OPTIONAL, struct spec_file, ulp),
    CYAML_FIELD_ENUM("nan", FLAG_WORD, struct spec_file, nan, nans, 3),
    CYAML_FIELD_ENUM("inf", FLAG_WORD, struct spec_file, inf, infs, 2),
    CYAML_FIELD_ENUM("zero", FLAG_WORD, struct spec_file, zero, zeros, 2),
    CYAML_FIELD_END};
static const cyaml_schema_value_t file_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct spec_file, file_fields)};

static const cyaml_schema_field_t expect_fields[] = {
    CYAML_FIELD_INT("exit_code", CYAML_FLAG_OPTIONAL, struct spec_expect, exit_code),
    CYAML_FIELD_ENUM("verdict", FLAG_WORD, struct spec_expect, verdict, verdicts, 2),
    TEXTS("stdout", struct spec_expect, stdout_lines),
    CYAML_FIELD_SEQUENCE("values", MAY, struct spec_expect, values, &value_value, 0, LIST_MOST),
    CYAML_FIELD_SEQUENCE("files", MAY, struct spec_expect, files, &file_value, 0, LIST_MOST),
    CYAML_FIELD_END};

static const cyaml_schema_field_t caught_fields[] = {
    SOME_TEXTS("finding", struct spec_caught, finding),
    LIST_OF("exit_code", struct spec_caught, exit_code, int, int_value, 1),
    SOME_TEXTS("values", struct spec_caught, values),
    SOME_TEXTS("files", struct spec_caught, files),
    SOME_TEXTS("stdout", struct spec_caught, stdout_lines),
    CYAML_FIELD_BOOL("timeout", CYAML_FLAG_OPTIONAL, struct spec_caught, timeout),
    CYAML_FIELD_ENUM("where", FLAG_WORD, struct spec_caught, where, wheres, 2),
    CYAML_FIELD_END};

static const cyaml_schema_field_t fault_fields[] = {
    TEXT("name", NEEDED, struct spec_fault, name),
    TEXT("about", MAY, struct spec_fault, about),
    TEXTS("macros", struct spec_fault, macros),
    TEXTS("ignore", struct spec_fault, ignore),
    TEXTS("fail", struct spec_fault, fail),
    TEXTS("options", struct spec_fault, options),
    OVER(struct spec_fault),
    CYAML_FIELD_MAPPING("caught", CYAML_FLAG_DEFAULT, struct spec_fault, caught, caught_fields),
    CYAML_FIELD_END};
static const cyaml_schema_value_t fault_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct spec_fault, fault_fields)};

static const cyaml_schema_field_t contract_fields[] = {
    CYAML_FIELD_UINT("version", CYAML_FLAG_OPTIONAL, struct spec_contract, version),
    TEXT("name", NEEDED, struct spec_contract, name),
    TEXT("about", MAY, struct spec_contract, about),
    CYAML_FIELD_MAPPING("build", CYAML_FLAG_DEFAULT, struct spec_contract, build, build_fields),
    CYAML_FIELD_MAPPING("run", CYAML_FLAG_OPTIONAL, struct spec_contract, run, run_fields),
    CYAML_FIELD_MAPPING("matrix", CYAML_FLAG_OPTIONAL, struct spec_contract, matrix, matrix_fields),
    CYAML_FIELD_MAPPING("expect", CYAML_FLAG_OPTIONAL, struct spec_contract, expect, expect_fields),
    CYAML_FIELD_SEQUENCE("faults", MAY, struct spec_contract, faults, &fault_value, 0, LIST_MOST),
    CYAML_FIELD_END};

const cyaml_schema_value_t spec_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct spec_contract, contract_fields)};

/* The fields of the mapping that the step of a path leads to; NULL: it leads to none. */
static const cyaml_schema_field_t *step_into(const cyaml_schema_field_t *fields, const char *step,
                                             size_t length)
{
    for (; fields->key; fields++) {
        if (strlen(fields->key) == length && memcmp(fields->key, step, length) == 0) {
            const cyaml_schema_value_t *value = fields->value.type == CYAML_SEQUENCE
                                                    ? fields->value.sequence.entry
                                                    : &fields->value;
            return value->type == CYAML_MAPPING ? value->mapping.fields : NULL;
        }
    }
    return NULL;
}

bool spec_keys(const char *path, const char *keys[SPEC_KEYS_MOST + 1])
{
    const cyaml_schema_field_t *fields = contract_fields;
    size_t count = 0;
    while (fields && *path) {
        fields = step_into(fields, path, strcspn(path, ".["));
        path += strcspn(path, ".");
        path += *path == '.';
    }
    for (; fields && fields->key && count < SPEC_KEYS_MOST; fields++) {
        keys[count++] = fields->key;
    }
    keys[count] = NULL;
    return count > 0;
}
