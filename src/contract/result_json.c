/* The result of a contract as JSON: docs/contract.schema.json. Interface: everything but `why`. */
#include "contract/result_json.h"

#include <string.h>

#define SCHEMA "streamsan-contract/1"

bool result_put(json_t *object, const char *key, json_t *take_value)
{
    if (!object || !take_value) {
        json_decref(take_value);
        return false;
    }
    return json_object_set_new(object, key, take_value) == 0;
}

json_t *result_code(int code)
{
    return code < 0 ? json_null() : json_integer(code);
}

/* {"size": "257", "device": "virtual", ...} */
static json_t *parameters(const struct contract_result *result, const struct plan_run *run)
{
    const struct matrix *matrix = &result->plan->matrices.items[run->matrix];
    json_t *object = json_object();
    bool good = object != NULL;
    for (size_t i = 0; good && i < matrix->axes.count; i++) {
        const char *name = matrix->axes.items[i].name;
        good =
            result_put(object, name, json_text(matrix_value(matrix, run->row, name, strlen(name))));
    }
    good = good && result_put(object, "repeat", json_integer(run->repeat));
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

json_t *result_run(const struct contract_result *result, size_t index)
{
    const struct plan_run *run = &result->plan->runs.items[index];
    const struct run_result *ended = &result->runs[index];
    const struct spec_contract *contract = result->spec->contract;
    json_t *object = json_object();
    const bool good =
        result_put(object, "folder", json_text(run->folder)) &&
        result_put(object, "fault",
                   json_text(run->fault < 0 ? NULL : contract->faults[run->fault].name)) &&
        result_put(object, "parameters", parameters(result, run)) &&
        result_put(object, "build", json_text(result->plan->builds.items[run->build].folder)) &&
        result_put(object, "command", json_words(run->command.words)) &&
        result_put(object, "state", json_text(run_state_word(ended->state))) &&
        result_put(object, "why", json_text(ended->why)) &&
        result_put(object, "exit_code", result_code(ended->code)) &&
        result_put(object, "verdict", json_text(ended->verdict)) &&
        result_put(object, "findings", json_words(ended->rules)) &&
        result_put(object, "seconds", json_real(ended->seconds));
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *build_object(const struct contract_result *result, size_t index)
{
    const struct plan_build *build = &result->plan->builds.items[index];
    const struct build_result *ended = &result->builds[index];
    json_t *object = json_object();
    const bool good = result_put(object, "folder", json_text(build->folder)) &&
                      result_put(object, "command", json_words(build->command.words)) &&
                      result_put(object, "exit_code", result_code(ended->code)) &&
                      result_put(object, "why", json_text(ended->why)) &&
                      result_put(object, "seconds", json_real(ended->seconds));
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *fault_object(const struct contract_result *result, size_t index)
{
    const struct spec_fault *fault = &result->spec->contract->faults[index];
    const struct fault_result *sum = &result->faults[index];
    json_t *object = json_object();
    const bool good = result_put(object, "name", json_text(fault->name)) &&
                      result_put(object, "state", json_text(run_state_word(sum->state))) &&
                      result_put(object, "where",
                                 json_text(fault->caught.where == SPEC_SOME ? "some" : "every")) &&
                      result_put(object, "runs", json_integer(sum->runs)) &&
                      result_put(object, "caught", json_integer(sum->caught)) &&
                      result_put(object, "not_run", json_integer(sum->none)) &&
                      result_put(object, "why", json_text(sum->why));
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* A list of `count` objects, each made by `make`. */
static json_t *list_of(const struct contract_result *result, size_t count,
                       json_t *(*make)(const struct contract_result *result, size_t index))
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < count; i++) {
        if (json_array_append_new(list, make(result, i)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *summary(const struct contract_result *result)
{
    unsigned caught = 0, missed = 0, none = 0;
    for (unsigned i = 0; i < result->spec->contract->faults_count; i++) {
        caught += result->faults[i].state == RUN_CAUGHT;
        missed += result->faults[i].state == RUN_MISSED;
        none += result->faults[i].state == RUN_NONE;
    }
    return json_pack("{s:i,s:i,s:i,s:i,s:i,s:i,s:f}", "right", (int)result->right, "wrong",
                     (int)result->wrong, "not_run", (int)result->none, "faults_caught", (int)caught,
                     "faults_missed", (int)missed, "faults_not_run", (int)none, "seconds",
                     result->seconds);
}

bool contract_print_json(struct strbuf *out, const struct contract_result *result)
{
    json_t *root = json_pack("{s:s,s:{s:s,s:s}}", "schema", SCHEMA, "tool", "name", "streamsan",
                             "version", STREAMSAN_VERSION);
    const bool good =
        result_put(root, "contract", json_text(result->spec->contract->name)) &&
        result_put(root, "state", json_text(contract_state_word(result->state))) &&
        result_put(root, "summary", summary(result)) &&
        result_put(root, "faults",
                   list_of(result, result->spec->contract->faults_count, fault_object)) &&
        result_put(root, "builds", list_of(result, result->plan->builds.count, build_object)) &&
        result_put(root, "runs", list_of(result, result->plan->runs.count, result_run));
    if (!good) {
        json_decref(root);
        return false;
    }
    return json_print(out, root);
}
