/* Facts of the machine. Programs that are asked run as runs of a contract do, with a time limit. */
#include "contract/machine.h"

#include "contract/manifest.h"
#include "contract/pool.h"
#include "contract/result_json.h"
#include "contract/tree.h"

#include "base/file.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define ASK_TIMEOUT_S 120
#define ANSWER_BYTES  (1u << 20)
#define DRIVER_FILE   "/proc/driver/nvidia/version"
#define SYSTEM_FILE   "/etc/os-release"
#define SMI_QUERY     "--query-gpu=index,name,uuid,driver_version,compute_cap,memory.total"

extern const char machine_probe_text[];

struct asking {
    const struct contract_options *options;
    const struct machine_tools *tools;
    const char *folder; /* the whole path of machine/ */
    struct arena arena;
    struct ssan_error *err;
    enum ssan_status status; /* what can't be written */
};

/* What a program said. */
struct answer {
    struct strbuf text; /* its standard output, without space at the ends */
    struct strbuf why;  /* why there is none; "" if there is */
};

static void answer_finish(struct answer *answer)
{
    strbuf_finish(&answer->text);
    strbuf_finish(&answer->why);
}

/* {"value", "source", "missing"} */
static json_t *fact(const char *value, const char *source, const char *missing)
{
    json_t *object = json_object();
    if (!result_put(object, "value", json_text(value)) ||
        !result_put(object, "source", json_text(source)) ||
        !result_put(object, "missing", value ? json_null() : json_text(missing))) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static void trim(struct strbuf *text)
{
    while (text->length > 0 && isspace((unsigned char)text->text[text->length - 1])) {
        text->text[--text->length] = '\0';
    }
}

static void took_answer(void *self, struct pool_job *job)
{
    (void)self, (void)job;
}

/* Runs a command in machine/, its outputs in `name`.stdout and .stderr there. */
static void ask(struct asking *asking, const char *name, const char *const *words,
                struct answer *answer)
{
    struct strbuf out = {0}, err = {0}, path = {0};
    struct pool pool;
    strbuf_printf(&out, "%s.stdout", name);
    strbuf_printf(&err, "%s.stderr", name);
    strbuf_printf(&path, "%s/%s.stdout", asking->folder, name);
    struct pool_job job = {.words = words,
                           .folder = asking->folder,
                           .out = strbuf_text(&out),
                           .err = strbuf_text(&err),
                           .timeout_s = ASK_TIMEOUT_S};
    *answer = (struct answer){.text = {0}};
    pool_open(&pool);
    (void)pool_run(&pool, &job, 1, 1, took_answer, NULL);
    pool_close(&pool);
    if (!job.started) {
        strbuf_printf(&answer->why, "%s can't be started: %s", words[0], strerror(job.error));
    } else if (job.timed_out || job.interrupted) {
        strbuf_printf(&answer->why, "%s did not end", words[0]);
    } else {
        (void)file_read(&answer->text, strbuf_text(&path), ANSWER_BYTES, NULL);
        trim(&answer->text);
        if (answer->text.length == 0) {
            strbuf_printf(&answer->why, "%s said nothing (exit code %d)", words[0], job.code);
        }
    }
    strbuf_finish(&out);
    strbuf_finish(&err);
    strbuf_finish(&path);
}

static const char *said(const struct answer *answer)
{
    return answer->why.length ? NULL : strbuf_text(&answer->text);
}

/* A fact that a command tells. */
static json_t *fact_by(struct asking *asking, const char *name, const char *const *words,
                       const char *source)
{
    struct answer answer;
    ask(asking, name, words, &answer);
    json_t *object = fact(said(&answer), source, strbuf_text(&answer.why));
    answer_finish(&answer);
    return object;
}

/* A fact that a file holds, kept as a copy. */
static json_t *fact_in(struct asking *asking, const char *file, const char *name)
{
    struct strbuf text = {0}, path = {0};
    struct ssan_error err = {0};
    const bool good = file_read(&text, file, ANSWER_BYTES, &err) == SSAN_OK;
    if (good) {
        strbuf_printf(&path, "%s/%s", asking->folder, name);
        const enum ssan_status status =
            tree_write(strbuf_text(&path), strbuf_text(&text), text.length, asking->err);
        asking->status = asking->status ? asking->status : status;
    }
    trim(&text);
    json_t *object = fact(good ? strbuf_text(&text) : NULL, file, err.text);
    strbuf_finish(&text);
    strbuf_finish(&path);
    return object;
}

/* PRETTY_NAME of os-release, without its quotes. */
static json_t *fact_system(struct asking *asking)
{
    json_t *object = fact_in(asking, SYSTEM_FILE, "os-release");
    const char *text = json_string_value(json_object_get(object, "value"));
    const char *found = text ? strstr(text, "PRETTY_NAME=") : NULL;
    if (found) {
        found += strlen("PRETTY_NAME=");
        found += *found == '"';
        const size_t length = strcspn(found, "\"\n");
        json_t *name = json_stringn(found, length);
        if (!result_put(object, "value", name)) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *ask_host(struct asking *asking)
{
    struct utsname name;
    char digest[DIGEST_ROOM] = "";
    struct ssan_error err = {0};
    static const char *const smi[] = {"nvidia-smi", SMI_QUERY, "--format=csv,noheader", NULL};
    const bool named = uname(&name) == 0;
    const bool hashed = digest_file(digest, asking->options->plan->tool, &err) == SSAN_OK;
    json_t *host = json_object();
    const bool good =
        result_put(host, "machine",
                   fact(named ? name.machine : NULL, "uname -m", "uname failed")) &&
        result_put(host, "kernel", fact(named ? name.release : NULL, "uname -r", "uname failed")) &&
        result_put(host, "system", fact_system(asking)) &&
        result_put(host, "driver", fact_in(asking, DRIVER_FILE, "nvidia-driver")) &&
        result_put(host, "gpus", fact_by(asking, "nvidia-smi", smi, "nvidia-smi")) &&
        result_put(host, "streamsan", fact(STREAMSAN_VERSION, "its own", NULL)) &&
        result_put(host, "streamsan_sha256",
                   fact(hashed ? digest : NULL, asking->options->plan->tool, err.text));
    if (!good) {
        json_decref(host);
        return NULL;
    }
    return host;
}

/* The compiler of a device, asked itself. */
static json_t *fact_compiler(struct asking *asking, const struct contract_result *result, bool gpu)
{
    const char *const clang[] = {asking->tools->clang, "--version", NULL};
    const char *const nvcc[] = {asking->options->plan->nvcc, "--version", NULL};
    if (result->spec->contract->build.command.count) {
        return fact(NULL, NULL,
                    "the contract builds by a command of its own, which stands in each build");
    }
    if (gpu) {
        return fact_by(asking, "nvcc-version", nvcc, "nvcc --version");
    }
    return asking->tools->clang ? fact_by(asking, "clang-version", clang, "clang --version")
                                : fact(NULL, "clang --version", asking->tools->clang_why);
}

/* The value of a line KEY=VALUE, in the arena; NULL: there is none. */
static const char *line_value(struct asking *asking, const char *text, const char *key)
{
    const size_t length = strlen(key);
    while (text && *text) {
        if (strncmp(text, key, length) == 0 && text[length] == '=') {
            text += length + 1;
            return arena_strndup(&asking->arena, text, strcspn(text, "\n"));
        }
        text = strchr(text, '\n');
        text += text != NULL;
    }
    return NULL;
}

/* Builds the probe as programs of the device are built; false: it says why not. */
static bool build_probe(struct asking *asking, const char *name, bool gpu, struct answer *answer)
{
    const struct plan_options *plan = asking->options->plan;
    struct strbuf log = {0}, output = {0}, path = {0};
    strbuf_printf(&log, "%s-build", name);
    strbuf_printf(&output, "%s-probe", name);
    strbuf_printf(&path, "%s/%s-probe", asking->folder, name);
    const char *const nvcc[] = {plan->nvcc, "-o", strbuf_text(&output), "probe.cu", NULL};
    const char *const ours[] = {plan->tool, "cc", "-o", strbuf_text(&output), "probe.cu", NULL};
    ask(asking, strbuf_text(&log), gpu ? nvcc : ours, answer);
    const bool good = access(strbuf_text(&path), X_OK) == 0;
    if (!good) {
        struct strbuf line = {0};
        strbuf_printf(&line, "the program that asks for it could not be built: %s",
                      answer->why.length ? strbuf_text(&answer->why) : "");
        strbuf_finish(&answer->why);
        answer->why = line;
    }
    strbuf_finish(&log);
    strbuf_finish(&output);
    strbuf_finish(&path);
    return good;
}

/* Builds and runs the probe on a device. */
static void ask_probe(struct asking *asking, const char *device, const char *name, bool gpu,
                      struct answer *answer)
{
    struct strbuf program = {0}, log = {0};
    strbuf_printf(&program, "./%s-probe", name);
    strbuf_printf(&log, "%s-probe-run", name);
    if (build_probe(asking, name, gpu, answer)) {
        const char *const alone[] = {strbuf_text(&program), NULL};
        const char *const ours[] = {
            asking->options->plan->tool, "run", "--quiet", "--device", device, "--",
            strbuf_text(&program),       NULL};
        answer_finish(answer);
        ask(asking, strbuf_text(&log), gpu ? alone : ours, answer);
    }
    strbuf_finish(&program);
    strbuf_finish(&log);
}

/* All lines "deviceN.KEY=VALUE" as one text. */
static json_t *fact_details(const struct answer *answer, const char *source)
{
    struct strbuf lines = {0};
    const char *text = said(answer);
    while (text && *text) {
        const size_t length = strcspn(text, "\n");
        if (strncmp(text, "device", 6) == 0) {
            strbuf_puts(&lines, lines.length ? "; " : "");
            strbuf_add(&lines, text, length);
        }
        text += length + (text[length] == '\n');
    }
    json_t *object =
        fact(lines.length ? strbuf_text(&lines) : NULL, source,
             answer->why.length ? strbuf_text(&answer->why) : "the program was told of no device");
    strbuf_finish(&lines);
    return object;
}

static json_t *ask_device(struct asking *asking, const struct contract_result *result,
                          const char *device)
{
    const bool gpu = strcmp(device, "gpu") == 0;
    char name[32];
    struct answer answer = {.text = {0}};
    snprintf(name, sizeof name, "%s", device);
    for (char *at = name; *at; at++) {
        *at = *at == ':' ? '-' : *at;
    }
    ask_probe(asking, device, name, gpu, &answer);
    const char *why =
        answer.why.length ? strbuf_text(&answer.why) : "the runtime did not answer; see machine/";
    json_t *object = json_object();
    const bool good =
        result_put(object, "compiler", fact_compiler(asking, result, gpu)) &&
        result_put(
            object, "runtime",
            fact(line_value(asking, said(&answer), "runtime"), "cudaRuntimeGetVersion", why)) &&
        result_put(
            object, "driver_api",
            fact(line_value(asking, said(&answer), "driver_api"), "cudaDriverGetVersion", why)) &&
        result_put(object, "details", fact_details(&answer, "cudaGetDeviceProperties"));
    answer_finish(&answer);
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *ask_devices(struct asking *asking, const struct contract_result *result)
{
    json_t *devices = json_object();
    bool good = devices != NULL;
    for (size_t i = 0; good && i < result->plan->runs.count; i++) {
        const struct plan_run *run = &result->plan->runs.items[i];
        const char *device =
            matrix_value(&result->plan->matrices.items[run->matrix], run->row, "device", 6);
        if (!json_object_get(devices, device)) {
            good = result_put(devices, device, ask_device(asking, result, device));
        }
    }
    if (!good) {
        json_decref(devices);
        return NULL;
    }
    return devices;
}

enum ssan_status machine_ask(json_t **host, json_t **devices, const struct contract_result *result,
                             const struct contract_options *options,
                             const struct machine_tools *tools, struct ssan_error *err)
{
    struct strbuf folder = {0}, probe = {0};
    strbuf_printf(&folder, "%s/machine", options->work);
    strbuf_printf(&probe, "%s/machine/probe.cu", options->work);
    struct asking asking = {
        .options = options, .tools = tools, .folder = strbuf_text(&folder), .err = err};
    *host = *devices = NULL;
    enum ssan_status status = folder.failed || probe.failed
                                  ? ssan_no_memory(err)
                                  : tree_make(options->work, "machine", err);
    if (status == SSAN_OK) {
        status =
            tree_write(strbuf_text(&probe), machine_probe_text, strlen(machine_probe_text), err);
    }
    if (status == SSAN_OK) {
        *host = ask_host(&asking);
        *devices = ask_devices(&asking, result);
        status = asking.status;
        if (status == SSAN_OK && (!*host || !*devices)) {
            status = ssan_no_memory(err);
        }
    }
    strbuf_finish(&folder);
    strbuf_finish(&probe);
    arena_finish(&asking.arena);
    return status;
}
