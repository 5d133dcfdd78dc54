/* What the code of a module can do that patches do not see, read from its cubin.
 *
 * A cubin is an ELF file with a section `.text.<function>` for each function, in which every
 * instruction of the architectures that patches exist for (7.5 and newer) takes 16 bytes and has
 * its operation in the lowest 9 bits. Any thread. */
#ifndef SSAN_CAPTURE_OBSERVE_CUBIN_H
#define SSAN_CAPTURE_OBSERVE_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cubin_flag {
    CUBIN_TENSOR_READ = 1,  /* tensor-map copy from global memory */
    CUBIN_TENSOR_WRITE = 2, /* to it, or a reduction there */
    CUBIN_BULK_READ = 4,    /* plain bulk copy; patchable from some version on */
    CUBIN_BULK_WRITE = 8,
    CUBIN_BULK_REDUCE = 16,
    CUBIN_TEXTURE = 32, /* textures and surfaces are read: their memory is not in parameters */
    CUBIN_SURFACE_WRITE = 64,   /* surfaces are written */
    CUBIN_MULTICAST_READ = 128, /* of one address in several devices */
    CUBIN_CALLS = 256,          /* functions of other sections */
    CUBIN_LAUNCHES = 512,       /* kernels, by no call that we see */
};

#define CUBIN_WRITES                                                                               \
    (CUBIN_TENSOR_WRITE | CUBIN_BULK_WRITE | CUBIN_BULK_REDUCE | CUBIN_SURFACE_WRITE)

struct cubin_function {
    const char *name; /* mangled, NUL-terminated, in the cubin */
    uint32_t section; /* index of `.text.<name>` */
    uint64_t size;    /* bytes of code */
    unsigned flags;   /* enum cubin_flag */
    unsigned kinds;   /* bit k: it can access global memory in the way PATCH_KIND k (patch_abi.h) */
    bool is_kernel;
    bool waits_first; /* see cubin_waits_first */
};

/* Whether every thread that runs this code waits for the grids before it (griddepcontrol.wait)
 * before it can have accessed global memory, branched or ended. False where that is not known. */
bool cubin_waits_first(const unsigned char *code, uint64_t size);

struct cubin_facts {
    bool has_lines;
    /* of all functions that are no kernels: kernels that call may do that */
    unsigned called_flags, called_kinds;
};

/* Calls take(self, function) for each function of the cubin until that answers false. False: this
 * is no cubin that can be read (foreign format, damaged), then nothing is known of its code. */
bool cubin_read(const void *bytes, size_t size, struct cubin_facts *facts,
                bool (*take)(void *self, const struct cubin_function *function), void *self);

/* A variable in global or constant memory, as each module of the cubin gets one. */
struct cubin_variable {
    const char *name;  /* mangled, NUL-terminated, in the cubin */
    const char *space; /* "__device__", "__constant__", "__managed__" */
    uint64_t size;
};

/* Calls take(self, variable) for each; false as cubin_read. */
bool cubin_read_variables(const void *bytes, size_t size,
                          bool (*take)(void *self, const struct cubin_variable *variable),
                          void *self);

#endif
