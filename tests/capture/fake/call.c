/* Entry and exit of API calls, initialisation, failures on demand. */
#include "capture/fake/fake.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local bool is_initialising;
static atomic_int next_failure;
static atomic_int sticky;

/* What a driver does in cuInit: the injected library is loaded and called. Without its function it
 * is unloaded again. */
static void initialise(void)
{
    is_initialising = true;
    const char *path = getenv("CUDA_INJECTION64_PATH");
    bool is_inside = path && !strcmp(path, "inside"); /* linked into the program */
    void *library = path ? dlopen(is_inside ? NULL : path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (path && !library) {
        fprintf(stderr, "fake driver: %s\n", dlerror());
    }
    if (library) {
        int (*inject)(void) = NULL;
        *(void **)&inject = dlsym(library, "InitializeInjection");
        if (!inject || !inject()) {
            fprintf(stderr, "fake driver: %s has not been initialised\n", path);
            dlclose(library);
        }
    }
    fake_tell(SANITIZER_RESOURCE, SANITIZER_INIT_FINISHED, NULL);
    is_initialising = false;
}

static pthread_mutex_t driver = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/* A child has this driver as it was between two calls: what other threads do stops there. */
static void before_fork(void)
{
    pthread_mutex_lock(&driver);
    pthread_mutex_lock(&fake_lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&fake_lock);
    pthread_mutex_unlock(&driver);
}

static void in_child(void)
{
    const pthread_mutex_t unlocked = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    driver = unlocked; /* as it was, it is owned by a thread of the parent */
    pthread_mutex_unlock(&fake_lock);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

void fake_lock_driver(void)
{
    pthread_mutex_lock(&driver);
}

void fake_unlock_driver(void)
{
    pthread_mutex_unlock(&driver);
}

void fake_enter(struct fake_call *call, uint32_t domain, uint32_t id, const char *name,
                const void *params, const char *symbol)
{
    if (!is_initialising) {
        pthread_once(&once, initialise);
    }
    *call = (struct fake_call){.domain = domain, .id = id};
    /* The name of a kernel is there for launches only; of other calls nobody may read it. */
    call->data = (struct sanitizer_api_data){.site = SANITIZER_API_ENTER,
                                             .function = name,
                                             .params = params,
                                             .symbol = symbol ? symbol : (const char *)1,
                                             .context = (CUcontext)fake_current()};
    fake_tell(domain, id, &call->data);
}

#define GET_LAST_ERROR  10
#define PEEK_LAST_ERROR 11

static _Thread_local int last_error;

int fake_exit(struct fake_call *call, int result)
{
    bool asks = call->id == GET_LAST_ERROR || call->id == PEEK_LAST_ERROR;
    if (call->domain == SANITIZER_RUNTIME_API && !asks && result && result != CUDA_NOT_READY) {
        last_error = result;
    }
    call->result = result;
    call->data.site = SANITIZER_API_EXIT;
    call->data.result = &call->result;
    call->data.context = (CUcontext)fake_current();
    fake_tell(call->domain, call->id, &call->data);
    return result;
}

void fake_fail(int code)
{
    atomic_store(&next_failure, code);
}

void fake_fault(int code)
{
    atomic_store(&sticky, code);
}

int fake_failure(void)
{
    int code = atomic_load(&sticky);
    return code ? code : atomic_exchange(&next_failure, 0);
}

int fake_sticky(void)
{
    return atomic_load(&sticky);
}

static int ask(uint32_t id, const char *name)
{
    struct fake_call call;
    fake_enter(&call, SANITIZER_RUNTIME_API, id, name, NULL, NULL);
    int error = fake_sticky() ? fake_sticky() : last_error;
    if (id == GET_LAST_ERROR) {
        last_error = 0;
    }
    return fake_exit(&call, error);
}

cudaError_t cudaGetLastError(void)
{
    return ask(GET_LAST_ERROR, "cudaGetLastError");
}

cudaError_t cudaPeekAtLastError(void)
{
    return ask(PEEK_LAST_ERROR, "cudaPeekAtLastError");
}
