/* A contract as its file says it: how to build and run a program, over what, what is right, which
 * faults must be caught. docs/contract.md is the reference for users. */
#ifndef SSAN_CONTRACT_SPEC_H
#define SSAN_CONTRACT_SPEC_H

#include "base/status.h"
#include "streamsan/compare.h"
#include "yaml/lines.h"

#include <stddef.h>

/* Texts of a list, as the YAML loader fills it. */
struct spec_list {
    char **items;
    unsigned count;
};

struct spec_numbers {
    int *items;
    unsigned count;
};

struct spec_build {
    struct spec_list sources; /* below the file's folder; built by `streamsan cc`, or nvcc */
    struct spec_list files;   /* what the sources include, and what the program reads */
    struct spec_list options; /* for the compiler */
    struct spec_list macros;  /* NAME or NAME=VALUE */
    struct spec_list command; /* instead of the compiler: what makes {program} */
};

struct spec_run {
    struct spec_list arguments;
    struct spec_list environment; /* NAME=VALUE */
    struct spec_list options;     /* of `streamsan run` */
    unsigned timeout;             /* seconds; 0: SPEC_TIMEOUT_S */
};

#define SPEC_TIMEOUT_S 60

/* A parameter of the user's own. */
struct spec_parameter {
    char *name;
    struct spec_list values;
};

/* Over what a part is run. Of a fault: what is given replaces the contract's. */
struct spec_over {
    struct spec_list sizes, slots, devices, schedules;
    struct spec_parameter *parameters;
    unsigned parameters_count;
};

enum spec_mode { SPEC_FULL, SPEC_PAIRWISE };

struct spec_matrix {
    struct spec_over over;
    enum spec_mode mode;
    unsigned repeats; /* 0: 1 */
};

/* KEY=NUMBER or KEY=WORD in the program's standard output. */
struct spec_value {
    char *key;
    char *equals, *min, *max; /* numbers; `equals` may be a word; NULL: not given */
    double abs, rel;          /* tolerances of `equals`, as in compare.h */
};

/* A file that the program writes, and what it must hold. */
struct spec_file {
    char *output, *expected, *type; /* type NULL: a .npy file */
    double abs, rel;
    uint64_t ulp;
    enum ssan_compare_nan nan;
    enum ssan_compare_inf inf;
    enum ssan_compare_zero zero;
};

enum spec_verdict { SPEC_CLEAN, SPEC_ANY };

struct spec_expect {
    int exit_code;
    enum spec_verdict verdict;
    struct spec_list stdout_lines; /* regular expressions; each fits a line */
    struct spec_value *values;
    unsigned values_count;
    struct spec_file *files;
    unsigned files_count;
};

enum spec_where { SPEC_EVERY, SPEC_SOME };

/* By what a planted fault must be seen: all that is given must hold. */
struct spec_caught {
    struct spec_list finding; /* checks, one of which is found */
    struct spec_numbers exit_code;
    struct spec_list values;       /* keys of expect.values, each of which is wrong */
    struct spec_list files;        /* outputs of expect.files, each of which is wrong */
    struct spec_list stdout_lines; /* as in `expect` */
    bool timeout;                  /* it does not end in time; nothing else is given then */
    enum spec_where where;         /* in every configuration, or in one at least */
};

struct spec_fault {
    char *name, *about;
    struct spec_list macros; /* added to the build's */
    struct spec_list ignore; /* FILE:LINE, or FILE:/text/ for the one line that holds it */
    struct spec_list fail;   /* CALL[:N]=ERROR */
    struct spec_list options;
    struct spec_over over;
    struct spec_caught caught;
};

struct spec_contract {
    unsigned version; /* 0: SPEC_VERSION */
    char *name, *about;
    struct spec_build build;
    struct spec_run run;
    struct spec_matrix matrix;
    struct spec_expect expect;
    struct spec_fault *faults;
    unsigned faults_count;
};

#define SPEC_VERSION 1

/* A contract that was read. */
struct spec {
    struct spec_contract *contract;
    struct yaml_lines lines;
};

/* Reads a contract from text; `name` stands in messages. `checks` are the ids that `finding` may
 * hold. SSAN_FORMAT: what is wrong, with file, line and key; SSAN_NO_MEMORY. `spec` needs
 * spec_finish in any case. Reads no other file. One thread. */
enum ssan_status spec_parse(struct spec *spec, const char *name, const char *text, size_t length,
                            const char *const *checks, size_t check_count, struct ssan_error *err);
void spec_finish(struct spec *spec);

/* Fails with "name:line: text", the line that of a path in the document. */
enum ssan_status spec_blame(struct ssan_error *err, const struct spec *spec, const char *name,
                            const char *path, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Whether a text of the contract holds a value's name in braces; true when out of memory. */
bool spec_uses(const struct spec *spec, const char *name);

/* The texts that `contract --template` and `--print-schema` print. */
extern const char spec_template_text[];
extern const char spec_schema_text[];

#endif
