/* Tables from callback ids to rows of api_calls.def, and the thread's own state.
 *
 * The state lives in the thread's own memory, small enough for the static part that a library
 * which is loaded late can have: reaching it is one addition. */
#include "capture/calls.h"

#include "capture/sanitizer_abi.h"
#include "capture/stack.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_NUMBERS 2048u

#define DRIVER     SANITIZER_DRIVER_API
#define RUNTIME    SANITIZER_RUNTIME_API
#define LEGACY     false
#define PER_THREAD true

static struct api_call rows[] = {
#define API_CALL(of, id, word, kind, mode, null)                                                   \
    {.name = #word,                                                                                \
     .domain = of,                                                                                 \
     .number = id,                                                                                 \
     .class = API_##kind,                                                                          \
     .form = API_##mode,                                                                           \
     .per_thread = null},
#include "capture/api_calls.def"
};

#define ROW_COUNT (sizeof rows / sizeof rows[0])

static const struct api_call *by_number[2][MOST_NUMBERS];
static _Atomic uint32_t thread_count;
static _Thread_local struct thread self __attribute__((tls_model("initial-exec")));

static bool gives_size(const char *name)
{
    static const char *const names[] = {
        "cudaMalloc",  "cudaMallocManaged", "cudaMallocAsync", "cudaMallocFromPoolAsync",
        "cuMemAlloc",  "cuMemAllocManaged", "cuMemAllocAsync", "cuMemAllocFromPoolAsync",
        "cuMemCreate",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

void calls_open(void)
{
    static const char *const array_words[] = {"Array", "3D",   "AtoH", "HtoA",
                                              "AtoD",  "DtoA", "AtoA"};
    for (size_t i = 0; i < ROW_COUNT; i++) {
        struct api_call *row = &rows[i];
        for (size_t word = 0; word < sizeof array_words / sizeof array_words[0]; word++) {
            row->has_array |=
                row->class == API_COPY && strstr(row->name, array_words[word]) != NULL;
        }
        row->is_batch = row->class == API_COPY && strstr(row->name, "Batch") != NULL;
        row->begins_capture = strstr(row->name, "BeginCapture") != NULL;
        row->launches_graph = strstr(row->name, "GraphLaunch") != NULL;
        row->ends_capture = strstr(row->name, "EndCapture") != NULL;
        row->takes_memory =
            row->class == API_ALLOC || row->class == API_POOL_ALLOC || row->class == API_MEMORY;
        row->is_of_host = row->takes_memory && strstr(row->name, "Host") != NULL;
        row->gives_size = row->takes_memory && gives_size(row->name);
        row->has_attributes = strcmp(row->name, "cuLaunchKernelEx") == 0;
        if (row->number < MOST_NUMBERS) {
            by_number[row->domain - 1][row->number] = row;
        }
    }
}

const struct api_call *calls_row(uint32_t index)
{
    return index < ROW_COUNT ? &rows[index] : NULL;
}

const struct api_call *calls_find(uint32_t domain, uint32_t number)
{
    return domain >= 1 && domain <= 2 && number < MOST_NUMBERS ? by_number[domain - 1][number]
                                                               : NULL;
}

struct thread *calls_thread(void)
{
    if (self.id == 0) {
        bool is_main = syscall(SYS_gettid) == getpid();
        self.id = is_main ? 1 : atomic_fetch_add(&thread_count, 1) + 2;
    }
    return &self;
}

const char *calls_name(const struct thread *thread)
{
    return thread->depth > 0 ? thread->frames[0].call->name : "a call of the driver";
}

uint32_t calls_site(struct thread *thread)
{
    if (thread->depth == 0) {
        return stack_site();
    }
    if (!thread->has_site) {
        thread->site = stack_site();
        thread->has_site = true;
    }
    return thread->site;
}

const struct call_frame *calls_inside(const struct thread *thread, enum api_class class)
{
    uint32_t depth = thread->depth < CALLS_DEPTH ? thread->depth : CALLS_DEPTH;
    while (depth > 0) {
        if (thread->frames[--depth].call->class == class) {
            return &thread->frames[depth];
        }
    }
    return NULL;
}

void calls_detach(void)
{
    self = (struct thread){0};
    atomic_store(&thread_count, 0);
}
