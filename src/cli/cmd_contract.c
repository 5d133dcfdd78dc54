/* `streamsan contract SPEC`: builds and runs a program over a matrix, says whether it does what its
 * contract says, and whether each planted fault is noticed. Exit code 0 holds, 66 broken, 67 a part
 * could not run. */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/output.h"

#include "cc/clang.h"

#include "contract/contract.h"
#include "contract/evidence.h"
#include "contract/tree.h"
#include "contract/forms.h"
#include "core/check.h"
#include "report/verdict.h"
#include "report/words.h"
#include "trace/control_abi.h"

#include "base/file.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPEC_BYTES_MOST (4u << 20)

static_assert(FORMS_DEVICES_MOST == CONTROL_MOST_DEVICES, "a contract is read as `run` is");

/* What a contract is carried out with. */
struct setting {
    const struct options *options;
    const char *path;
    char folder[PATH_MAX]; /* of the contract's file */
    char tool[PATH_MAX];
    char include[PATH_MAX]; /* "" when there is none */
    char library[PATH_MAX]; /* the same */
    char nvcc[PATH_MAX];
    char work[PATH_MAX];
    char digest[DIGEST_ROOM]; /* of the manifest; "" without evidence */
    char *device[1];
    struct spec spec;
    struct contract_plan plan;
    struct plan_options plan_options;
    struct contract_result result;
};

/* Reads and checks the file; on SSAN_OK the spec is whole. */
static enum ssan_status read_spec(struct setting *setting, struct ssan_error *err)
{
    const char *checks[CHECK_COUNT];
    struct strbuf text = {0};
    struct ssan_error inner = {0};
    for (int i = 0; i < CHECK_COUNT; i++) {
        checks[i] = check_info((enum check)i)->id;
    }
    enum ssan_status status = file_read(&text, setting->path, SPEC_BYTES_MOST, &inner);
    if (status) {
        ssan_fail(err, status, 0, "can't read the contract in %.480s", inner.text);
    } else {
        status = spec_parse(&setting->spec, setting->path, strbuf_text(&text), text.length, checks,
                            CHECK_COUNT, err);
    }
    strbuf_finish(&text);
    return status;
}

/* Schedules that `run` would refuse are told with their line, before anything is built. */
static enum ssan_status check_schedules(const struct setting *setting, const char *path,
                                        const struct spec_list *schedules, struct ssan_error *err)
{
    for (unsigned i = 0; i < schedules->count; i++) {
        struct plan plan = {0};
        struct ssan_error inner = {0};
        char place[64];
        if (strncmp(schedules->items[i], "file:", 5) == 0) {
            continue;
        }
        const enum ssan_status status = plan_read(&plan, schedules->items[i], &inner);
        plan_finish(&plan);
        if (status) {
            snprintf(place, sizeof place, "%s[%u]", path, i);
            return spec_blame(err, &setting->spec, setting->path, place, "%s", inner.text);
        }
    }
    return SSAN_OK;
}

/* The same of calls that are to fail; those that hold values of the run are left to `run`. */
static enum ssan_status check_fails(const struct setting *setting, unsigned fault,
                                    struct ssan_error *err)
{
    const struct spec_list *fails = &setting->spec.contract->faults[fault].fail;
    struct plan plan = {0};
    enum ssan_status status = SSAN_OK;
    for (unsigned i = 0; i < fails->count && status == SSAN_OK; i++) {
        struct ssan_error inner = {0};
        char place[64];
        if (strchr(fails->items[i], '{')) {
            continue;
        }
        status = plan_add_fail(&plan, fails->items[i], &inner);
        if (status == SSAN_NO_MEMORY) {
            ssan_no_memory(err);
        } else if (status) {
            snprintf(place, sizeof place, "faults[%u].fail[%u]", fault, i);
            status = spec_blame(err, &setting->spec, setting->path, place, "%s", inner.text);
        }
    }
    plan_finish(&plan);
    return status;
}

static enum ssan_status check_words(const struct setting *setting, struct ssan_error *err)
{
    const struct spec_contract *contract = setting->spec.contract;
    enum ssan_status status =
        check_schedules(setting, "matrix.schedules", &contract->matrix.over.schedules, err);
    for (unsigned i = 0; i < contract->faults_count && status == SSAN_OK; i++) {
        char path[48];
        snprintf(path, sizeof path, "faults[%u].schedules", i);
        status = check_schedules(setting, path, &contract->faults[i].over.schedules, err);
        status = status ? status : check_fails(setting, i, err);
    }
    return status;
}

/* The compiler for GPUs: in the folders that CUDA's own variables name, else where it is installed,
 * else as PATH finds it. */
static void find_nvcc(char nvcc[PATH_MAX])
{
    const char *const folders[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *folder = folders[i];
        if (folder && *folder && snprintf(nvcc, PATH_MAX, "%s/bin/nvcc", folder) < PATH_MAX &&
            access(nvcc, X_OK) == 0) {
            return;
        }
    }
    snprintf(nvcc, PATH_MAX, "nvcc");
}

/* The folder beside that of the tool, if a file is in it; else "". In a build tree as where it is
 * installed. */
static void find_beside(const char *tool_folder, const char *name, const char *file,
                        char folder[PATH_MAX])
{
    char whole[PATH_MAX];
    snprintf(whole, sizeof whole, "%.3800s/../%s/%s", tool_folder, name, file);
    folder[0] = '\0';
    if (access(whole, R_OK) == 0) {
        snprintf(folder, PATH_MAX, "%.3800s/../%s", tool_folder, name);
    }
}

/* Where the tool is, where the contract is, and what stands beside them. */
static enum ssan_status find_places(struct setting *setting, struct ssan_error *err)
{
    const ssize_t length = readlink("/proc/self/exe", setting->tool, sizeof setting->tool - 1);
    char whole[PATH_MAX];
    if (length <= 0) {
        return file_fail(err, errno, "can't read", "/proc/self/exe");
    }
    setting->tool[length] = '\0';
    if (!realpath(setting->path, whole)) {
        return file_fail(err, errno, "can't read the contract in", setting->path);
    }
    *strrchr(whole, '/') = '\0';
    snprintf(setting->folder, sizeof setting->folder, "%s", whole[0] ? whole : "/");
    snprintf(whole, sizeof whole, "%s", setting->tool);
    *strrchr(whole, '/') = '\0';
    find_beside(whole, "include", "streamsan/annotate.h", setting->include);
    find_beside(whole, "lib", "libstreamsan-pipeline.a", setting->library);
    find_nvcc(setting->nvcc);
    return SSAN_OK;
}

static enum ssan_status make_work(struct setting *setting, struct ssan_error *err)
{
    const char *evidence = setting->options->evidence, *base = file_temporary_folder();
    if (evidence) {
        const enum ssan_status status = evidence_begin(evidence, err);
        if (status == SSAN_OK && !realpath(evidence, setting->work)) {
            return file_fail(err, errno, "can't read", evidence);
        }
        return status;
    }
    if (snprintf(setting->work, sizeof setting->work, "%.4000s/streamsan-contract-XXXXXX", base) >=
            PATH_MAX ||
        !mkdtemp(setting->work)) {
        setting->work[0] = '\0';
        return file_fail(err, errno, "can't create a folder in", base);
    }
    return SSAN_OK;
}

static void show_progress(void *self, size_t done, size_t all, const char *what)
{
    (void)self;
    fprintf(stderr, "\r[%zu/%zu] %.60s\033[K", done, all, what);
}

static unsigned cores(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (unsigned)count : 1;
}

static enum ssan_status carry_out(struct setting *setting, struct ssan_error *err)
{
    const struct options *options = setting->options;
    const bool shown = !options->quiet && isatty(STDERR_FILENO);
    const struct contract_options how = {
        .plan = &setting->plan_options,
        .work = setting->work,
        .spec_path = setting->path,
        .jobs = options->jobs ? options->jobs : cores(),
        .progress = shown ? show_progress : NULL,
    };
    const enum ssan_status status =
        contract_run(&setting->result, &setting->spec, &setting->plan, &how, err);
    if (shown) {
        fprintf(stderr, "\r\033[K");
    }
    return status;
}

/* Seals the folder of evidence; false: it is none, and that was said. */
static bool keep_evidence(struct setting *setting)
{
    const struct contract_options how = {
        .plan = &setting->plan_options, .work = setting->work, .spec_path = setting->path};
    struct session session;
    struct clang clang;
    struct ssan_error missing = {0}, err = {0};
    if (setting->result.caught_signal) {
        fprintf(stderr,
                "streamsan contract: the evidence in %s is not complete, and has no manifest\n",
                setting->options->evidence);
        return false;
    }
    session_open(&session, false);
    const bool found = clang_find(&session, &clang, &missing) == SSAN_OK;
    session_close(&session);
    const struct machine_tools tools = {found ? clang.path : NULL, missing.text};
    if (evidence_finish(&setting->result, &how, &tools, setting->digest, &err) == SSAN_OK) {
        return true;
    }
    fprintf(stderr,
            "streamsan contract: the evidence in %s is not complete, and has no manifest: %s\n",
            setting->options->evidence, err.text);
    return false;
}

static enum ssan_status print_result(const struct setting *setting, struct ssan_error *err)
{
    const struct options *options = setting->options;
    struct strbuf text = {0};
    if (options->format == FORMAT_JSON) {
        text.failed |= !contract_print_json(&text, &setting->result);
    } else if (options->quiet) {
        strbuf_puts(&text, "streamsan contract: ");
        contract_print_summary(&text, &setting->result);
        strbuf_puts(&text, "\n");
    } else {
        contract_print_text(&text, &setting->result, options->verbose, options->evidence != NULL);
    }
    const enum ssan_status status = output_write(options->output, STDOUT_FILENO, &text, err);
    strbuf_finish(&text);
    return status;
}

static int exit_code(enum contract_state state)
{
    switch (state) {
    case CONTRACT_HOLDS:
        return 0;
    case CONTRACT_BROKEN:
        return EXIT_CODE_FINDINGS;
    case CONTRACT_UNFINISHED:
        break;
    }
    return EXIT_CODE_INCOMPLETE;
}

/* Values that are varied and stand in no text: all runs of them are alike. */
static void note_unused(const struct setting *setting)
{
    const struct spec_over *over = &setting->spec.contract->matrix.over;
    char path[64];
    for (unsigned i = 0; i < 2 + over->parameters_count; i++) {
        const struct spec_list *values = i == 0   ? &over->sizes
                                         : i == 1 ? &over->slots
                                                  : &over->parameters[i - 2].values;
        const char *name = i == 0 ? "size" : i == 1 ? "slots" : over->parameters[i - 2].name;
        snprintf(path, sizeof path,
                 i == 0   ? "matrix.sizes"
                 : i == 1 ? "matrix.slots"
                          : "matrix.parameters[%u]",
                 i - 2);
        if (values->count && !spec_uses(&setting->spec, name)) {
            fprintf(stderr,
                    "streamsan contract: %s:%u: '%s': no text holds {%s}: its values change "
                    "nothing\n",
                    setting->path, (unsigned)yaml_lines_find(&setting->spec.lines, path), path,
                    name);
        }
    }
}

/* From the file to a plan. */
static enum ssan_status prepare(struct setting *setting, struct ssan_error *err)
{
    enum ssan_status status = read_spec(setting, err);
    if (status == SSAN_OK) {
        status = check_words(setting, err);
    }
    if (status == SSAN_OK) {
        status = find_places(setting, err);
    }
    setting->device[0] = (char *)setting->options->contract_device;
    setting->plan_options = (struct plan_options){
        .tool = setting->tool,
        .nvcc = setting->nvcc,
        .include = setting->include[0] ? setting->include : NULL,
        .library = setting->library[0] ? setting->library : NULL,
        .device = setting->options->contract_device ? setting->device : NULL,
        .folder = setting->folder,
        .spec_name = setting->path,
        .keep_traces = setting->options->evidence != NULL,
    };
    if (status == SSAN_OK) {
        status = contract_plan_fill(&setting->plan, &setting->spec, &setting->plan_options, err);
    }
    if (status == SSAN_OK) {
        note_unused(setting);
        status = tree_check(&setting->plan_options, &setting->spec, &setting->plan, err);
    }
    return status == SSAN_OK ? output_probe(setting->options->output, err) : status;
}

/* A command as a shell takes it. */
static void print_command(struct strbuf *out, const struct command_line *command)
{
    for (size_t i = 0; i < command->count; i++) {
        strbuf_puts(out, i ? " " : "");
        words_shell(out, command->words[i]);
    }
    strbuf_puts(out, "\n");
}

/* What would be done. */
static int print_plan(const struct setting *setting)
{
    const struct contract_plan *plan = &setting->plan;
    struct strbuf text = {0};
    struct ssan_error err = {0};
    for (size_t i = 0; i < plan->builds.count; i++) {
        strbuf_printf(&text, "%s: cd sources && ", plan->builds.items[i].folder);
        print_command(&text, &plan->builds.items[i].command);
    }
    for (size_t i = 0; i < plan->runs.count; i++) {
        const struct plan_run *run = &plan->runs.items[i];
        strbuf_printf(&text, "%s: %s%s%s%scd %s && ", run->folder,
                      run->fault < 0 ? "" : setting->spec.contract->faults[run->fault].name,
                      run->fault < 0 ? "" : ": ", run->label, run->label[0] ? ": " : "",
                      run->folder);
        print_command(&text, &run->command);
    }
    const enum ssan_status status =
        output_write(setting->options->output, STDOUT_FILENO, &text, &err);
    strbuf_finish(&text);
    return status ? command_fail("contract", &err) : 0;
}

static int print_text(const char *text)
{
    fputs(text, stdout);
    return 0;
}

static int contract(const struct options *options)
{
    struct ssan_error err = {0};
    int code;
    if (options->print_schema || options->template) {
        return print_text(options->print_schema ? spec_schema_text : spec_template_text);
    }
    struct setting *setting = mem_zalloc(1, sizeof *setting);
    if (!setting) {
        ssan_no_memory(&err);
        return command_fail("contract", &err);
    }
    setting->options = options;
    setting->path = options->arguments[0];
    enum ssan_status status = prepare(setting, &err);
    const bool dry = status == SSAN_OK && options->dry_run;
    if (status == SSAN_OK && !dry) {
        status = make_work(setting, &err);
    }
    if (status == SSAN_OK && !dry) {
        status = carry_out(setting, &err);
    }
    const bool kept = status || dry || !options->evidence || keep_evidence(setting);
    if (status == SSAN_OK && !dry) {
        status = print_result(setting, &err);
    }
    if (status == SSAN_OK && setting->digest[0]) {
        fprintf(stderr, "streamsan contract: evidence in %s; sha256 of its manifest: %s\n",
                options->evidence, setting->digest);
    }
    code = status ? command_usage("contract", &err)
           : dry  ? print_plan(setting)
                  : exit_code(setting->result.state);
    code = code == 0 && !kept ? EXIT_CODE_INCOMPLETE : code;
    const int caught = setting->result.caught_signal;
    if (setting->work[0] && !options->evidence) {
        file_remove_tree(setting->work);
    }
    contract_result_finish(&setting->result);
    contract_plan_finish(&setting->plan);
    spec_finish(&setting->spec);
    mem_free(setting);
    if (caught) {
        fflush(NULL);
        signal(caught, SIG_DFL);
        raise(caught);
    }
    return code;
}

int cmd_contract(int argc, char **argv)
{
    const struct command command = {
        .verb = "contract",
        .mask = VERB_CONTRACT,
        .wants = WANTS_SPEC,
        .ignores_pipe = true,
        .act = contract,
    };
    return command_run(&command, argc, argv);
}
