/* Order of work of `streamsan cc`: parse, find clang, compile each source, link. */
#include "cc/cc.h"

#include "cc/compile.h"
#include "cc/link.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: streamsan cc [options] file...\n"
    "Builds CUDA programs (.cu, with .cpp .c .o .a beside them) for streamsan's virtual device.\n"
    "Needs clang 14 or newer; no CUDA toolkit, no GPU.\n"
    "\n"
    "  -o FILE            output; default a.out, with -c the source's name with .o\n"
    "  -c                 compile only; the objects link together later\n"
    "  -ptx               write the device code as PTX text\n"
    "  -E -M -MM          preprocess the host's half, to standard output or -o\n"
    "  -fsyntax-only      check both halves, write nothing\n"
    "  -I -D -U -include -isystem -W... -f... -m... -g -MD -MMD -MF -MT -L -l -Wl,... -pthread\n"
    "                     as in any C compiler\n"
    "  -O0 ... -O3        for host and device; without, the device has -O2 and the host -O0\n"
    "  -std=c++11 ...     default c++17; -std=c11 and its like hold for .c files\n"
    "  -x LANGUAGE        cu, c++ or c, for the files behind it; none ends it\n"
    "  -Xcompiler A,B -Xlinker A\n"
    "                     words for the host compiler, the linker\n"
    "  --default-stream legacy|per-thread\n"
    "  --verbose          print the commands\n"
    "  --version\n"
    "  -arch -gencode -lineinfo --expt-extended-lambda -Xptxas ... of nvcc are accepted; they "
    "have\n"
    "                     no meaning here\n"
    "\n"
    "Line tables and frame pointers are always on. STREAMSAN_CLANG names the clang to use.\n"
    "Exit code: the compiler's own; 64 wrong use, 69 something is missing.\n";

static enum ssan_status build(struct session *session, struct cc_job *job, const char *lib_dir,
                              int *exit_code, struct ssan_error *err)
{
    struct clang clang;
    struct compiler compiler = {.session = session, .clang = &clang, .job = job};
    enum ssan_status status = clang_find(session, &clang, err);
    if (status != SSAN_OK) {
        return status;
    }
    compiler.include_dir = words_text(&job->arena, "%s/include", lib_dir);
    if (!compiler.include_dir) {
        return ssan_no_memory(err);
    }
    const char *first = words_text(&job->arena, "%s/cuda_runtime.h", compiler.include_dir);
    if (!first || access(first, R_OK) != 0) {
        return ssan_fail(
            err, SSAN_MISSING, 0,
            "%s/cuda_runtime.h is missing; the installation of streamsan is incomplete",
            compiler.include_dir);
    }
    int worst = 0; /* the other sources are still compiled, so that all errors are seen */
    for (size_t i = 0; i < job->items.count; i++) {
        struct cc_item *item = &job->items.items[i];
        if (item->is_word || item->language == CC_OBJECT) {
            continue;
        }
        status = compile_item(&compiler, item, exit_code, err);
        worst = worst ? worst : *exit_code;
        if (status != SSAN_OK || session->caught) {
            break;
        }
    }
    *exit_code = worst;
    if (status == SSAN_OK && worst == 0 && job->mode == CC_LINK && !session->caught) {
        status = link_program(&compiler, lib_dir, exit_code, err);
    }
    return status;
}

int cc_main(int argc, char **argv, const char *lib_dir)
{
    struct ssan_error err = {0};
    struct cc_job job;
    int exit_code = 0;
    enum ssan_status status = job_parse(&job, argc, argv, &err);
    if (status == SSAN_OK && job.help) {
        fputs(help, stdout);
    } else if (status == SSAN_OK && job.version) {
        puts("streamsan cc " STREAMSAN_VERSION);
    } else if (status == SSAN_OK) {
        struct session session;
        session_open(&session, job.verbose);
        status = build(&session, &job, lib_dir, &exit_code, &err);
        session_close(&session);
    }
    if (status != SSAN_OK) {
        fprintf(stderr, "streamsan cc: error: %s\n", err.text);
        exit_code = ssan_status_exit_code(status);
    }
    job_finish(&job);
    return exit_code;
}
