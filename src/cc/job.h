/* What one call of `streamsan cc` is to do: the parsed command line.
 *
 * Words keep the order in which they were given within each destination; sources and link words
 * share one list, as the linker's order is theirs. All text lives in the job's arena or in argv. */
#ifndef SSAN_CC_JOB_H
#define SSAN_CC_JOB_H

#include "base/status.h"
#include "cc/words.h"

#include <stdbool.h>

enum cc_mode {
    CC_LINK,       /* compile and link */
    CC_COMPILE,    /* -c: one object each */
    CC_PREPROCESS, /* -E, -M, -MM: text of the host pass */
    CC_PTX,        /* -ptx: the device pass alone */
    CC_SYNTAX      /* -fsyntax-only: both passes, no output */
};

enum cc_language { CC_CUDA, CC_C, CC_CXX, CC_ASSEMBLER, CC_OBJECT };

/* A file of the command line, or a word for the linker. */
struct cc_item {
    const char *text;
    enum cc_language language; /* of a file */
    bool is_word;              /* for the linker, as it is */
    const char *object;        /* what to link, once compiled */
};

struct cc_job {
    struct arena arena;
    enum cc_mode mode;
    struct {
        struct cc_item *items;
        size_t count, room;
    } items;
    struct words device;                   /* device pass only and both passes */
    struct words host;                     /* host passes of CUDA, C and C++ */
    const char *output;                    /* NULL: by mode */
    const char *c_standard, *cxx_standard; /* "-std=..." */
    const char *preprocess;                /* the word that asked for CC_PREPROCESS */
    const char *language;                  /* -x, for the files behind it; NULL: by name */
    const char *dependency_file;           /* -MF */
    bool dependencies;                     /* -MD or -MMD is in `host` */
    bool dependency_target;                /* -MT or -MQ is in `host` */
    bool optimized;                        /* an -O word was given: it holds for the device too */
    bool shared, verbose, help, version;
};

/* Parses argv[1..]; SSAN_USAGE and a sentence in `err` for what is unknown, refused or missing. In
 * either case job_finish frees what was allocated. */
enum ssan_status job_parse(struct cc_job *job, int argc, char *const *argv, struct ssan_error *err);
void job_finish(struct cc_job *job);

/* "kernels" of "dir/kernels.cu", in the job's arena; NULL when out of memory. */
char *job_stem(struct cc_job *job, const char *path);

#endif
