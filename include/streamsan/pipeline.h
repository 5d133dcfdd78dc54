/* Asynchronous pipelines over a ring of slots: input from any thread, compute on the caller's
 * stream, the result out on a copy stream, a publisher thread that hands it to consumers.
 *
 *   acquire -> fill input -> submit(compute) ......................... take -> use -> release
 *      ^          host     [upload stream | your stream | copy stream]   ^                |
 *      |                                              publisher thread --+                |
 *      +------------- the slot comes back, also on every failure path <-------------------+
 *
 * What it is for: work that makes data out of shared buffers (packing) stays on the stream that
 * owns them; only the finished result leaves, on a stream of its own behind an event; a thread of
 * the pipeline waits for it, so that no thread of yours does; and the number of batches under way
 * is bounded, by slots, by bytes and by how far producers may run ahead of consumers.
 *
 * A SLOT owns one batch's memory and events. Buffers of slot s on device d:
 *   input          page-locked, options.input_bytes      written by the producer, before submit
 *   device_input   on d, options.input_bytes             written by the upload, read by compute
 *   device_output  on d, options.output_bytes            written by compute, read by the way out
 *   output         page-locked, options.output_bytes     written by the copy, read by the consumer
 * A slot has one owner at a time: the producer from acquire to submit or abandon, the pipeline
 * until take, the consumer until release. Pointers into it are valid for that owner only. Order
 * between owners is the pipeline's business: no owner waits for anything before it touches its
 * part.
 *
 * A BATCH is one trip through a slot. Its number is given by acquire, counts from 0 in the order in
 * which acquire succeeded over all threads, and stands in every error about it.
 *
 * A program with one producer and one consumer; errors left out:
 *
 *   struct ssan_pipe_options options = {0};
 *   options.size = sizeof options;
 *   options.slots = 3, options.input_bytes = IN, options.output_bytes = OUT;
 *   ssan_pipe_create(&options, &pipe, &err);
 *   ssan_pipe_consumer_create(pipe, NULL, &consumer, &err);
 *
 *   producer:  while (more) {
 *                  ssan_pipe_acquire(pipe, NULL, SSAN_PIPE_FOREVER, &batch, &err);
 *                  fill(batch->input);
 *                  ssan_pipe_submit(pipe, batch, launch, model, stream, &err);
 *              }
 *              ssan_pipe_close(pipe);
 *   launch:    kernel<<<grid, block, 0, stream>>>(batch->device_output, batch->device_input);
 *              return cudaGetLastError();
 *   consumer:  while (ssan_pipe_take(consumer, SSAN_PIPE_FOREVER, &batch, &err) == SSAN_PIPE_OK) {
 *                  use(batch->output, batch->output_bytes);
 *                  ssan_pipe_release(consumer, batch, &err);
 *              }
 *   last:      ssan_pipe_destroy(pipe, &err);
 *
 * FAILURES. Any stage may fail; its slot comes back, the others go on.
 *   - In acquire, submit, take, release: the caller is told, with the batch's number, and nobody
 *     else: of a batch whose compute failed consumers see a gap in the numbers, and neither flush
 *     nor drain tells it.
 *   - Behind submit (the device, the copy): a consumer is told, in the batch's place: take returns
 *     SSAN_PIPE_FAILED with its number, and there is nothing to release. flush and drain tell the
 *     first such failure too.
 *   - If it can't be shown that a failed batch's work has ended (CUDA's sticky errors), its memory
 *     can't be used again: the pipeline is BROKEN. Batches under way are handed out as failed,
 *     acquire answers SSAN_PIPE_BROKEN with the number of the batch that broke it, and nothing
 *     waits for ever.
 * Functions return a status; the last argument, `err`, may be NULL and is filled on failure only. A
 * CUDA call of the library that fails leaves nothing in cudaGetLastError: the caller is told here.
 * Calls that succeed leave an error of the program's that stands there as it is. One that fails
 * while such an error stands lies over it, as CUDA keeps one error for each thread, the last; the
 * library clears neither, so cudaGetLastError still says that there was an error, with the
 * library's code. To the tool the library's look at that error is no question of the program's.
 *
 * THREADS. Any thread may call any function; one batch or one consumer is used by one thread at a
 * time. No call holds a lock over a CUDA call or over your callback. Calls may not be made in host
 * functions of streams. The calling thread's current device is the same afterwards, also where
 * compute has made another one current, unless CUDA refuses to make it so, which is told as a
 * failure of the call. A thread may be cancelled
 * (pthread_cancel) while it waits in acquire, take, flush or drain: it leaves as if it had not
 * called. Elsewhere in the library, compute included, it can't. The library's own threads block all
 * signals but those of faults.
 *
 * STREAMSAN. Streams, events and buffers have names, buffers come with words on how they are to be
 * used, which reports tell as the fix of findings on them, every hand-over between threads is told
 * (annotate.h), and so are the host's own accesses: submit counts as the write of the first
 * input_bytes of `input`, release of a host consumer as the read of the first output_bytes of
 * `output`. Costs nothing without the tool.
 *
 * BUILDING. The library calls the CUDA runtime that the program is linked with, and brings none.
 *   streamsan cc app.cu -lstreamsan-pipeline                     the virtual device
 *   nvcc app.cu $(pkg-config --cflags --libs streamsan-pipeline)
 *   find_package(streamsan), target streamsan::pipeline, before CUDA::cudart or CUDA::cudart_static
 * All take the archive. The shared object (streamsan::pipeline_shared) needs a shared cudart, or
 * the virtual device. */
#ifndef STREAMSAN_PIPELINE_H
#define STREAMSAN_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* what cudaStream_t points to */
struct ssan_pipe;
struct ssan_pipe_consumer;

/* X(name, text): every status once. The order is an interface; new ones come at the end. */
#define SSAN_PIPE_STATUSES(X)                                                                      \
    X(OK, "ok")                                                                                    \
    X(TIMEOUT, "the time is over")                                                                 \
    X(CLOSED, "the pipeline is closed")                                                            \
    X(CANCELLED, "the pipeline was cancelled")                                                     \
    X(FAILED, "a stage of the batch failed")                                                       \
    X(BROKEN, "work of a failed batch may still be running: the pipeline can't go on")             \
    X(BUSY, "something is still held")                                                             \
    X(INVALID, "wrong use")                                                                        \
    X(NO_MEMORY, "out of memory")                                                                  \
    X(CUDA, "a CUDA call failed")

enum ssan_pipe_status {
#define SSAN_PIPE_STATUS_(name, text) SSAN_PIPE_##name,
    SSAN_PIPE_STATUSES(SSAN_PIPE_STATUS_)
#undef SSAN_PIPE_STATUS_
        SSAN_PIPE_STATUS_COUNT
};

#define SSAN_PIPE_NO_BATCH UINT64_MAX
#define SSAN_PIPE_FOREVER  UINT64_MAX

/* What went wrong. */
struct ssan_pipe_error {
    enum ssan_pipe_status status;
    int code;         /* cudaError_t of `call`, or what compute returned; 0: neither */
    uint64_t batch;   /* which batch it is about; SSAN_PIPE_NO_BATCH: none */
    const char *call; /* "cudaMemcpyAsync", ..., or "compute"; static; NULL: none */
    char text[256];   /* one sentence */
};

/* Never NULL: "SSAN_PIPE_TIMEOUT", "the time is over". */
const char *ssan_pipe_status_name(enum ssan_pipe_status status);
const char *ssan_pipe_status_text(enum ssan_pipe_status status);

/* In which order consumers get batches. */
enum ssan_pipe_order {
    SSAN_PIPE_IN_ORDER =
        0, /* by number; a batch waits until all before it were taken or are gone */
    SSAN_PIPE_COMPLETED = 1 /* as they get done */
};

/* Zero means the default everywhere but `size`. */
struct ssan_pipe_options {
    size_t size;           /* sizeof(struct ssan_pipe_options) */
    const char *name;      /* for reports and errors, copied; default "pipe" */
    const int *devices;    /* device_count different ordinals, for slots and compute; copied */
    unsigned device_count; /* default: one, the calling thread's current device */
    unsigned slots;        /* of each device, 1 to 4096; default 2 */
    unsigned copy_streams; /* of each device, with one publisher thread each; default 1. More, if
                              producers use several streams and one must not hold up another */
    unsigned depth;      /* batches between acquire and take at most, over all devices; default: as
                            many as there are slots. Bounds how old a batch may get */
    unsigned share;      /* 0: any consumer takes any batch. n: batch number k is for consumers
                            with share_index k % n: each of these needs one */
    size_t input_bytes;  /* room of a slot's input; 0: batches have none */
    size_t output_bytes; /* room of a slot's output */
    uint64_t max_bytes;  /* input and output bytes of all batches between acquire and the slot's
                            return at most, as acquire asked for them; default no limit */
    enum ssan_pipe_order order;
    bool no_copy_out; /* the output stays on the device: no copy, no page-locked output; for device
                         consumers only */
    bool blocking_wait; /* the publisher sleeps while it waits for the device, and does not spin:
                           frees a core, costs some 10 us of latency */
    bool timing;        /* events take the time of stages, for ssan_pipe_stats.overlap: three more
                           records a batch */
};

/* A batch, as its owner sees it. The pipeline's memory. Producers may write `tag`, `input_bytes`
 * and `output_bytes` (to what the batch really has, at most what acquire gave; 0 is fine) until
 * compute returns; nothing else may be written. */
struct ssan_pipe_batch {
    uint64_t number;
    void *tag;          /* the producer's own, carried along */
    unsigned slot;      /* index of the slot, 0 to slots x devices - 1: for buffers of your own that
                           live as long as a slot's batch does. NOT to be used behind take by a
                           device consumer, whose batch has left the slot */
    int device;         /* where device_input and device_output are */
    size_t input_bytes; /* used bytes of input and device_input */
    size_t output_bytes; /* used bytes of device_output, and output or landed */
    void *input;         /* producer: page-locked, to be filled; NULL for others */
    void *device_input;  /* compute: filled when its stream gets there; NULL for others */
    void *device_output; /* compute: to be filled; NULL for others */
    void *output;        /* host consumer: page-locked, filled; NULL for others */
    void *landed;        /* device consumer: on its device, filled when its stream gets there */
};

/* Enqueues the work that makes device_output out of device_input, in `stream` or so that `stream`
 * comes behind it: kernels, copies on the device, what the program needs. Runs in submit's thread
 * with the slot's device current. Returns 0, or any other number as an error, such as the
 * cudaError_t of cudaGetLastError() behind a launch; then the batch is gone, and what it has
 * enqueued is waited for. Must return: not leave by longjmp, which loses the slot (destroy would
 * wait for ever) and the current device. An exception of C++ goes through submit to the caller, and
 * the batch is gone as if compute had failed; nobody may abandon it. Must not call the pipeline. */
typedef int ssan_pipe_compute(void *user, struct ssan_pipe_batch *batch,
                              struct CUstream_st *stream);

/* Makes a pipeline: all memory, streams, events and publisher threads. SSAN_PIPE_INVALID for
 * options that make no sense and devices that are not there, SSAN_PIPE_NO_MEMORY, SSAN_PIPE_CUDA;
 * on failure nothing is left. */
enum ssan_pipe_status ssan_pipe_create(const struct ssan_pipe_options *options,
                                       struct ssan_pipe **pipe, struct ssan_pipe_error *err);

/* Ordered shutdown: cancels; wakes threads that wait in calls and waits until they are out; waits
 * for the work under way, that of device consumers too; ends the threads; frees all, consumers
 * included. SSAN_PIPE_BUSY, if producers or consumers still hold batches (err says how many): the
 * pipeline is then cancelled and otherwise whole; release or abandon them and call again.
 * SSAN_PIPE_CUDA: all is freed as far as CUDA let it, and a call failed. NULL is fine. No call may
 * begin on the pipeline once this one has. */
enum ssan_pipe_status ssan_pipe_destroy(struct ssan_pipe *pipe, struct ssan_pipe_error *err);

/* What acquire is asked for. NULL: device index 0, the whole room of a slot. */
struct ssan_pipe_request {
    unsigned device_index; /* in options.devices */
    size_t input_bytes;    /* at most options.input_bytes; 0 is fine */
    size_t output_bytes;
};

/* Gets an empty slot for the next batch; waits, first come, first served, until there is one and
 * all limits allow it, up to `timeout_ns` (0: does not wait; SSAN_PIPE_FOREVER). Fill batch->input,
 * then submit or abandon. SSAN_PIPE_TIMEOUT, SSAN_PIPE_CLOSED, SSAN_PIPE_CANCELLED,
 * SSAN_PIPE_BROKEN (err->batch: which broke it), SSAN_PIPE_INVALID (more bytes than a slot or
 * max_bytes has). */
enum ssan_pipe_status ssan_pipe_acquire(struct ssan_pipe *pipe,
                                        const struct ssan_pipe_request *request,
                                        uint64_t timeout_ns, struct ssan_pipe_batch **batch,
                                        struct ssan_pipe_error *err);

/* Gives an acquired slot back unused. The number is skipped. Never waits. */
void ssan_pipe_abandon(struct ssan_pipe *pipe, struct ssan_pipe_batch *batch);

/* Enqueues upload, compute(user, batch, stream) and the copy out, and returns at once; the batch is
 * the pipeline's then, or gone if this fails, but with SSAN_PIPE_INVALID. `stream` is of the slot's
 * device and lives until the batch is published (flush waits for that); stream 0 works, but
 * serialises with blocking streams. SSAN_PIPE_FAILED (err->call and err->code: what failed),
 * SSAN_PIPE_CANCELLED, SSAN_PIPE_BROKEN, SSAN_PIPE_INVALID: no compute, not an acquired batch of
 * this pipeline, or sizes above what was acquired, also where compute set them; an acquired batch
 * is the caller's still, to submit again or abandon. When it fails with work enqueued, it waits for
 * that work. */
enum ssan_pipe_status ssan_pipe_submit(struct ssan_pipe *pipe, struct ssan_pipe_batch *batch,
                                       ssan_pipe_compute *compute, void *user,
                                       struct CUstream_st *stream, struct ssan_pipe_error *err);

/* Where a consumer wants its batches. NULL or all zero but size: on the host. */
struct ssan_pipe_consumer_options {
    size_t size;          /* sizeof(struct ssan_pipe_consumer_options) */
    unsigned share_index; /* 0 to options.share - 1 */
    bool on_device;       /* each batch is copied into memory of `device`, on a transfer stream of
                             the consumer's own */
    bool from_device;     /* from device_output, between devices if need be; else from the
                             page-locked output. Implied by no_copy_out */
    int device;           /* any device, also one with slots; SSAN_PIPE_INVALID: not there */
    unsigned landings;    /* buffers there, so batches held at once; default 2 */
    struct CUstream_st *stream; /* of `device`: where landed data is used; lives until destroy */
};

/* Makes a consumer; it lives until the pipeline is destroyed. SSAN_PIPE_INVALID,
 * SSAN_PIPE_NO_MEMORY, SSAN_PIPE_CUDA. With from_device, peer access between the devices is enabled
 * where they can have it, unless an error of an earlier call stands in cudaGetLastError; copies
 * work without it too. */
enum ssan_pipe_status ssan_pipe_consumer_create(struct ssan_pipe *pipe,
                                                const struct ssan_pipe_consumer_options *options,
                                                struct ssan_pipe_consumer **consumer,
                                                struct ssan_pipe_error *err);

/* Gets the next batch; waits up to `timeout_ns` (0: does not wait). A host consumer reads
 * batch->output at once. For a device consumer the copy into batch->landed is enqueued, and work
 * put into the consumer's stream from now on comes behind it. Release it in any case.
 * SSAN_PIPE_TIMEOUT; SSAN_PIPE_CLOSED: closed, and no batch can come any more; SSAN_PIPE_CANCELLED;
 * SSAN_PIPE_FAILED: batch err->batch has failed (err->call, err->code), nothing to release, go on;
 * SSAN_PIPE_BROKEN: broken, and all that was under way has been told; SSAN_PIPE_BUSY: the consumer
 * holds all its landings. */
enum ssan_pipe_status ssan_pipe_take(struct ssan_pipe_consumer *consumer, uint64_t timeout_ns,
                                     struct ssan_pipe_batch **batch, struct ssan_pipe_error *err);

/* Gives a taken batch back. Of a device consumer: the memory is used again behind the work that its
 * stream has now. Never waits, but on failure. SSAN_PIPE_CUDA (the batch is released all the same),
 * SSAN_PIPE_INVALID: not a batch that this consumer holds. */
enum ssan_pipe_status ssan_pipe_release(struct ssan_pipe_consumer *consumer,
                                        struct ssan_pipe_batch *batch, struct ssan_pipe_error *err);

/* Waits until every batch that was submitted before the call is published or has failed: their
 * compute has ended, and what it used may be changed. SSAN_PIPE_FAILED, SSAN_PIPE_BROKEN: a batch
 * failed behind its submit since the last flush or drain (the first one; all were waited for).
 * SSAN_PIPE_TIMEOUT. */
enum ssan_pipe_status ssan_pipe_flush(struct ssan_pipe *pipe, uint64_t timeout_ns,
                                      struct ssan_pipe_error *err);

/* Waits until no batch is under way: all were released, or are gone. Stop producing first;
 * consumers must go on. Statuses as flush; also after close or cancel. */
enum ssan_pipe_status ssan_pipe_drain(struct ssan_pipe *pipe, uint64_t timeout_ns,
                                      struct ssan_pipe_error *err);

/* No more batches: acquire answers SSAN_PIPE_CLOSED. Acquired ones may still be submitted, and
 * consumers get all that come, then SSAN_PIPE_CLOSED. */
void ssan_pipe_close(struct ssan_pipe *pipe);

/* Ends it early: acquire, submit and take answer SSAN_PIPE_CANCELLED, also those that wait; batches
 * that no consumer has are dropped as soon as the device is done with them. */
void ssan_pipe_cancel(struct ssan_pipe *pipe);

/* Latencies of the last and all earlier batches, in ns; exact to 1/16. */
struct ssan_pipe_latency {
    uint64_t p50_ns, p90_ns, p99_ns, max_ns;
};

/* Counts since create. Fill `size`, newer fields come at the end. */
struct ssan_pipe_stats {
    size_t size;                        /* sizeof(struct ssan_pipe_stats) */
    uint64_t submitted;                 /* batches whose submit succeeded */
    uint64_t published;                 /* of these: done without error */
    uint64_t released;                  /* of these: taken and given back */
    uint64_t failed;                    /* in submit, or behind it */
    uint64_t abandoned;                 /* by the producer */
    uint64_t dropped;                   /* by cancel or destroy */
    uint64_t input_bytes, output_bytes; /* of published batches */
    uint64_t busy_ns; /* time in which at least one batch was between submit and publication */
    double batches_per_s, bytes_per_s; /* published batches, their input and output bytes, a second
                                          of busy_ns */
    double in_flight; /* batches between submit and publication, on average over busy_ns: 1 says
                         that nothing overlaps */
    double overlap;   /* device time of all stages (upload, compute, copy) for each second of
                         busy_ns: above 1, stages ran at once; 0 without options.timing */
    uint64_t upload_ns, compute_ns, copy_ns; /* device time of each stage; with options.timing */
    uint64_t slot_waits, slot_wait_ns;       /* acquire had to wait for a slot */
    uint64_t limit_waits, limit_wait_ns;     /* ... for max_bytes or depth */
    struct ssan_pipe_latency device;         /* submit to publication */
    struct ssan_pipe_latency delivery;       /* publication to take */
    uint64_t pinned_bytes, device_bytes;     /* memory that the pipeline holds */
    uint64_t machine_bytes;                  /* main memory of this machine; 0: unknown */
    double pinned_share;                     /* pinned_bytes / machine_bytes */
    bool pinned_advice; /* above a quarter: page-locked memory can't be swapped or used as file
                           cache; fewer or smaller slots would do */
};

/* Never fails; SSAN_PIPE_INVALID only for a size this library does not know. */
enum ssan_pipe_status ssan_pipe_stats_get(struct ssan_pipe *pipe, struct ssan_pipe_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
