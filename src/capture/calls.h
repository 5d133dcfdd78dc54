/* The API calls that a thread is in, outermost first, and what they have done so far.
 *
 * A call of the runtime nests calls of the driver; what a program wrote is the outermost one, so
 * that one names every record. Everything here belongs to its thread. */
#ifndef SSAN_CAPTURE_CALLS_H
#define SSAN_CAPTURE_CALLS_H

#include "capture/cuda_abi.h"

#include <stdbool.h>
#include <stdint.h>

/* A row of api_calls.def. */
struct api_call {
    const char *name;
    uint32_t domain, number;
    enum api_class class;
    enum api_form form;
    bool per_thread; /* a NULL stream is the per-thread one */
    bool has_array;  /* may copy to or from an array, of which no callback tells */
    bool is_batch;
    bool has_attributes; /* of launches: struct cuda_launch_ex_params */
    bool begins_capture, ends_capture, launches_graph;
    bool takes_memory; /* or asks how much there is */
    bool is_of_host;   /* so none of the device's */
    bool gives_size;   /* its parameters begin as those of cudaMalloc: struct cuda_alloc_params */
};

/* How many rows there are; NULL behind the last. */
const struct api_call *calls_row(uint32_t index);
/* NULL for a call that is not listened to. */
const struct api_call *calls_find(uint32_t domain, uint32_t number);

#define CALLS_DEPTH 6

struct call_frame {
    const struct api_call *call;
    const void *params; /* valid until the call's exit */
};

struct hostfunc;

/* What the graph does that a thread's call launches. */
struct graph_facts {
    uint32_t kernels, copies, memsets, others;
    const char *kernel; /* the first, for people; lives as long as the process */
};

struct thread {
    uint32_t id;    /* of the host thread; 1: main */
    uint32_t depth; /* calls that the thread is in; frames[] has the first CALLS_DEPTH */
    struct call_frame frames[CALLS_DEPTH];
    uint32_t site; /* of the outermost call */
    bool has_site;
    uint32_t accepted;  /* items that the outermost call has submitted */
    uint64_t transfer;  /* a copy or memset that has not returned; 0: none */
    uint64_t launch;    /* the op of the launch in progress */
    bool behind_kernel; /* the last item that was put stands behind a kernel in its stream */
    uint64_t sync;      /* in progress; 0: none */
    int64_t sync_began_ns;
    struct hostfunc *hostfunc; /* being submitted */
    bool hostfunc_unseen;      /* one is, of which nothing is told */
    struct graph_facts graph;
    bool forbids;       /* borrow.h: in its outermost call */
    bool makes_context; /* is inside of the creation of one */
    CUcontext context;  /* current at the last API callback */
    uint64_t callback;  /* the op whose host function this thread runs */
    bool library_asks;  /* questions for the last error are a library's own (SSAN_LIBRARY_ASKS) */
};

/* The calling thread. */
struct thread *calls_thread(void);
/* Name of the outermost call; "a call of the driver" outside of those listened to. */
const char *calls_name(const struct thread *thread);
/* Stack of the outermost call, asked for once. Not under the lock of emit.h. */
uint32_t calls_site(struct thread *thread);
/* The innermost call of this class that the thread is in, or NULL. */
const struct call_frame *calls_inside(const struct thread *thread, enum api_class class);

/* Fills the table. One thread, first of all. */
void calls_open(void);
/* In a forked child: this is its main thread. */
void calls_detach(void);

#endif
