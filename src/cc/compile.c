/* Clang's passes over one source file. The options of a CUDA pass are facts about clang without a
 * toolkit:
 *
 * - without an SDK it would choose a launch interface older than CUDA 9.2, hence
 * -target-sdk-version;
 * - it looks for a toolkit by itself, hence a --cuda-path where none can be;
 * - for an unknown SDK it emits PTX 6.0, hence +ptx70 in the device pass. */
#include "cc/compile.h"

#include "cc/include/ssan/blob_abi.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void add_cuda_words(const struct compiler *compiler, struct words *command)
{
    static const char *const words[] = {"-x",
                                        "cuda",
                                        "-nocudainc",
                                        "-nocudalib",
                                        "--cuda-path=/nonexistent/streamsan",
                                        "-Xclang",
                                        "-target-sdk-version=11.0",
                                        "--cuda-gpu-arch=sm_70",
                                        "-Wno-unknown-cuda-version",
                                        "-Wno-unused-command-line-argument"};
    words_add(command, compiler->clang->path);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        words_add(command, words[i]);
    }
    words_add(command, compiler->job->cxx_standard);
    words_printf(command, "-I%s", compiler->include_dir);
    words_add(command, "-include");
    words_printf(command, "%s/cuda_runtime.h", compiler->include_dir);
}

/* What call stacks and lines need; the user's own -g may ask for more. */
static void add_host_words(const struct compiler *compiler, struct words *command)
{
    words_add(command, "-gline-tables-only");
    words_add(command, "-fno-omit-frame-pointer");
    words_add(command, "-fno-optimize-sibling-calls");
    words_add_all(command, &compiler->job->host);
}

/* Where `make` looks for dependencies: beside the object, or named after the program's or source's
 * stem. */
static void add_dependency_words(const struct compiler *compiler, const struct cc_item *item,
                                 const char *object, struct words *command)
{
    struct cc_job *job = compiler->job;
    const char *target = job->mode == CC_LINK ? job_stem(job, item->text) : NULL;
    if (job->dependency_file) {
        words_add(command, "-MF");
        words_add(command, job->dependency_file);
    } else if (job->dependencies && target) {
        words_add(command, "-MF");
        words_printf(command, "%s.d", target);
    }
    if (job->dependencies && !job->dependency_target) {
        words_add(command, "-MT");
        words_add(command, target ? words_text(&job->arena, "%s.o", target) : object);
    }
}

static enum ssan_status device_pass(const struct compiler *compiler, const struct cc_item *item,
                                    const char *ptx, int *exit_code, struct ssan_error *err)
{
    struct words command;
    words_init(&command, &compiler->job->arena);
    add_cuda_words(compiler, &command);
    if (!compiler->job->optimized) {
        words_add(&command, "-O2");
    }
    words_add_all(&command, &compiler->job->device);
    words_add(&command, "-gline-tables-only");
    words_add(&command, "-w");                     /* the host pass reads the same text and warns */
    words_add(&command, "-fno-crash-diagnostics"); /* no copies of the source in /tmp */
    words_add(&command, "--cuda-device-only");
    words_add(&command, "-Xclang");
    words_add(&command, "-target-feature");
    words_add(&command, "-Xclang");
    words_add(&command, "+ptx70");
    if (ptx) {
        words_add(&command, "-S");
        words_add(&command, "-o");
        words_add(&command, ptx);
    } else {
        words_add(&command, "-fsyntax-only");
    }
    words_add(&command, item->text);
    enum ssan_status status = session_run(compiler->session, &command, exit_code, err);
    words_finish(&command);
    if (*exit_code > CLANG_REFUSED && !compiler->session->caught) {
        fprintf(stderr,
                "streamsan cc: note: %s itself failed, above, on the device code of %s; kernels, "
                "device functions and device variables need names in ASCII (as for nvcc), and "
                "STREAMSAN_CLANG names another clang to try\n",
                compiler->clang->path, item->text);
    }
    return status;
}

/* What every pass over one input ends with: the mode, the object, the input; then runs it. */
static enum ssan_status finish_pass(const struct compiler *compiler, const struct cc_item *item,
                                    const char *object, struct words *take_command, int *exit_code,
                                    struct ssan_error *err)
{
    const struct cc_job *job = compiler->job;
    enum ssan_status status;
    words_add(take_command, job->mode == CC_PREPROCESS ? job->preprocess
                            : job->mode == CC_SYNTAX   ? "-fsyntax-only"
                                                       : "-c");
    add_dependency_words(compiler, item, object, take_command);
    if (object) {
        words_add(take_command, "-o");
        words_add(take_command, object);
    }
    words_add(take_command, item->text);
    status = session_run(compiler->session, take_command, exit_code, err);
    words_finish(take_command);
    return status;
}

/* The blob that the host pass embeds. */
static enum ssan_status wrap_ptx(const char *ptx, const char *blob, struct ssan_error *err)
{
    enum ssan_status status = SSAN_OK;
    char bytes[16384];
    ssize_t got = 0;
    int in = open(ptx, O_RDONLY | O_CLOEXEC);
    int out = open(blob, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = in >= 0 && out >= 0 && file_write(out, SSAN_BLOB_MAGIC, SSAN_BLOB_MAGIC_SIZE) == 0;
    while (good && (got = read(in, bytes, sizeof bytes)) > 0) {
        good = file_write(out, bytes, (size_t)got) == 0;
    }
    if (!good || got < 0 || file_write(out, "", 1) != 0) {
        status = ssan_fail(err, SSAN_IO, 0, "%s: %s", blob, strerror(errno));
    }
    if (in >= 0) {
        close(in);
    }
    if (out >= 0) {
        close(out);
    }
    return status;
}

static enum ssan_status host_pass(const struct compiler *compiler, const struct cc_item *item,
                                  const char *blob, const char *object, int *exit_code,
                                  struct ssan_error *err)
{
    struct cc_job *job = compiler->job;
    struct words command;
    words_init(&command, &job->arena);
    add_cuda_words(compiler, &command);
    add_host_words(compiler, &command);
    words_add(&command, "--cuda-host-only");
    if (blob) {
        words_add(&command, "-Xclang");
        words_add(&command, "-fcuda-include-gpubinary");
        words_add(&command, "-Xclang");
        words_add(&command, blob);
    }
    return finish_pass(compiler, item, object, &command, exit_code, err);
}

/* C, C++ and assembler: one pass, in which the headers offer the host's half of the API. */
static enum ssan_status plain_pass(const struct compiler *compiler, const struct cc_item *item,
                                   const char *object, int *exit_code, struct ssan_error *err)
{
    static const char *const names[] = {
        [CC_C] = "c", [CC_CXX] = "c++", [CC_ASSEMBLER] = "assembler-with-cpp"};
    struct cc_job *job = compiler->job;
    const char *standard = item->language == CC_C     ? job->c_standard
                           : item->language == CC_CXX ? job->cxx_standard
                                                      : NULL;
    struct words command;
    words_init(&command, &job->arena);
    words_add(&command, compiler->clang->path);
    words_add(&command, "-x");
    words_add(&command, names[item->language]);
    words_add(&command, "-Wno-unused-command-line-argument");
    if (standard) {
        words_add(&command, standard);
    }
    words_printf(&command, "-I%s", compiler->include_dir);
    add_host_words(compiler, &command);
    return finish_pass(compiler, item, object, &command, exit_code, err);
}

/* Where the result of `item` goes in this mode: NULL where nothing or standard output is wanted. */
static enum ssan_status choose_object(const struct compiler *compiler, const struct cc_item *item,
                                      const char **object, struct ssan_error *err)
{
    struct cc_job *job = compiler->job;
    const char *stem = job_stem(job, item->text);
    *object = NULL;
    if (!stem) {
        return ssan_no_memory(err);
    }
    if (job->mode == CC_LINK) {
        *object = session_file(compiler->session, &job->arena, stem, ".o", err);
        return *object ? SSAN_OK : err ? err->status : SSAN_IO;
    }
    if (job->mode == CC_SYNTAX || (job->mode == CC_PREPROCESS && !job->output)) {
        return SSAN_OK;
    }
    *object = job->output
                  ? job->output
                  : words_text(&job->arena, "%s.%s", stem, job->mode == CC_PTX ? "ptx" : "o");
    return *object ? SSAN_OK : ssan_no_memory(err);
}

static enum ssan_status compile_cuda(const struct compiler *compiler, const struct cc_item *item,
                                     const char *object, int *exit_code, struct ssan_error *err)
{
    struct cc_job *job = compiler->job;
    if (job->mode == CC_PREPROCESS) {
        return host_pass(compiler, item, NULL, object, exit_code, err);
    }
    if (job->mode == CC_PTX) {
        return device_pass(compiler, item, object, exit_code, err);
    }
    if (job->mode == CC_SYNTAX) {
        enum ssan_status checked = device_pass(compiler, item, NULL, exit_code, err);
        return checked != SSAN_OK || *exit_code
                   ? checked
                   : host_pass(compiler, item, NULL, NULL, exit_code, err);
    }
    const char *stem = job_stem(job, item->text);
    const char *ptx = session_file(compiler->session, &job->arena, stem ? stem : "", ".ptx", err);
    const char *blob =
        ptx ? session_file(compiler->session, &job->arena, stem ? stem : "", ".blob", err) : NULL;
    if (!blob) {
        return err ? err->status : SSAN_IO;
    }
    enum ssan_status status = device_pass(compiler, item, ptx, exit_code, err);
    if (status == SSAN_OK && *exit_code == 0) {
        status = wrap_ptx(ptx, blob, err);
    }
    if (status != SSAN_OK || *exit_code) {
        return status;
    }
    return host_pass(compiler, item, blob, object, exit_code, err);
}

enum ssan_status compile_item(const struct compiler *compiler, struct cc_item *item, int *exit_code,
                              struct ssan_error *err)
{
    const char *object;
    *exit_code = 0;
    if (access(item->text, R_OK) != 0) {
        return ssan_fail(err, SSAN_IO, 0, "%s: %s", item->text, strerror(errno));
    }
    if (compiler->job->mode == CC_PTX && item->language != CC_CUDA) {
        return ssan_fail(err, SSAN_USAGE, 0, "%s: only .cu files have device code", item->text);
    }
    enum ssan_status status = choose_object(compiler, item, &object, err);
    if (status == SSAN_OK) {
        status = item->language == CC_CUDA ? compile_cuda(compiler, item, object, exit_code, err)
                                           : plain_pass(compiler, item, object, exit_code, err);
    }
    if (status == SSAN_OK && *exit_code == 0) {
        item->object = object;
    }
    return status;
}
