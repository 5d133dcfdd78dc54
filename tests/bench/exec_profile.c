/* Samples of the program counter, and the program's own symbol table. */
#include "bench/exec_profile.h"

#include "ptx/lane.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define MOST_SAMPLES 65536
#define INTERVAL_US  1000

/* The instruction that was interrupted; 0: not known on this processor. */
#if defined(__x86_64__)
#define PLACE_OF(context) ((uintptr_t)(context)->uc_mcontext.gregs[REG_RIP])
#elif defined(__aarch64__)
#define PLACE_OF(context) ((uintptr_t)(context)->uc_mcontext.pc)
#else
#define PLACE_OF(context) ((void)(context), (uintptr_t)0)
#endif

extern const char __executable_start[]; /* of the linker: where the program was loaded */

const char *const profile_names[PROFILE_parts] = {"dispatch", "arithmetic", "memory", "observation",
                                                  "other"};

static struct {
    void *file;
    size_t size_bytes;
    const Elf64_Sym *symbols;
    size_t count;
    const char *names;
    bool is_relative; /* addresses count from where the program was loaded */
} program;

static uintptr_t samples[MOST_SAMPLES];
static volatile sig_atomic_t sample_count;

static void take_sample(int number, siginfo_t *info, void *context)
{
    if (sample_count < MOST_SAMPLES) {
        samples[sample_count++] = PLACE_OF((const ucontext_t *)context);
    }
}

bool profile_init(void)
{
    struct stat info;
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &info) != 0) {
        return false;
    }
    program.size_bytes = (size_t)info.st_size;
    program.file = mmap(NULL, program.size_bytes, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (program.file == MAP_FAILED) {
        program.file = NULL;
        return false;
    }
    const char *bytes = program.file;
    const Elf64_Ehdr *head = program.file;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(bytes + head->e_shoff);
    program.is_relative = head->e_type == ET_DYN;
    for (int i = 0; i < head->e_shnum; i++) {
        if (sections[i].sh_type == SHT_SYMTAB) {
            program.symbols = (const Elf64_Sym *)(const void *)(bytes + sections[i].sh_offset);
            program.count = sections[i].sh_size / sizeof *program.symbols;
            program.names = bytes + sections[sections[i].sh_link].sh_offset;
        }
    }
    return program.symbols != NULL;
}

void profile_finish(void)
{
    if (program.file) {
        munmap(program.file, program.size_bytes);
    }
    program.file = NULL;
}

static const char *function_at(uintptr_t at)
{
    const uintptr_t base = program.is_relative ? (uintptr_t)__executable_start : 0;
    for (size_t i = 0; i < program.count; i++) {
        const Elf64_Sym *symbol = &program.symbols[i];
        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && at - base >= symbol->st_value &&
            at - base - symbol->st_value < symbol->st_size) {
            return program.names + symbol->st_name;
        }
    }
    return "";
}

static bool begins_with_any(const char *name, const char *const *words)
{
    for (; *words; words++) {
        if (strncmp(name, *words, strlen(*words)) == 0) {
            return true;
        }
    }
    return false;
}

static enum profile_part part_of(const char *name)
{
    static const char *const dispatch[] = {"warp_",        "run_group", "group_",      "block_",
                                           "barrier",      "frame_",    "fill_",       "renew_",
                                           "ptx_",         "control",   "diverge",     "exec_leave",
                                           "exec_barrier", "release_",  "split_group", NULL};
    static const char *const memory[] = {
        "load_", "store_",  "find_shape", "find_region", "bounds",  "gather_", "scatter", "move_",
        "lane_", "access_", "any_",       "exec_",       "global_", "watch_",  NULL};
    static const char *const observation[] = {"observe", "keep_", "find_leaf", "ranges_", "map_",
                                              "merge_",  "thin_", "slot_of",   "spread_", NULL};
    for (uint32_t lane = 0; lane < LANE_count; lane++) {
        if (strcmp(name, lane_name(lane)) == 0) {
            return PROFILE_arithmetic;
        }
    }
    return begins_with_any(name, dispatch)      ? PROFILE_dispatch
           : begins_with_any(name, observation) ? PROFILE_observation
           : begins_with_any(name, memory)      ? PROFILE_memory
                                                : PROFILE_other;
}

static void set_timer(long interval_us)
{
    const struct itimerval every = {{0, interval_us}, {0, interval_us}};
    setitimer(ITIMER_PROF, &every, NULL);
}

void profile_start(void)
{
    struct sigaction action = {.sa_sigaction = take_sample, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGPROF, &action, NULL);
    sample_count = 0;
    set_timer(INTERVAL_US);
}

void profile_stop(unsigned *counts)
{
    set_timer(0);
    memset(counts, 0, PROFILE_parts * sizeof *counts);
    for (int i = 0; i < sample_count; i++) {
        counts[part_of(function_at(samples[i]))]++;
    }
}
