/* The names stand in the cubin, the addresses are asked of the driver, which answers inside of the
 * callback that tells of the module (tried on an H200). Cost: one call for each variable, once. */
#include "capture/variables.h"

#include "capture/dispatch.h"
#include "capture/driver.h"
#include "capture/observe_cubin.h"

#include <stdatomic.h>

typedef int get_global(CUdeviceptr *address, size_t *size, CUmodule module, const char *name);

static _Atomic(get_global *) ask;

void variables_open(void)
{
    atomic_store(&ask, (get_global *)driver_find("cuModuleGetGlobal_v2"));
}

static bool add(void *self, const struct cubin_variable *variable)
{
    get_global *function = atomic_load(&ask);
    CUdeviceptr address = 0;
    size_t size = 0;
    if (function(&address, &size, self, variable->name) == CUDA_OK) {
        resource_variable(self, address, size, variable->name, variable->space);
    }
    return true;
}

void variables_add(const struct sanitizer_module_data *module)
{
    if (atomic_load(&ask)) {
        (void)cubin_read_variables(module->cubin, module->cubin_size, add, module->module);
    }
}
