/* What can be decided once the whole text was read: shared layout, external functions, line tables,
 * public kernels. */
#include "ptx/parse.h"

#include "ptx/externs.h"

#include <string.h>

#define MAX_SHARED_BYTES (UINT64_C(1) << 30)
#define MAX_CALL_DEPTH   200u /* of the search for functions that are not defined */

static uint64_t align_up(uint64_t value, uint64_t align)
{
    return align > 1 ? (value + align - 1) / align * align : value;
}

/* Gives the variables that `func` names, and that have no place yet, places behind *bytes. */
static void place_shared(struct parser *p, const struct func *func, uint32_t owner, uint64_t *bytes)
{
    for (uint32_t i = 0; i < func->const_count; i++) {
        if (func->consts[i].reloc != RELOC_shared) {
            continue;
        }
        struct shared_var *var = &p->shared.items[func->consts[i].index];
        if (var->is_dynamic || var->placed_in == UINT32_MAX || var->placed_in == owner) {
            continue;
        }
        var->offset = align_up(*bytes, var->align_bytes);
        var->placed_in = owner;
        *bytes = var->offset + var->size_bytes;
    }
}

/* Puts the offsets into the function's constants. */
static void bind_shared(struct parser *p, struct func *func)
{
    struct const_slot *consts =
        (struct const_slot *)(uintptr_t)func->consts; /* the arena's, still ours to write */
    for (uint32_t i = 0; i < func->const_count; i++) {
        if (consts[i].reloc != RELOC_shared) {
            continue;
        }
        const struct shared_var *var = &p->shared.items[consts[i].index];
        consts[i].reloc = var->is_dynamic ? RELOC_dynamic_shared : RELOC_none;
        consts[i].value += var->offset;
        func->uses_dynamic_shared |= var->is_dynamic;
    }
}

/* Variables that .func bodies name have one place in all kernels, in front; those of an entry only
 * lie behind. */
static bool layout_shared(struct parser *p)
{
    struct ptx_module *m = p->module;
    uint64_t common = 0;
    for (size_t i = 0; i < m->funcs.count; i++) {
        if (!m->funcs.items[i]->is_entry) {
            place_shared(p, m->funcs.items[i], UINT32_MAX, &common);
        }
    }
    for (size_t i = 0; i < m->funcs.count; i++) {
        struct func *func = m->funcs.items[i];
        uint64_t bytes = common;
        if (func->is_entry) {
            place_shared(p, func, (uint32_t)i + 1, &bytes);
        }
        bind_shared(p, func);
        if (bytes > MAX_SHARED_BYTES) {
            return parse_fail(p, SSAN_UNSUPPORTED, func->first_line,
                              "more than 1 GiB of shared memory");
        }
        func->shared_bytes = (uint32_t)bytes;
    }
    return true;
}

/* Name of a function that `func` reaches and that nothing defines. */
static const char *find_unresolved(struct parser *p, const struct func *func, bool *seen,
                                   unsigned depth, uint32_t *line)
{
    if (seen[func->index]) {
        return NULL;
    }
    seen[func->index] = true;
    if (!func->is_defined) {
        *line = func->first_line;
        return func->external < 0 ? func->name : NULL;
    }
    for (uint32_t i = 0; i < func->call_count && depth < MAX_CALL_DEPTH; i++) {
        const uint32_t target = func->calls[i].func;
        const char *name = target == UINT32_MAX ? NULL
                                                : find_unresolved(p, p->module->funcs.items[target],
                                                                  seen, depth + 1, line);
        if (name) {
            return name;
        }
    }
    return NULL;
}

/* Looks the functions without a body up among the known external ones; their parameters must fit.
 */
static void bind_externals(struct parser *p)
{
    for (size_t i = 0; i < p->module->funcs.count; i++) {
        struct func *func = p->module->funcs.items[i];
        if (func->is_defined) {
            continue;
        }
        uint32_t sizes[EXTERN_MOST_PARAMS] = {0};
        for (uint32_t k = 0; k < func->param_count && k < EXTERN_MOST_PARAMS; k++) {
            sizes[k] = func->params[k].size_bytes;
        }
        func->external = extern_find(func->name, sizes, func->param_count, func->result.size_bytes);
    }
}

static bool fill_kernels(struct parser *p)
{
    bool *seen = mem_zalloc(p->module->funcs.count + 1, sizeof *seen);
    if (!seen) {
        return parse_no_memory(p);
    }
    for (size_t i = 0; i < p->module->entries.count; i++) {
        struct func *func = p->module->entries.items[i];
        memset(seen, 0, p->module->funcs.count * sizeof *seen);
        func->kernel.name = func->name;
        func->kernel.shared_bytes = func->shared_bytes;
        func->kernel.local_bytes = func->local_bytes;
        func->kernel.unresolved = find_unresolved(p, func, seen, 0, &func->kernel.unresolved_line);
        func->kernel.code = func;
    }
    mem_free(seen);
    return true;
}

/* Until now a line's file is the number of a .file. */
static void name_files(struct parser *p)
{
    for (size_t i = 1; i < p->module->lines.count; i++) {
        struct ptx_line *line = &p->module->lines.items[i];
        const uint64_t *index = map_find(&p->files, (uint64_t)(uintptr_t)line->file);
        line->file = index ? p->file_names.items[*index - 1] : NULL;
    }
}

bool module_finish(struct parser *p)
{
    name_files(p);
    bind_externals(p);
    return layout_shared(p) && fill_kernels(p);
}
