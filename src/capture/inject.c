/* Begins and ends the capture of a process.
 *
 * The driver calls InitializeInjection when the program initialises CUDA; from then on the
 * sanitizer library calls back. Without a session (STREAMSAN_SESSION), or where something is
 * missing, the program runs as if we weren't there; what is missing is told once and stands in the
 * trace, so that the run is incomplete. The library may also be preloaded into any program:
 * nothing happens in one that has no CUDA but that its end is watched. */
#include "capture/dispatch.h"
#include "capture/emit.h"
#include "capture/gate.h"
#include "capture/memory.h"
#include "capture/observe.h"
#include "capture/stack.h"
#include "capture/variables.h"

#include "trace/leaving.h"
#include "trace/message.h"
#include "trace/session.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED      __attribute__((visibility("default")))
#define SANITIZER_ENV "STREAMSAN_SANITIZER"

struct sanitizer_api capture_api;

static struct {
    atomic_bool opened;
    atomic_bool listens; /* callbacks are for us */
    struct control_page *page;
    struct writer *writer;
    pthread_once_t plan_once;
    struct observe_plan plan;
    bool plan_failed;
} session = {.plan_once = PTHREAD_ONCE_INIT};

int InitializeInjection(void);

/* Path of a file beside this library; "" when that is too long. */
static void path_beside(const char *name, char *path, size_t room)
{
    Dl_info info;
    const char *slash;
    path[0] = '\0';
    if (dladdr(&session, &info) && info.dli_fname) {
        slash = strrchr(info.dli_fname, '/');
        int length = slash ? (int)(slash - info.dli_fname) + 1 : 0;
        if ((size_t)snprintf(path, room, "%.*s%s", length, info.dli_fname, name) >= room) {
            path[0] = '\0';
        }
    }
}

static void on_callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
    struct sanitizer_event_data event;
    int error = errno;
    if (!atomic_load_explicit(&session.listens, memory_order_relaxed) || !emit_is_on() ||
        observe_is_own_thread()) {
        return;
    }
    switch (domain) {
    case SANITIZER_DRIVER_API:
    case SANITIZER_RUNTIME_API:
        on_api(domain, id, data);
        break;
    case SANITIZER_LAUNCH:
        on_launch(id, data);
        break;
    case SANITIZER_MEMCPY:
        if (id == SANITIZER_MEMCPY_STARTING) {
            on_memcpy(data);
        }
        break;
    case SANITIZER_MEMSET:
        on_memset(data);
        break;
    case SANITIZER_EVENTS:
        event = sanitizer_event_data(&capture_api, data);
        on_event(id, &event);
        break;
    case SANITIZER_SYNCHRONIZE:
        on_synchronize(id, data);
        break;
    case SANITIZER_RESOURCE:
        on_resource(id, data);
        break;
    case SANITIZER_GRAPHS:
        on_graph(id, data);
        break;
    default:
        break;
    }
    errno = error;
}

/* A run that can't be seen whole: the user gets the sentence, the trace `name`, as what is not
 * modelled. */
static void give_up(const char *name, const char *sentence)
{
    message_tell(sentence);
    emit_unsupported(name, 1, 0);
}

static void enable_all(void)
{
    static const uint32_t domains[] = {SANITIZER_RESOURCE, SANITIZER_SYNCHRONIZE, SANITIZER_LAUNCH,
                                       SANITIZER_MEMCPY,   SANITIZER_MEMSET,      SANITIZER_GRAPHS,
                                       SANITIZER_EVENTS};
    const struct api_call *call;
    for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++) {
        if (capture_api.enable_domain(1, capture_api.subscriber, domains[i]) != SANITIZER_OK) {
            give_up("a driver that is too old",
                    "the driver is too old for the Compute Sanitizer API of this toolkit; one of "
                    "CUDA 12.4 or newer is needed");
            return;
        }
    }
    for (uint32_t i = 0; (call = calls_row(i)) != NULL; i++) {
        /* A number that the library doesn't know yet belongs to a call that it can't make. */
        (void)capture_api.enable_callback(1, capture_api.subscriber, call->domain, call->number);
    }
}

static void start(enum ssan_accesses accesses, const char *failed)
{
    struct strbuf observed = {0};
    observe_plan_words(&session.plan, &observed);
    session_tell_process(writer_sink(session.writer),
                         (struct ssan_ev_process){.source = SSAN_producer_GPU,
                                                  .accesses = accesses,
                                                  .host = SSAN_host_scope_OFF,
                                                  .schedule = ssan_str("gpu"),
                                                  .altered = ssan_str(""),
                                                  .observed = ssan_str(strbuf_text(&observed))});
    strbuf_finish(&observed);
    emit_open(writer_sink(session.writer));
    if (!stack_open(writer_sink(session.writer))) {
        emit_unsupported("stacks: no memory", 1, 0);
    }
    if (failed) {
        give_up("a Compute Sanitizer API that can't be had", failed);
        return;
    }
    if (accesses < session.plan.accesses) {
        emit_unsupported("accesses of kernels were not observed: the device patches are missing", 1,
                         0);
    }
    if (session.plan_failed) {
        emit_unsupported("the plan of what is observed can't be read", 1, 0);
    }
    if (getenv("CUDA_LAUNCH_BLOCKING") && strcmp(getenv("CUDA_LAUNCH_BLOCKING"), "0") != 0) {
        give_up("CUDA_LAUNCH_BLOCKING=1",
                "CUDA_LAUNCH_BLOCKING is set: every launch waits, so that no two overlap; run "
                "without it");
    }
    atomic_store(&session.listens, true);
    enable_all();
}

static void read_plan(void)
{
    const char *directory = getenv(CONTROL_ENV);
    struct ssan_error err = {0};
    observe_plan_init(&session.plan);
    if (directory && *directory && observe_plan_read(&session.plan, directory, &err) != SSAN_OK) {
        message_tell(err.text);
        observe_plan_finish(&session.plan);
        observe_plan_init(&session.plan);
        session.plan_failed = true;
    }
}

const struct observe_plan *capture_plan(void)
{
    pthread_once(&session.plan_once, read_plan);
    return &session.plan;
}

/* What the process is observed with; the text of what is missing, or NULL. */
static const char *prepare(const char *directory, enum ssan_accesses *accesses,
                           struct ssan_error *err)
{
    static char patches[PATH_MAX], gates[PATH_MAX], folder[PATH_MAX];
    const char *path = getenv(SANITIZER_ENV);
    struct observe_setup setup = {&capture_api, &session.plan, patches, folder};
    snprintf(folder, sizeof folder, "%s", directory);
    (void)capture_plan();
    if (sanitizer_load(path && *path ? path : "libsanitizer-public.so", &capture_api, err) !=
            SSAN_OK ||
        sanitizer_subscribe(&capture_api, on_callback, NULL, err) != SSAN_OK) {
        return err->text;
    }
    variables_open();
    path_beside("patches.fatbin", patches, sizeof patches);
    path_beside(GATE_PATCHES, gates, sizeof gates);
    *accesses = observe_start(&setup);
    (void)gate_start(&session.plan, &capture_api, gates, *accesses == SSAN_accesses_OFF);
    return NULL;
}

static void open_session(const char *directory)
{
    enum ssan_accesses accesses = SSAN_accesses_OFF;
    struct ssan_error err = {0};
    const char *failed;
    session.page = session_map_page(directory);
    if (!session.page) {
        return;
    }
    session.writer = session_open_trace(directory, session.page, &err);
    if (!session.writer) {
        message_once("no trace is written:", err.text); /* past stdio, whose lock may be held */
        return;
    }
    calls_open();
    failed = prepare(directory, &accesses, &err);
    start(accesses, failed);
}

/* While the driver still answers; the trace stays open for what destructors do. */
static void on_early_exit(int code, void *unused)
{
    static struct leaving_task task; /* behind it another thread may end the trace */
    const struct thread *thread = calls_thread();
    if (atomic_load(&session.listens) && emit_is_on() && leaving_begin(&task)) {
        gate_exit(writer_sink(session.writer));
        /* A signal handler that ends the process inside of a call, or a host function: the driver
         * and we may hold locks. What is not drained stays open, so the run is incomplete. */
        if (thread->depth == 0 && thread->callback == 0) {
            observe_exit();
        }
        leaving_done(&task);
    }
}

static void on_end(int code)
{
    on_early_exit(code, NULL); /* behind a short way out: exit has done it before */
    emit_exit(session.writer, (uint32_t)code & 0xff);
}

/* A forked child has no CUDA where its parent had; else it may begin a session of its own. */
static void in_child(void)
{
    bool was_open = atomic_exchange(&session.opened, false);
    emit_detach();
    atomic_store(&session.listens, false);
    calls_detach();
    message_forget();
    if (was_open) {
        handles_detach();
        memory_forget();
        stack_detach();
        observe_detach();
        gate_detach();
    }
}

__attribute__((constructor)) static void watch_the_end(void)
{
    leaving_watch(on_end);
    pthread_atfork(NULL, NULL, in_child);
}

/* Called by the driver; it unloads a library that answers 0. */
EXPORTED int InitializeInjection(void)
{
    const char *directory = getenv(CONTROL_ENV);
    if (directory && *directory && !atomic_exchange(&session.opened, true)) {
        on_exit(on_early_exit, NULL);
        open_session(directory);
    }
    return 1;
}

uint64_t capture_ask_findings(uint32_t thread)
{
    return session.page && emit_is_on()
               ? session_ask_findings(session.page, writer_sink(session.writer), thread)
               : 0;
}
