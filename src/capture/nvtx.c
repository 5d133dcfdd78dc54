/* Entries that NVTX calls instead of its own empty ones. NVTX loads the library that
 * NVTX_INJECTION64_PATH names and calls InitializeInjectionNvtx2; the numbers of modules and
 * functions are those of its interface, which never change. Wide strings are not read.
 *
 * A range is a window when its name is that of the plan; windows of all threads are counted
 * together, since libraries launch from threads of their own. A pop ends the range that its thread
 * pushed last, whatever its domain: programs that interleave domains on one thread are rare. */
#include "capture/dispatch.h"
#include "capture/emit.h"
#include "capture/observe.h"

#include <stdatomic.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

enum nvtx_module { NVTX_CORE = 1, NVTX_CUDA = 2, NVTX_CUDART = 4, NVTX_CORE2 = 5 };

enum nvtx_number {
    NVTX_RANGE_START_EX = 4,
    NVTX_RANGE_START = 5,
    NVTX_RANGE_END = 7,
    NVTX_RANGE_PUSH_EX = 8,
    NVTX_RANGE_PUSH = 9,
    NVTX_RANGE_POP = 11,
    NVTX_DOMAIN_RANGE_START_EX = 2,
    NVTX_DOMAIN_RANGE_END = 3,
    NVTX_DOMAIN_RANGE_PUSH_EX = 4,
    NVTX_DOMAIN_RANGE_POP = 5,
    NVTX_NAME_CU_STREAM = 5,
    NVTX_NAME_CU_EVENT = 7,
    NVTX_NAME_CUDA_STREAM = 3,
    NVTX_NAME_CUDA_EVENT = 5
};

typedef void nvtx_function(void);

struct nvtx_callbacks {
    size_t size;
    int (*get_functions)(uint32_t module, nvtx_function ****table, unsigned int *count);
};

#define NVTX_TABLE_CALLBACKS 1u
#define NVTX_ASCII           1

/* A message and what surrounds it. */
struct nvtx_attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, unused;
    uint64_t payload;
    int32_t message_type;
    const char *message;
};

int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id));

#define MOST_NESTED 64u

static _Atomic uint64_t range_count;

/* The ranges that a thread has pushed: which are windows. */
struct pushed {
    uint32_t depth;
    uint64_t windows; /* bit d: the one at depth d */
};

static _Thread_local struct pushed pushed __attribute__((tls_model("initial-exec")));

static bool is_window(const char *name)
{
    const struct observe_plan *plan = capture_plan();
    return name && plan->window == OBSERVE_NVTX && strcmp(plan->window_name, name) == 0;
}

static int push(const char *name)
{
    uint32_t depth = pushed.depth++;
    if (!is_window(name)) {
        return (int)depth;
    }
    if (depth < MOST_NESTED) {
        pushed.windows |= UINT64_C(1) << depth;
        observe_window_open();
    } else {
        emit_unsupported("a window inside of more than 64 NVTX ranges", calls_thread()->id, 0);
    }
    return (int)depth;
}

static int pop(void)
{
    uint64_t bit;
    if (pushed.depth == 0) {
        return -1;
    }
    bit = --pushed.depth < MOST_NESTED ? UINT64_C(1) << pushed.depth : 0;
    if (pushed.windows & bit) {
        pushed.windows &= ~bit;
        observe_window_close();
    }
    return (int)pushed.depth;
}

/* The id of a range tells in its lowest bit whether it is a window. */
static uint64_t start(const char *name)
{
    uint64_t id = (atomic_fetch_add(&range_count, 1) + 1) << 1;
    if (is_window(name)) {
        observe_window_open();
        id |= 1;
    }
    return id;
}

static void end(uint64_t id)
{
    if (id & 1) {
        observe_window_close();
    }
}

static const char *message_of(const struct nvtx_attributes *attributes)
{
    return attributes && attributes->message_type == NVTX_ASCII ? attributes->message : NULL;
}

static uint64_t start_ex(const struct nvtx_attributes *attributes)
{
    return start(message_of(attributes));
}

static int push_ex(const struct nvtx_attributes *attributes)
{
    return push(message_of(attributes));
}

static uint64_t domain_start_ex(void *domain, const struct nvtx_attributes *attributes)
{
    return start(message_of(attributes));
}

static void domain_end(void *domain, uint64_t id)
{
    end(id);
}

static int domain_push_ex(void *domain, const struct nvtx_attributes *attributes)
{
    return push(message_of(attributes));
}

static int domain_pop(void *domain)
{
    return pop();
}

static void name_object(const void *handle, const char *text)
{
    if (emit_is_on() && text) {
        annotate_name(handle, text);
    }
}

struct entry {
    uint32_t module, number;
    nvtx_function *function;
};

#define ENTRY(module, number, function)                                                            \
    {                                                                                              \
        NVTX_##module, NVTX_##number, (nvtx_function *)(function)                                  \
    }

static const struct entry entries[] = {
    ENTRY(CORE, RANGE_START_EX, start_ex),
    ENTRY(CORE, RANGE_START, start),
    ENTRY(CORE, RANGE_END, end),
    ENTRY(CORE, RANGE_PUSH_EX, push_ex),
    ENTRY(CORE, RANGE_PUSH, push),
    ENTRY(CORE, RANGE_POP, pop),
    ENTRY(CORE2, DOMAIN_RANGE_START_EX, domain_start_ex),
    ENTRY(CORE2, DOMAIN_RANGE_END, domain_end),
    ENTRY(CORE2, DOMAIN_RANGE_PUSH_EX, domain_push_ex),
    ENTRY(CORE2, DOMAIN_RANGE_POP, domain_pop),
    ENTRY(CUDA, NAME_CU_STREAM, name_object),
    ENTRY(CUDA, NAME_CU_EVENT, name_object),
    ENTRY(CUDART, NAME_CUDA_STREAM, name_object),
    ENTRY(CUDART, NAME_CUDA_EVENT, name_object),
};

/* Called by NVTX in each library that uses it; 0 tells it to do without. */
EXPORTED int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id))
{
    const struct nvtx_callbacks *callbacks = get_table(NVTX_TABLE_CALLBACKS);
    if (!callbacks || callbacks->size < sizeof *callbacks) {
        return 0;
    }
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        nvtx_function ***table = NULL;
        unsigned int count = 0;
        if (callbacks->get_functions(entries[i].module, &table, &count) && table &&
            entries[i].number < count && table[entries[i].number]) {
            *table[entries[i].number] = entries[i].function;
        }
    }
    return 1;
}
