/* Between the parts of the fake driver.
 *
 * One lock for what they hold. Callbacks are called without it, as the subscriber may call back;
 * the driver thread takes it between items only. */
#ifndef SSAN_CAPTURE_FAKE_FAKE_H
#define SSAN_CAPTURE_FAKE_FAKE_H

#include "capture/fake/cuda.h"
#include "capture/sanitizer_abi.h"

#include <pthread.h>
#include <stdbool.h>

struct fake_context;

struct fake_stream {
    struct fake_context *context;
    bool is_default; /* has no handle of the driver's: told as NULL */
    unsigned int flags;
    _Atomic uint64_t last; /* item submitted last; any thread looks */
    _Atomic(struct fake_graph *)
        capture;              /* being captured into, or NULL; threads may ask at any time */
    struct fake_stream *next; /* of the context's, or free */
};

struct fake_event {
    struct fake_context *context;
    unsigned int flags;
    uint64_t item;              /* the record, 0: never */
    struct fake_graph *capture; /* recorded in this capture */
    struct fake_event *next;
};

enum { FAKE_INTERNAL = 7 };

struct fake_context {
    CUdevice device;
    bool is_primary;
    struct fake_stream *legacy;
    struct fake_stream *streams; /* all that are alive */
    struct fake_event *events;
};

/* What an item does, on the device's thread. */
struct fake_item {
    void (*run)(struct fake_item *item);
    struct fake_stream *stream;
    uint64_t number;
    struct sanitizer_memcpy_data copy;
    struct sanitizer_memset_data set;
    const struct fake_kernel *kernel;
    char arguments[128];
    const void *user; /* of the patches */
    void (*host)(void *user);
    void (*callback)(CUstream stream, int status, void *user);
    void *host_user;
    uint64_t address, value; /* of a write of a value */
    bool is_64;
    struct fake_item *next;
};

/* -- calls and callbacks ------------------------------------------------------------------------*/

struct fake_call {
    struct sanitizer_api_data data;
    uint32_t domain;
    uint32_t id;
    int result;
};

/* Reports the entry of an API call; the first of all initialises the driver, which loads the
 * injected library. `symbol` is that of launches, else NULL. */
void fake_enter(struct fake_call *call, uint32_t domain, uint32_t id, const char *name,
                const void *params, const char *symbol);
/* Reports the exit and returns `result`. */
int fake_exit(struct fake_call *call, int result);
/* For a call of the runtime: the thread has a context behind it. Returns 0, or the sticky error. */
int fake_runtime(void);
/* A failure that was asked for, or 0; consumed. */
int fake_failure(void);
/* The sticky one alone. */
int fake_sticky(void);

void fake_tell_stream(uint32_t id, struct fake_stream *stream);
void fake_tell_context(uint32_t id, struct fake_context *context);
void fake_tell_event(uint32_t id, struct fake_event *event, struct fake_context *context,
                     struct fake_stream *stream);

/* The driver's own lock, which a thread holds across the callbacks of launches, of modules and of
 * the lives of contexts and streams, and inside of every function of the sanitizer library that
 * touches the device. A subscriber that holds a lock of its own across such a function, and takes
 * the same one in a callback, may hang; a thread sanitizer sees that without the accident. */
void fake_lock_driver(void);
void fake_unlock_driver(void);

/* -- objects ------------------------------------------------------------------------------------*/

extern pthread_mutex_t fake_lock;

struct fake_context *fake_current(void);
/* The stream of an argument; NULL with *error set where there is none such. Makes the per-thread
 * one at its first use. */
struct fake_stream *fake_stream(CUstream argument, bool per_thread, int *error);
CUstream fake_handle(const struct fake_stream *stream); /* the driver's, NULL for default ones */
struct fake_stream *fake_new_stream(struct fake_context *context, bool is_default,
                                    unsigned int flags);
void fake_end_stream(struct fake_stream *stream);
/* Ends the process where a stream is destroyed, or is being captured: nothing may be put there. */
void fake_must_live(const struct fake_stream *stream);
void fake_end_context_streams(struct fake_context *context);
struct fake_event *fake_event(CUevent argument, int *error);
void fake_end_context_events(struct fake_context *context);

/* -- the queue ----------------------------------------------------------------------------------*/

/* Submits a copy of `item` to `stream` and returns its number. */
uint64_t fake_submit(struct fake_stream *stream, const struct fake_item *item);
/* Waits until all up to item `number` have run. */
void fake_wait(uint64_t number);
bool fake_done(uint64_t number);
uint64_t fake_last(void); /* number of the item submitted last of all */
/* Whether a copy to this place has been submitted and not run. */
bool fake_has_copy_to(const void *destination);

/* -- memory -------------------------------------------------------------------------------------*/

enum fake_memory { FAKE_PAGEABLE, FAKE_DEVICE, FAKE_PINNED, FAKE_MANAGED, FAKE_REGISTERED };

/* What [address, address + size) is; *bad is set where it leaves its block or lies in freed device
 * memory. */
enum fake_memory fake_kind(uint64_t address, uint64_t size, bool *bad);
/* Memory that was allocated as usual and freed in stream order is told once the host has waited. */
void fake_tell_freed(void);
void *fake_allocate(size_t size); /* for the sanitizer's functions: tells nobody */
void fake_release_block(void *pointer);
/* The blocks of a context end with it, and nobody is told. */
void fake_end_context_memory(const struct fake_context *context);
/* The context that a live block is of; NULL: no block is there. */
struct fake_context *fake_owner(uint64_t address);

/* -- launches and graphs ------------------------------------------------------------------------*/

struct fake_node {
    uint32_t type; /* enum sanitizer_node_type */
    struct fake_item item;
    struct sanitizer_launch_data launch;
    struct fake_node *next;
};

struct fake_graph {
    struct fake_node *first, **last;
    uint32_t launches;
    struct fake_stream *own; /* of the instance */
};

/* Adds what would be submitted to the stream's capture; false where it captures nothing. */
bool fake_capture(struct fake_stream *stream, uint32_t type, const struct fake_item *item,
                  const struct sanitizer_launch_data *launch);

struct fake_launch; /* behind struct sanitizer_launch */
void fake_set_launch_user(struct sanitizer_launch *launch, const void *user);
void fake_set_function_user(CUfunction function, const void *user);
void fake_run_kernel(struct fake_item *item);
void fake_run_copy(struct fake_item *item);
void fake_run_set(struct fake_item *item);
CUmodule fake_module(void);

/* Place of a kernel among those registered; their number when it is none. */
size_t fake_index(const struct fake_kernel *kernel);
size_t fake_index_of_name(const char *name);
const char *fake_cubin(size_t *size);

/* Whether instructions of this kind are patched in the module. */
bool fake_is_patched(uint32_t instruction);
/* What the device patches do, src/capture/patches. */
void fake_patch_access(const void *user, uint64_t pc, const void *pointer, uint32_t size,
                       uint32_t access);
/* A launch has ended: counts the windows of its record that it was in, for fake_windows(). */
void fake_patch_end(const void *user);
/* A thread enters a block of a launch with user data. */
void fake_gate_enter(const void *user);

#endif
