/* The session that the tool made for this run: the control page, the trace file, the first event.
 *
 * Without STREAMSAN_SESSION, or with a page of another version, the program runs and nothing is
 * written. */
#include "trace/session.h"
#include "vcuda/emit.h"
#include "vcuda/plan_fails.h"
#include "vcuda/plan_order.h"
#include "vcuda/plan_sites.h"
#include "vcuda/sched.h"
#include "vcuda/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock; /* for opening */
    bool tried;
    struct control_page *page;
    struct writer *writer;
    bool unread;      /* the schedule could not be read: another one is followed */
    struct plan plan; /* for good: the device follows it */
} session = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The schedule of the session, else of the environment, else eager. Tells of a word that it doesn't
 * know. */
static void choose_schedule(const char *directory)
{
    const struct control_page *page = session.page;
    const char *words = page ? page->schedule : getenv("STREAMSAN_SCHEDULE");
    char path[4200] = "";
    struct ssan_error err = {0};
    if (!words || !*words) {
        words = "eager";
    }
    if (page) {
        snprintf(path, sizeof path, "file:%s/%s", directory, CONTROL_PLAN);
    }
    plan_finish(&session.plan); /* of the parent, in a forked child */
    if (plan_read(&session.plan, page && access(path + strlen("file:"), F_OK) == 0 ? path : words,
                  &err)) {
        fprintf(stderr, "streamsan: the schedule can't be read, eager is used: %s\n", err.text);
        session.unread = true;
        plan_finish(&session.plan);
        (void)plan_read(&session.plan, "eager", NULL);
    }
    snprintf(device.schedule, sizeof device.schedule, "%s", words);
    sched_set(session.plan.policy);
}

/* Behind the first event, since a plan that can't be followed is told. */
static void take_plan(void)
{
    const struct control_page *page = session.page;
    int64_t limit_ms =
        page && page->plan_limit_ms ? (int64_t)page->plan_limit_ms : CONTROL_PLAN_LIMIT_MS;
    plan_order_follow(&session.plan, limit_ms * 1000000, page && (page->flags & CONTROL_CALLS));
    plan_sites_follow(&session.plan);
    if (!plan_fails_follow(&session.plan)) {
        plan_order_give_up("there was no memory for the failures");
    }
    if (session.unread) {
        plan_order_give_up("it could not be read");
    }
}

/* A plan of the user's own may leave calls out without saying it in words. */
static const char *altered(const struct plan *plan)
{
    if (plan->note) {
        return plan->note;
    }
    for (size_t i = 0; i < plan->places.count; i++) {
        if (plan->places.items[i].use == PLAN_IGNORE) {
            return "calls left out by the schedule";
        }
    }
    if (plan->fails.count > 0) {
        return "calls made to fail by the schedule";
    }
    return plan->places.count > 0 || plan->serialize_all || plan->serialize_streams.count > 0
               ? "waits added by the schedule"
               : "";
}

/* As many as the tool says, without it as the environment says, else one. */
static uint32_t count_devices(void)
{
    const char *words = getenv("STREAMSAN_DEVICES");
    char *end;
    unsigned long count = session.page ? session.page->devices : 1;
    if (!session.page && words && *words) {
        count = strtoul(words, &end, 10);
        if (*end || count < 1 || count > CONTROL_MOST_DEVICES) {
            fprintf(stderr,
                    "streamsan: STREAMSAN_DEVICES is '%s', not a number from 1 to %d; there "
                    "is one device\n",
                    words, CONTROL_MOST_DEVICES);
            count = 1;
        }
    }
    return count >= 1 && count <= CONTROL_MOST_DEVICES ? (uint32_t)count : 1;
}

static void open_locked(void)
{
    const char *directory = getenv(CONTROL_ENV);
    struct ssan_error err;
    session.tried = true;
    if (directory && *directory) {
        session.page = session_map_page(directory);
    }
    choose_schedule(directory);
    device.count = count_devices();
    if (!session.page) {
        take_plan();
        return;
    }
    session.writer = session_open_trace(directory, session.page, &err);
    if (!session.writer) {
        fprintf(stderr, "streamsan: no trace is written: %s\n", err.text);
        take_plan();
        return;
    }
    session_tell_process(writer_sink(session.writer),
                         (struct ssan_ev_process){.source = SSAN_producer_VIRTUAL_DEVICE,
                                                  .accesses = SSAN_accesses_EXACT,
                                                  .host = SSAN_host_scope_OFF,
                                                  .schedule = ssan_str(device.schedule),
                                                  .altered = ssan_str(altered(&session.plan))});
    if (session.page->flags & CONTROL_SNAPSHOT) {
        snapshot_open(writer_path(session.writer), session.page->snapshot_limit_bytes);
    }
    emit_to(writer_sink(session.writer));
    take_plan();
}

void emit_open(void)
{
    device_prepare();
    pthread_mutex_lock(&session.lock);
    if (!session.tried) {
        open_locked();
    }
    pthread_mutex_unlock(&session.lock);
}

void emit_finish(uint32_t code)
{
    emit_exit(session.writer, code);
}

void emit_detach(void)
{
    pthread_mutex_init(&session.lock, NULL);
    snapshot_detach();
    if (session.writer) {
        writer_detach(session.writer);
    }
    emit_to(NULL);
    session.writer = NULL;
    session.tried = false;
}

uint64_t emit_query_findings(uint32_t thread)
{
    struct ssan_sink *sink = emit_sink();
    return sink && session.page ? session_ask_findings(session.page, sink, thread) : 0;
}
