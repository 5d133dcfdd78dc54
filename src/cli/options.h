/* The options of the verbs, and how they are read (options.def). */
#ifndef SSAN_CLI_OPTIONS_H
#define SSAN_CLI_OPTIONS_H

#include "base/arena.h"
#include "base/status.h"
#include "cli/suppress_file.h"
#include "streamsan/compare.h"
#include "trace/observe_plan.h"
#include "trace/plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum verb_mask {
    VERB_NONE = 0, /* no options of options.def */
    VERB_RUN = 1,
    VERB_CHECK = 2,
    VERB_DUMP = 4,
    VERB_AUDIT = 8,
    VERB_WITNESS = 16,
    VERB_EXPLORE = 32,
    VERB_COMPARE = 64,
    VERB_CONTRACT = 128,
    VERB_EVIDENCE = 256
};
enum option_device { DEVICE_AUTO, DEVICE_VIRTUAL, DEVICE_GPU };
enum option_live { LIVE_AUTO, LIVE_ALWAYS, LIVE_NEVER };
enum option_format { FORMAT_TEXT, FORMAT_SHORT, FORMAT_JSON };
enum option_assume { ASSUME_NON_BLOCKING = 1, ASSUME_PER_THREAD = 2 };
enum option_color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* A word of --kernel or --exclude-kernel. */
struct option_kernel {
    bool leave_out;
    const char *glob;
};

struct options {
    enum option_device device;
    unsigned devices;           /* virtual ones; 0: not said, which is one */
    const char *devices_word;   /* what --device got where it says how many; else NULL */
    const char *virtual_option; /* of the command line, that only the virtual device knows; NULL */
    const char *gpu_option;     /* the same for the GPU */
    enum ssan_accesses accesses;
    VEC(struct option_kernel) kernels;
    uint64_t launch_skip, launch_count; /* count 0: all */
    enum observe_window window;
    const char *window_name; /* of an NVTX range; NULL: none */
    uint64_t device_memory;  /* bytes; 0: the library's default */
    VEC(const char *) gates; /* words of --gate (trace/gate_words.h) */
    enum option_live live;
    uint64_t trace_limit; /* bytes of a trace on the disk; 16 GiB unless given */
    const char *schedule; /* what --schedule got */
    struct plan plan;     /* the same, read */
    VEC(const char *) ignore, serialize, fail; /* words of the options (plan_words.h) */
    bool documented, strict;
    const char *trace, *output; /* NULL: none given */
    enum option_format format;
    enum option_color color;
    unsigned assume; /* of enum option_assume */
    bool quiet, verbose, with_addresses;
    struct suppress_list suppressions; /* of all files of --suppressions */
    bool print_suppressions;
    int error_exitcode;    /* 66 unless given */
    uint64_t shadow_limit; /* bytes, 0: the engine's default */
    unsigned jobs;         /* trials at once; 0: one for each core */
    double time_seconds;   /* for all trials; 60 unless given */
    const char *keep;      /* folder for schedules; NULL: none is kept */
    unsigned limit;        /* runs; 1000 unless given */
    unsigned random;       /* random schedules; 0: all orders instead */
    unsigned seed;         /* 1 unless given */
    unsigned repeat;       /* replays of each witness; 1 unless given */
    bool bisect;
    const char *contract_device; /* NULL: as the contract says */
    bool print_schema, template, dry_run;
    const char *evidence;                /* folder; NULL: none is kept */
    struct ssan_compare_options compare; /* type 0 unless given */
    uint64_t offset_a, offset_b;         /* bytes */
    uint64_t count;                      /* elements; UINT64_MAX: to the end */
    unsigned first;                      /* mismatches that are shown; 10 unless given */
    bool help;                           /* --help: nothing else counts */
    char **arguments;                    /* what is behind the options, NULL-terminated */
    int argument_count;
    struct arena arena;
};

/* Reads the words of `argv` (argv[0] is the verb) and, in front of them, those of `defaults`
 * (STREAMSAN_OPTIONS, may be NULL; options there that `verb` does not have are passed over). For
 * verbs that run a program the first word that is no option ends them. SSAN_USAGE: the text says
 * what is wrong; SSAN_IO, SSAN_FORMAT: so is the file of a schedule or of suppressions. `options`
 * needs options_finish in any case. */
enum ssan_status options_read(struct options *options, enum verb_mask verb, int argc, char **argv,
                              const char *defaults, struct ssan_error *err);
void options_finish(struct options *options);

/* One option of options.def. */
struct option_info {
    const char *name;
    int letter;           /* 0: none */
    const char *argument; /* what it takes, '|' between words; NULL: nothing */
    unsigned verbs;       /* a mask of enum verb_mask */
    const char *help;
};

/* All options, in the order of options.def. */
const struct option_info *options_list(size_t *count);

/* The help of an option whose words are too many to stand behind its name, with the words; false
 * where they are not, or when out of memory: then `argument` and `help` are as they stand. `help`
 * needs strbuf_finish in any case. */
bool options_long_words(struct strbuf *help, const struct option_info *info);

/* Prints the help of a verb with its options. */
void options_help(FILE *out, enum verb_mask verb, const char *name, const char *arguments,
                  const char *summary);

#endif
