/* Maps the control page, opens the trace and begins it. Producers keep what they get; the only
 * state is a limit that tests set. */
#include "trace/session.h"

#include "trace/message.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int64_t findings_wait_ns = INT64_C(10) * 1000 * 1000 * 1000;

int64_t session_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct control_page *session_map_page(const char *directory)
{
    char path[4096];
    struct control_page *page;
    int fd;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, CONTROL_FILE) >= sizeof path) {
        return NULL;
    }
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    page = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page == MAP_FAILED) {
        return NULL;
    }
    if (page->magic != CONTROL_MAGIC || page->version != CONTROL_VERSION) {
        munmap(page, CONTROL_BYTES);
        return NULL;
    }
    return page;
}

struct writer *session_open_trace(const char *directory, const struct control_page *page,
                                  struct ssan_error *err)
{
    struct writer *writer =
        writer_create(directory, page->trace_limit_bytes, page->kill_after_records, err);
    if (writer) {
        writer_watch(writer, (int64_t)page->tool_pid);
    }
    return writer;
}

void session_tell_process(struct ssan_sink *sink, struct ssan_ev_process process)
{
    char command[16384];
    ssize_t length = 0;
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    struct ssan_event event = {.kind = SSAN_EV_process, .process = process};
    if (fd >= 0) {
        length = read(fd, command, sizeof command);
        close(fd);
    }
    while (length > 0 && command[length - 1] == '\0') {
        length--;
    }
    event.process.pid = (uint32_t)getpid();
    event.process.parent_pid = (uint32_t)getppid();
    event.process.command = (struct ssan_str){command, length > 0 ? (uint32_t)length : 0};
    event.process.written_by = ssan_str("streamsan " STREAMSAN_VERSION);
    ssan_put(sink, &event);
}

uint64_t session_ask_findings(struct control_page *page, struct ssan_sink *sink, uint32_t thread)
{
    struct ssan_event event = {.kind = SSAN_EV_query_findings,
                               .query_findings = {.thread = thread}};
    int64_t deadline = session_now_ns() + findings_wait_ns;
    const struct timespec pause = {.tv_nsec = 200 * 1000};
    uint64_t request = __atomic_add_fetch(&page->findings_asked, 1, __ATOMIC_ACQ_REL);
    event.query_findings.request = request;
    ssan_put(sink, &event);
    while (__atomic_load_n(&page->findings_answered, __ATOMIC_ACQUIRE) < request) {
        if (session_now_ns() > deadline) {
            message_once(
                "the program asked for the number of findings, and what it had done was not "
                "judged in time: it got",
                "0");
            event = (struct ssan_event){.kind = SSAN_EV_unsupported};
            event.unsupported = (struct ssan_ev_unsupported){
                ssan_str("SSAN_FINDINGS: the answer came too late"), thread, 0};
            ssan_put(sink, &event);
            return 0;
        }
        nanosleep(&pause, NULL);
    }
    return __atomic_load_n(&page->findings, __ATOMIC_ACQUIRE);
}

void session_set_findings_wait(int64_t wait_ns)
{
    findings_wait_ns = wait_ns;
}
