/* The registry of modules: what each function's code can do, and where it lies.
 *
 * Invariant: a kernel that was handed out stays, and so does its module, until the process ends;
 * only the handles of the driver forget them, as those may come back for others. The driver is
 * asked for addresses of code in callbacks of launches only, when the module surely lives, and
 * never under the lock, which callbacks take while the driver holds locks of its own. Naive model:
 * read the cubin at each launch. Cost: one walk over the code when a module is loaded, one look-up
 * in a hash map for each launch. */
#include "capture/observe_module.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Ids of modules of the trace: objects of the host have those below. */
#define FIRST_MODULE 32768u
#define LAST_MODULE  65535u
#define PLACE_MASK   0xfffffffu /* of what PATCH_CODE keeps of an address */

struct function {
    char *name;
    uint32_t section;
    uint64_t size;
    _Atomic uint64_t pc; /* 0: not known yet */
    unsigned flags, kinds;
    bool is_kernel, waits_first;
};

struct observe_module {
    uint32_t id;  /* in the trace; 0: has no line tables */
    bool is_read; /* its cubin could be */
    bool is_patched;
    unsigned called_flags, called_kinds, unpatched;
    VEC(struct function) functions;
    struct map by_name; /* hash of the name: index */
};

static struct {
    pthread_mutex_t lock;
    const struct sanitizer_api *api;
    const struct observe_plan *plan;
    const char *session;
    struct ssan_sink *sink;
    struct map modules, kernels;     /* by handle: pointers */
    struct observed_kernel *retired; /* launches in flight may name them still */
    _Atomic uint32_t saved;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

void observe_modules_start(const struct sanitizer_api *api, const struct observe_plan *plan,
                           const char *session, struct ssan_sink *sink)
{
    registry.api = api;
    registry.plan = plan;
    registry.session = session;
    registry.sink = sink;
}

void observe_modules_forget(void)
{
    pthread_mutex_init(&registry.lock, NULL);
}

static bool take_function(void *self, const struct cubin_function *found)
{
    struct observe_module *module = self;
    char *name = mem_strdup(found->name);
    if (!name || !VEC_RESERVE(&module->functions, module->functions.count + 1)) {
        mem_free(name);
        return false;
    }
    module->functions.items[module->functions.count++] =
        (struct function){.name = name,
                          .section = found->section,
                          .size = found->size,
                          .flags = found->flags,
                          .kinds = found->kinds,
                          .is_kernel = found->is_kernel,
                          .waits_first = found->waits_first};
    return map_set(&module->by_name, hash_bytes(0, found->name, strlen(found->name)),
                   module->functions.count - 1);
}

/* Writes the cubin to a new file; false: it is not there. */
static bool write_cubin(const char *path, const struct sanitizer_module_data *data)
{
    int error, file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        return false;
    }
    error = file_write(file, data->cubin, data->cubin_size);
    close(file);
    if (error) {
        unlink(path);
    }
    return error == 0;
}

/* Saves the cubin in the session, where the tool reads its line tables, and tells the trace; where
 * that can't be done, the lines of its kernels are lost. The id of the module, 0: none. */
static uint32_t save_cubin(const struct sanitizer_module_data *data)
{
    char path[4096];
    struct ssan_event event = {.kind = SSAN_EV_module};
    uint32_t id = FIRST_MODULE + atomic_fetch_add(&registry.saved, 1);
    int length = snprintf(path, sizeof path, "%s/cubin-%u.%u", registry.session, (unsigned)getpid(),
                          id - FIRST_MODULE + 1);
    if (id > LAST_MODULE || length <= 0 || (size_t)length >= sizeof path ||
        !write_cubin(path, data)) {
        event = (struct ssan_event){.kind = SSAN_EV_lost, .lost = {SSAN_loss_STACKS, 0, 1}};
        ssan_put(registry.sink, &event);
        return 0;
    }
    event.module = (struct ssan_ev_module){id, 0, ssan_str(path), {NULL, 0}};
    ssan_put(registry.sink, &event);
    return id;
}

struct observe_module *observe_modules_add(const struct sanitizer_module_data *data)
{
    struct cubin_facts facts = {0};
    struct observe_module *module = mem_zalloc(1, sizeof *module);
    if (!module) {
        return NULL; /* each launch of its kernels is told as lost */
    }
    module->is_read =
        data->cubin && cubin_read(data->cubin, data->cubin_size, &facts, take_function, module);
    module->called_flags = facts.called_flags;
    module->called_kinds = facts.called_kinds;
    if (module->is_read && facts.has_lines) {
        module->id = save_cubin(data);
    }
    pthread_mutex_lock(&registry.lock);
    (void)map_set(&registry.modules, (uintptr_t)data->module, (uintptr_t)module);
    pthread_mutex_unlock(&registry.lock);
    return module;
}

void observe_module_unpatched(struct observe_module *module, unsigned flags)
{
    module->unpatched |= flags;
}

void observe_module_set_patched(struct observe_module *module, bool is_patched)
{
    module->is_patched = is_patched;
}

bool observe_module_is_patched(const struct observe_module *module)
{
    return module && module->is_patched;
}

void observe_modules_remove(CUmodule handle)
{
    uint64_t key, value;
    pthread_mutex_lock(&registry.lock);
    uint64_t *found = map_find(&registry.modules, (uintptr_t)handle);
    if (found) {
        struct observe_module *module = (void *)(uintptr_t)*found;
        map_remove(&registry.modules, (uintptr_t)handle);
        for (size_t cursor = 0; map_next(&registry.kernels, &cursor, &key, &value);) {
            struct observed_kernel *kernel = (void *)(uintptr_t)value;
            if (kernel->module == module) {
                map_remove(&registry.kernels, key);
                kernel->next_retired = registry.retired;
                registry.retired = kernel;
            }
        }
    }
    pthread_mutex_unlock(&registry.lock);
}

static struct function *find_function(struct observe_module *module, const char *name)
{
    uint64_t *found = map_find(&module->by_name, hash_bytes(0, name, strlen(name)));
    if (found && strcmp(module->functions.items[*found].name, name) == 0) {
        return &module->functions.items[*found];
    }
    /* another name has the same hash */
    for (size_t i = 0; found && i < module->functions.count; i++) {
        if (strcmp(module->functions.items[i].name, name) == 0) {
            return &module->functions.items[i];
        }
    }
    return NULL;
}

static uint64_t pc_of(CUmodule handle, const char *name)
{
    uint64_t pc = 0, size = 0;
    return registry.api->get_function_pc_and_size(handle, name, &pc, &size) == SANITIZER_OK ? pc
                                                                                            : 0;
}

/* Where the functions lie that a kernel of the module may call, as far as the driver has loaded
 * them. In a callback of its launch, no lock. */
static void find_called(struct observe_module *module, CUmodule handle)
{
    for (size_t i = 0; module->id != 0 && i < module->functions.count; i++) {
        struct function *function = &module->functions.items[i];
        if (!function->is_kernel && atomic_load(&function->pc) == 0) {
            atomic_store(&function->pc, pc_of(handle, function->name));
        }
    }
}

/* As much of the name as there is room for, in whole characters of UTF-8. */
static void set_name(struct observed_kernel *kernel, const char *name)
{
    size_t length = strnlen(name, sizeof kernel->name - 1);
    while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80) {
        length--;
    }
    memcpy(kernel->name, name, length); /* all else is 0 */
}

/* In a callback of its launch, no lock: the module lives, and its functions never change. */
static struct observed_kernel *create_kernel(struct observe_module *module,
                                             const struct sanitizer_launch_data *launch,
                                             const char *name)
{
    struct observed_kernel *kernel = mem_zalloc(1, sizeof *kernel);
    if (!kernel) {
        return NULL;
    }
    set_name(kernel, name);
    kernel->is_listed = observe_plan_fits(registry.plan, name);
    kernel->module = module;
    struct function *function = module ? find_function(module, launch->name) : NULL;
    if (function) {
        kernel->is_known = module->is_read;
        kernel->flags = function->flags;
        kernel->kinds = function->kinds;
        kernel->waits_first = function->waits_first;
        kernel->size = function->size;
        kernel->pc = pc_of(launch->module, launch->name);
        atomic_store(&function->pc, kernel->pc);
        if (function->flags & CUBIN_CALLS) {
            kernel->flags |= module->called_flags;
            kernel->kinds |= module->called_kinds;
        }
        find_called(module, launch->module);
    }
    return kernel;
}

/* Lock held. */
static struct observed_kernel *find_kernel(const struct sanitizer_launch_data *launch)
{
    uint64_t *found = map_find(&registry.kernels, (uintptr_t)launch->function);
    return found ? (void *)(uintptr_t)*found : NULL;
}

struct observed_kernel *observe_kernel_find(const struct sanitizer_launch_data *launch,
                                            const char *name, bool *is_new)
{
    pthread_mutex_lock(&registry.lock);
    struct observed_kernel *kernel = find_kernel(launch), *made;
    uint64_t *module = map_find(&registry.modules, (uintptr_t)launch->module);
    struct observe_module *of = module ? (void *)(uintptr_t)*module : NULL;
    pthread_mutex_unlock(&registry.lock);
    *is_new = !kernel;
    if (kernel || !(made = create_kernel(of, launch, name))) {
        return kernel;
    }
    pthread_mutex_lock(&registry.lock);
    kernel = find_kernel(launch); /* of a thread that was faster */
    if (!kernel && map_set(&registry.kernels, (uintptr_t)launch->function, (uintptr_t)made)) {
        kernel = made;
    }
    pthread_mutex_unlock(&registry.lock);
    if (kernel != made) {
        mem_free(made);
    }
    return kernel;
}

unsigned observe_kernel_unseen(const struct observed_kernel *kernel)
{
    unsigned bulk = CUBIN_BULK_READ | CUBIN_BULK_WRITE | CUBIN_BULK_REDUCE;
    unsigned seen = bulk & ~kernel->module->unpatched;
    return kernel->flags & ~(seen | CUBIN_CALLS);
}

bool observe_kernel_has_lines(const struct observed_kernel *kernel)
{
    return kernel->module && kernel->module->id != 0;
}

/* Offset of an instruction in a function; the upper bits of its address are not known. */
static uint64_t offset_in(uint64_t pc, uint32_t place)
{
    return (uint64_t)((place - (uint32_t)(pc >> 4)) & PLACE_MASK) << 4;
}

uint64_t observe_kernel_frame(const struct observed_kernel *kernel, uint32_t place)
{
    struct observe_module *module = kernel->module;
    if (!observe_kernel_has_lines(kernel)) {
        return 0;
    }
    for (size_t i = 0; i < module->functions.count; i++) {
        struct function *function = &module->functions.items[i];
        uint64_t pc = atomic_load_explicit(&function->pc, memory_order_relaxed);
        uint64_t offset = offset_in(pc, place);
        if (pc != 0 && offset < function->size) {
            return (uint64_t)module->id << 48 | (uint64_t)(function->section & 0xffff) << 32 |
                   offset;
        }
    }
    return 0;
}
