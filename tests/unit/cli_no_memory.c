/* Every allocation of a whole verb fails, alone and with all behind it: `check` and `dump` of each
 * form of a trace, what `run` does with a trace that it keeps, and `explore` and `witness` of a
 * program that leaves a trace, whose trials are without memory too.
 *
 * No crash, nothing leaked (the asan preset looks), and no verdict that hides it: a faulty trace is
 * never clean, a run that is told to be as usual has the usual report. With STREAMSAN_TEST_ALL set
 * every allocation is tried, and every litmus listing is swept too. */
#include "cli/commands.h"
#include "cli/feed.h"
#include "cli/judge.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "report/verdict.h"
#include "trace_files.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_WORDS 12

/* Without this variable only each STEP-th allocation fails, once the first DENSE have: the two
 * modes then take other ones, and the test takes seconds. */
#define ALL        "STREAMSAN_TEST_ALL"
#define DENSE      40
#define STEP       3
#define TRIAL_STEP 47 /* where each takes trials */
#define CALM       4  /* usual results behind the last allocation of the tool itself */

/* A program for trials: leaves a copy of a listing as its trace, whole from its first moment on. */
#define PROGRAM                                                                                    \
    "cp \"$1\" \"$STREAMSAN_SESSION/.copy\" && "                                                   \
    "mv \"$STREAMSAN_SESSION/.copy\" \"$STREAMSAN_SESSION/$$.live\"\n"

#define SUPPRESSION                                                                                \
    "- rule: SSAN-RAW\n  buffer: 'dev'\n  reason: known\n- id: 00000000\n  reason: \"other\"\n"

#define CONTRACT                                                                                   \
    "name: c\nbuild:\n  command: [cp, \"{folder}/a\", \"{program}\"]\n  macros: [\"N={size}\"]\n"  \
    "matrix:\n  sizes: [1, 2]\n  schedules: [eager, \"random:7\"]\n  mode: pairwise\n"             \
    "faults:\n- {name: f, fail: [cudaMalloc=cudaErrorUnknown], caught: {exit_code: [1]}}\n"

struct scenario {
    const char *name;
    int (*command)(int argc, char **argv);
    const char *words[MOST_WORDS]; /* behind the verb; @name is a file of the test's folder */
    const char *output;            /* what it writes there; NULL: stderr only */
    unsigned step;                 /* 0: STEP */
};

/* What one call left. */
struct left {
    int code;
    struct strbuf said;   /* on stderr */
    char *verdict;        /* its last line, without the newline; "" without one */
    unsigned char *wrote; /* the output file */
    size_t wrote_length;
};

static struct files files;

/* A sanitizer's report must not go where the test looks for the tool's words. */
extern void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

static int catch_stderr(int *kept)
{
    int caught = memfd_create("stderr", MFD_CLOEXEC);
    *kept = dup(STDERR_FILENO);
    assert_true(caught >= 0 && *kept >= 0);
    if (__sanitizer_set_report_fd) {
        __sanitizer_set_report_fd((void *)(intptr_t)*kept);
    }
    assert_true(dup2(caught, STDERR_FILENO) >= 0);
    return caught;
}

static void give_back_stderr(int caught, int kept, struct strbuf *said)
{
    char part[4096];
    ssize_t got;
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    if (__sanitizer_set_report_fd) {
        __sanitizer_set_report_fd((void *)(intptr_t)STDERR_FILENO);
    }
    close(kept);
    assert_int_equal(lseek(caught, 0, SEEK_SET), 0);
    while ((got = read(caught, part, sizeof part)) > 0) {
        strbuf_add(said, part, (size_t)got);
    }
    close(caught);
}

static char *last_line(const struct strbuf *said)
{
    const char *text = strbuf_text(said);
    size_t length = strlen(text);
    while (length && text[length - 1] == '\n') {
        length--;
    }
    size_t begin = length;
    while (begin && text[begin - 1] != '\n') {
        begin--;
    }
    return strndup(text + begin, length - begin);
}

/* Reads the handover, keeps it, and judges it as `run` does; argv: source, kept copy. */
static int keep_and_judge(int argc, char **argv)
{
    struct options options;
    struct ssan_error err = {0};
    struct engine_options engine = {.threads = THREADS_OBSERVED};
    char verb[] = "run", quiet[] = "--format=text";
    char *words[] = {verb, quiet, NULL};
    struct feed feed = {0};
    int code;
    assert_int_equal(argc, 3);
    if (options_read(&options, VERB_RUN, 2, words, NULL, &err)) {
        code = command_usage("run", &err);
    } else {
        const struct feed_options how = {
            .engine = &engine, .kept_path = argv[2], .directory = files.directory};
        struct judge judge = {.options = &options, .verb = "run"};
        if (feed_open(&feed, argv[1], &how, &err)) {
            code = command_fail("run", &err);
        } else {
            while (feed_step(&feed, SIZE_MAX) > 0 && feed.state == FEED_GOING) {
            }
            feed_finish(&feed);
            feed_explain(&feed);
            code = judge_print(&judge, &feed, 1);
        }
    }
    feed_close(&feed);
    options_finish(&options);
    return code;
}

/* The words of a scenario, with paths where they name files; owned by the caller. */
static int make_words(const struct scenario *scenario, char *argv[MOST_WORDS + 2])
{
    int argc = 0;
    argv[argc++] = strdup("verb");
    for (size_t i = 0; scenario->words[i]; i++) {
        const char *word = scenario->words[i];
        argv[argc++] = strdup(*word == '@' ? files_path(&files, word + 1) : word);
    }
    argv[argc] = NULL;
    return argc;
}

/* Runs a scenario with allocation `nth` failing; true when there are fewer. */
static bool run(const struct scenario *scenario, bool once, uint64_t nth, struct left *left)
{
    char *argv[MOST_WORDS + 2];
    int argc = make_words(scenario, argv), kept;
    memset(left, 0, sizeof *left);
    if (scenario->output) {
        unlink(files_path(&files, scenario->output));
    }
    fflush(NULL);
    int caught = catch_stderr(&kept);
    if (once) {
        mem_fail_once(nth);
    } else {
        mem_fail_at(nth);
    }
    left->code = scenario->command(argc, argv);
    bool enough = nth == 0 || mem_count() < nth;
    mem_fail_at(0);
    give_back_stderr(caught, kept, &left->said);
    left->verdict = last_line(&left->said);
    if (scenario->output && access(files_path(&files, scenario->output), R_OK) == 0) {
        left->wrote = files_read(files_path(&files, scenario->output), &left->wrote_length);
    }
    for (int i = 0; i < argc; i++) {
        free(argv[i]);
    }
    return enough;
}

static void forget(struct left *left)
{
    strbuf_finish(&left->said);
    free(left->verdict);
    free(left->wrote);
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Seconds and memory are all that two equal runs may differ in. */
static bool same_report(const struct left *a, const struct left *b, bool timed)
{
    if (timed || !a->wrote != !b->wrote) {
        return !a->wrote == !b->wrote;
    }
    return a->wrote_length == b->wrote_length &&
           (!a->wrote || memcmp(a->wrote, b->wrote, a->wrote_length) == 0);
}

static void expect(bool so, const struct scenario *scenario, bool once, uint64_t nth,
                   const char *what, const struct left *left)
{
    if (!so) {
        fail_msg("%s, allocation %d %s: %s; exit code %d, stderr:\n%s", scenario->name, (int)nth,
                 once ? "alone" : "and all behind", what, left->code, strbuf_text(&left->said));
    }
}

static uint64_t sweep_mode(const struct scenario *scenario, bool once, const struct left *usual)
{
    const bool faulty = usual->code == EXIT_CODE_FINDINGS;
    const bool timed = strstr(scenario->name, "JSON");
    const unsigned step = getenv(ALL) ? 1 : scenario->step ? scenario->step : STEP;
    const unsigned dense = scenario->step ? 0 : DENSE;
    const unsigned last = scenario->step ? CALM : 1; /* trials count allocations of their own */
    uint64_t tried = 0;
    unsigned calm = 0;
    for (uint64_t nth = 1;; nth += nth < dense + (once ? 1u : 0u) ? 1 : step) {
        struct left left;
        bool enough = run(scenario, once, nth, &left);
        const bool clean = begins(left.verdict, "streamsan: clean");
        expect(!faulty || !clean, scenario, once, nth, "clean, but it is faulty", &left);
        expect(!faulty || left.code != 0, scenario, once, nth, "exit code 0, but it is faulty",
               &left);
        expect(left.code != 0 || usual->code == 0, scenario, once, nth, "success", &left);
        expect(left.code != 0 || same_report(&left, usual, timed), scenario, once, nth,
               "success, but other bytes were written", &left);
        expect(left.code != EXIT_CODE_FINDINGS || begins(left.verdict, "streamsan: errors"),
               scenario, once, nth, "the last line is not the verdict", &left);
        expect(left.code == usual->code || left.said.length > 0, scenario, once, nth,
               "failed without a word", &left);
        if (strcmp(strbuf_text(&left.said), strbuf_text(&usual->said)) == 0) {
            expect(left.code == usual->code && same_report(&left, usual, timed), scenario, once,
                   nth, "said the same, did something else", &left);
        }
        expect(!enough || scenario->step || left.code == usual->code, scenario, once, nth,
               "nothing failed", &left);
        calm = enough && left.code == usual->code ? calm + 1 : 0;
        forget(&left);
        if (calm == last) {
            return tried;
        }
        tried++;
    }
}

static void sweep(const struct scenario *scenario)
{
    struct left usual;
    run(scenario, false, 0, &usual);
    assert_true(usual.code == 0 || usual.code == EXIT_CODE_FINDINGS);
    uint64_t from = sweep_mode(scenario, false, &usual);
    uint64_t once = sweep_mode(scenario, true, &usual);
    print_message("%-28s %6llu allocations failed, %6llu alone\n", scenario->name,
                  (unsigned long long)from, (unsigned long long)once);
    assert_true(from > 5 && once > 5);
    forget(&usual);
}

static const struct scenario scenarios[] = {
    {"check listing", cmd_check, {"--color=never", "@faulty"}, NULL, 0},
    {"check kept, verbose", cmd_check, {"--verbose", "--with-addresses", "@kept"}, NULL, 0},
    {"check strict, documented",
     cmd_check,
     {"--threads", "strict", "--order", "documented", "--output", "@out", "@clean"},
     "out",
     0},
    {"check, JSON", cmd_check, {"--format", "json", "--output", "@out", "@kept"}, "out", 0},
    {"check two", cmd_check, {"--quiet", "@clean", "@faulty"}, NULL, 0},
    {"dump kept", cmd_dump, {"--output", "@out", "@kept"}, "out", 0},
    {"audit, JSON", cmd_audit, {"--format", "json", "--output", "@out", "@faulty"}, "out", 0},
    {"audit", cmd_audit, {"--verbose", "--output", "@out", "@clean"}, "out", 0},
    {"compare, JSON",
     cmd_compare,
     {"--type=u8", "--format=json", "--output", "@out", "@faulty", "@faulty"},
     "out",
     0},
    {"contract, dry", cmd_contract, {"--dry-run", "--output", "@out", "@contract"}, "out", 0},
    {"check suppressed", cmd_check, {"--suppressions", "@known", "@faulty"}, NULL, 0},
    {"check, short", cmd_check, {"--format=short", "@faulty"}, NULL, 0},
    {"check, to suppress", cmd_check, {"--print-suppressions", "@faulty"}, NULL, 0},
    {"run, keeping", keep_and_judge, {"@faulty", "@kept2"}, NULL, 0},
    {"explore",
     cmd_explore,
     {"--limit", "1", "--jobs", "1", "--", "sh", "@program", "@faulty"},
     NULL,
     TRIAL_STEP},
    {"explore, JSON",
     cmd_explore,
     {"--jobs", "1", "--format=json", "--output", "@out", "--", "sh", "@program", "@clean"},
     "out",
     TRIAL_STEP},
    {"witness",
     cmd_witness,
     {"--jobs", "1", "--quiet", "--", "sh", "@program", "@faulty"},
     NULL,
     TRIAL_STEP},
};

static void copy_file(const char *from, const char *to)
{
    size_t length;
    unsigned char *bytes = files_read(from, &length);
    files_write(to, bytes, length);
    free(bytes);
}

static int setup(void **state)
{
    struct left left;
    const struct scenario keep = {"", keep_and_judge, {"@faulty", "@kept"}, NULL, 0};
    json_set_alloc_funcs(mem_alloc, mem_free);
    unsetenv("STREAMSAN_OPTIONS");
    files_init(&files);
    copy_file(SSAN_SOURCE_DIR "/tests/golden/handover.listing", files_path(&files, "faulty"));
    copy_file(SSAN_SOURCE_DIR "/tests/litmus/L01b-one-stream.litmus", files_path(&files, "clean"));
    files_write(files_path(&files, "known"), SUPPRESSION, strlen(SUPPRESSION));
    files_write(files_path(&files, "program"), PROGRAM, strlen(PROGRAM));
    files_write(files_path(&files, "contract"), CONTRACT, strlen(CONTRACT));
    run(&keep, false, 0, &left);
    forget(&left);
    return 0;
}

static int teardown(void **state)
{
    files_finish(&files);
    return 0;
}

static void verbs_without_memory(void **state)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        sweep(&scenarios[i]);
    }
}

static void litmus_without_memory(void **state)
{
    glob_t found;
    if (!getenv(ALL)) {
        skip();
    }
    assert_int_equal(glob(SSAN_SOURCE_DIR "/tests/litmus/*.litmus", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const struct scenario scenario = {
            strrchr(found.gl_pathv[i], '/') + 1, cmd_check, {found.gl_pathv[i]}, NULL, 0};
        sweep(&scenario);
    }
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(verbs_without_memory),
                                       cmocka_unit_test(litmus_without_memory)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
