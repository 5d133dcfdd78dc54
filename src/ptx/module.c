/* A parsed module's public face. */
#include "ptx/ir.h"

#include <string.h>

void ptx_destroy(struct ptx_module *module)
{
    if (!module) {
        return;
    }
    VEC_FREE(&module->funcs);
    VEC_FREE(&module->entries);
    VEC_FREE(&module->globals);
    VEC_FREE(&module->lines);
    arena_finish(&module->arena);
    mem_free(module);
}

size_t ptx_global_count(const struct ptx_module *module)
{
    return module->globals.count;
}

const struct ptx_global *ptx_global_at(const struct ptx_module *module, size_t index)
{
    return &module->globals.items[index]->pub;
}

void ptx_bind_global(struct ptx_module *module, size_t index, uint64_t address)
{
    module->globals.items[index]->pub.address = address;
}

void ptx_global_init(const struct ptx_module *module, size_t index, void *bytes)
{
    const struct global *global = module->globals.items[index];
    if (!global->init) {
        return;
    }
    memcpy(bytes, global->init, global->pub.size_bytes);
    for (uint32_t i = 0; i < global->reloc_count; i++) {
        const struct reloc *reloc = &global->relocs[i];
        const uint64_t base = reloc->is_func
                                  ? WINDOW_BASE(WINDOW_CODE) + ((uint64_t)reloc->index + 1) * 16
                                  : module->globals.items[reloc->index]->pub.address;
        const uint64_t value = base + (uint64_t)reloc->addend;
        memcpy((unsigned char *)bytes + reloc->offset, &value, reloc->bytes);
    }
}

const struct ptx_kernel *ptx_kernel_find(const struct ptx_module *module, const char *name)
{
    for (size_t i = 0; i < module->entries.count; i++) {
        if (strcmp(module->entries.items[i]->name, name) == 0) {
            return &module->entries.items[i]->kernel;
        }
    }
    return NULL;
}

size_t ptx_kernel_count(const struct ptx_module *module)
{
    return module->entries.count;
}

const struct ptx_kernel *ptx_kernel_at(const struct ptx_module *module, size_t index)
{
    return &module->entries.items[index]->kernel;
}
