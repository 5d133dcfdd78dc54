/* One lock around the three functions, held by nobody else and for nothing else. */
#include "capture/patching.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

uint32_t patching_add_file(const struct sanitizer_api *api, const char *path, CUcontext context)
{
    pthread_mutex_lock(&lock);
    uint32_t result = api->add_patches_from_file(path, context);
    pthread_mutex_unlock(&lock);
    return result;
}

void patching_choose(const struct sanitizer_api *api, CUmodule module,
                     const struct patching_place *places, uint32_t *results, size_t count)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++) {
        results[i] = api->patch_instructions(places[i].instruction, module, places[i].function);
    }
    pthread_mutex_unlock(&lock);
}

uint32_t patching_apply(const struct sanitizer_api *api, CUmodule module)
{
    pthread_mutex_lock(&lock);
    uint32_t result = api->patch_module(module);
    pthread_mutex_unlock(&lock);
    return result;
}

void patching_detach(void)
{
    pthread_mutex_init(&lock, NULL);
}
