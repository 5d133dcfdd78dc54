/* What a program can tell streamsan: names, host accesses, hand-overs between threads, blocks of
 * its own allocator.
 *
 * Costs one load and one branch where the tool is absent: everything goes through one weak function
 * that only streamsan defines. C11 and C++. Any thread; not from signal handlers. Arguments are
 * evaluated exactly once, and only when the tool is there. */
#ifndef STREAMSAN_ANNOTATE_H
#define STREAMSAN_ANNOTATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are an interface: new ones are added at the end. */
enum ssan_annotation_kind {
    SSAN_ANNOTATE_NAME_POINTER = 1, /* object: any pointer or handle; text */
    SSAN_ANNOTATE_HOST_READ = 2,    /* object, bytes */
    SSAN_ANNOTATE_HOST_WRITE = 3,
    SSAN_ANNOTATE_IGNORE = 4, /* object, bytes: findings on these bytes are not reported */
    SSAN_ANNOTATE_UNIGNORE = 5,
    SSAN_ANNOTATE_HAPPENS_BEFORE = 6, /* object: release */
    SSAN_ANNOTATE_HAPPENS_AFTER = 7,  /* object: acquire */
    SSAN_ANNOTATE_POOL_ALLOC = 8,     /* pool, object, bytes */
    SSAN_ANNOTATE_POOL_FREE = 9,      /* pool, object */
    SSAN_ANNOTATE_FINDINGS = 10,      /* returns the number of error findings so far, unfolded */
    SSAN_ANNOTATE_LIBRARY_ASKS = 11,  /* bytes: 1 begins, 0 ends */
    SSAN_ANNOTATE_USAGE = 12          /* object: any pointer; text */
};

/* Defined by streamsan in the program it checks; else null. Returns 0 except for
 * SSAN_ANNOTATE_FINDINGS. `text` is copied. Unknown kinds are ignored. */
extern uint64_t ssan_annotate(uint32_t kind, const void *object, uint64_t bytes, const void *pool,
                              const char *text) __attribute__((weak));

#ifdef __cplusplus
}
#endif

/* A host-side check only: kernels are compiled from the same source, and see nothing of this. */
#define SSAN_ANNOTATE_(kind, object, bytes, pool, text)                                            \
    (ssan_annotate ? ssan_annotate((kind), (const void *)(object), (uint64_t)(bytes),              \
                                   (const void *)(pool), (text))                                   \
                   : (uint64_t)0)

/* Names a stream, an event or a pointer (whose block gets the name). The last name wins. */
#define SSAN_NAME(object, text)                                                                    \
    ((void)SSAN_ANNOTATE_(SSAN_ANNOTATE_NAME_POINTER, (object), 0, 0, (text)))

/* The calling thread reads or writes `bytes` bytes at `ptr` here: before the reads, after the
 * writes. */
#define SSAN_HOST_READ(ptr, bytes)                                                                 \
    ((void)SSAN_ANNOTATE_(SSAN_ANNOTATE_HOST_READ, (ptr), (bytes), 0, 0))
#define SSAN_HOST_WRITE(ptr, bytes)                                                                \
    ((void)SSAN_ANNOTATE_(SSAN_ANNOTATE_HOST_WRITE, (ptr), (bytes), 0, 0))

/* Findings on these bytes are not reported until SSAN_UNIGNORE of the same range. */
#define SSAN_IGNORE(ptr, bytes) ((void)SSAN_ANNOTATE_(SSAN_ANNOTATE_IGNORE, (ptr), (bytes), 0, 0))
#define SSAN_UNIGNORE(ptr, bytes)                                                                  \
    ((void)SSAN_ANNOTATE_(SSAN_ANNOTATE_UNIGNORE, (ptr), (bytes), 0, 0))

/* Hand-over between host threads: all before SSAN_HAPPENS_BEFORE(object) comes before all behind a
 * later SSAN_HAPPENS_AFTER(object). `object` is any address, such as that of the queue or flag. */
#define SSAN_HAPPENS_BEFORE(object)                                                                \
    ((void)SSAN_ANNOTATE_(SSAN_ANNOTATE_HAPPENS_BEFORE, (object), 0, 0, 0))
#define SSAN_HAPPENS_AFTER(object)                                                                 \
    ((void)SSAN_ANNOTATE_(SSAN_ANNOTATE_HAPPENS_AFTER, (object), 0, 0, 0))

/* The program's own allocator `pool` hands out, takes back, a block inside one CUDA allocation. */
#define SSAN_POOL_ALLOC(pool, ptr, bytes)                                                          \
    ((void)SSAN_ANNOTATE_(SSAN_ANNOTATE_POOL_ALLOC, (ptr), (bytes), (pool), 0))
#define SSAN_POOL_FREE(pool, ptr)                                                                  \
    ((void)SSAN_ANNOTATE_(SSAN_ANNOTATE_POOL_FREE, (ptr), 0, (pool), 0))

/* For libraries. From SSAN_LIBRARY_ASKS(1) to SSAN_LIBRARY_ASKS(0) the calling thread asks for the
 * last error on behalf of a library, which wants to keep it for the program: a launch that failed
 * has not been asked for by that. Does not nest. */
#define SSAN_LIBRARY_ASKS(begins)                                                                  \
    ((void)SSAN_ANNOTATE_(SSAN_ANNOTATE_LIBRARY_ASKS, 0, (begins), 0, 0))
/* For libraries: how the block at `ptr`, which the library owns and the program is lent, is to be
 * used, as an order: "read it between take and release". Told as the fix of findings on the block,
 * in place of edits that would need the library's streams and events. The last one counts. */
#define SSAN_USAGE(ptr, text) ((void)SSAN_ANNOTATE_(SSAN_ANNOTATE_USAGE, (ptr), 0, 0, (text)))

/* Error findings so far, for unit tests: waits until all that was submitted has been judged; 0
 * without the tool, and where no answer comes within 10 s, which makes the run incomplete. Counted
 * before folding: one missing edge that is a RAW and a WAW counts twice here, and is one finding in
 * the report. Zero means the same in both. Suppressions do not count: what they hide is in this
 * number. */
#define SSAN_FINDINGS() SSAN_ANNOTATE_(SSAN_ANNOTATE_FINDINGS, 0, 0, 0, 0)

#endif
