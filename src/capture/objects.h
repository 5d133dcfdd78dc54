/* The loaded objects of the process, by address, as modules of the trace.
 *
 * All but object_base and object_flags need the caller's lock. */
#ifndef SSAN_CAPTURE_OBJECTS_H
#define SSAN_CAPTURE_OBJECTS_H

#include "capture/unwind_cfi.h"

#include "trace/sink.h"

#include <stdbool.h>
#include <stdint.h>

/* Ids that fit the cache of the unwinder (unwind.h); objects behind them are not told apart. */
#define OBJECTS_MAX 32767u

enum object_flag {
    OBJECT_OWN = 1,    /* this library */
    OBJECT_DRIVER = 2, /* the driver and NVIDIA's libraries between it and the program */
    OBJECT_PYTHON = 4, /* holds the interpreter */
};

/* Memory for the table is mapped, events go to `sink`; false when there is none. */
bool objects_open(struct ssan_sink *sink);
/* Forgets all of it (tests, forked children). */
void objects_close(void);

/* Calls use(self, module, tables) for the object whose code holds `address`, while it can't be
 * unloaded; `tables` is NULL when it has none that we read. A new object is told to the trace.
 * False: no object holds it. */
bool objects_visit(uint64_t address,
                   void (*use)(void *self, uint32_t module, const struct cfi_object *tables),
                   void *self);

/* A number that changes whenever an object is loaded or unloaded. Any thread, no lock of ours. */
uint64_t objects_generation(void);

/* Any thread, of an id that it got from objects_visit, itself or through the cache. */
uint64_t object_base(uint32_t module);
unsigned object_flags(uint32_t module);

#endif
