/* Loaded into a Python by capture_python.py: takes stacks and gives them back as text. */
#include "capture/stack.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

API int test_open(void);
API uint32_t test_take(void);
API uint32_t test_call(uint32_t (*function)(void));
API char *test_text(uint32_t site);
API void test_free(char *text);
API uint64_t test_lost(void);

struct list {
    char **items;
    size_t count;
};

/* What the trace was told: texts of Python frames by their numbers, and stacks by ids. */
static struct {
    struct ssan_sink sink;
    pthread_mutex_t lock;
    struct list frames;
    struct {
        uint64_t *frames;
        uint32_t count;
    } * sites;
    size_t site_count;
    uint64_t lost;
} told = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void put_frame(const struct ssan_ev_frame *frame)
{
    char *text = malloc(frame->file.length + frame->function.length + 32u);
    told.frames.items =
        realloc(told.frames.items, (told.frames.count + 1) * sizeof *told.frames.items);
    if (!text || !told.frames.items ||
        (frame->frame & ((UINT64_C(1) << 48) - 1)) != told.frames.count + 1) {
        abort();
    }
    sprintf(text, "%.*s\t%" PRIu32 "\t%.*s\n", (int)frame->file.length, frame->file.ptr,
            frame->line, (int)frame->function.length, frame->function.ptr);
    told.frames.items[told.frames.count++] = text;
}

static void put_site(const struct ssan_ev_site *site)
{
    size_t bytes = site->frames.count * sizeof(uint64_t);
    told.sites = realloc(told.sites, (told.site_count + 1) * sizeof *told.sites);
    if (!told.sites || site->site != told.site_count + 1) {
        abort();
    }
    told.sites[told.site_count].frames = malloc(bytes);
    memcpy(told.sites[told.site_count].frames, site->frames.ptr, bytes);
    told.sites[told.site_count++].count = site->frames.count;
}

static void put(struct ssan_sink *sink, const struct ssan_event *event)
{
    pthread_mutex_lock(&told.lock);
    if (event->kind == SSAN_EV_frame) {
        put_frame(&event->frame);
    } else if (event->kind == SSAN_EV_site) {
        put_site(&event->site);
    } else if (event->kind == SSAN_EV_lost) {
        told.lost++;
    }
    pthread_mutex_unlock(&told.lock);
}

int test_open(void)
{
    told.sink.put = put;
    return stack_open(&told.sink);
}

uint32_t test_take(void)
{
    return stack_site();
}

uint32_t test_call(uint32_t (*function)(void))
{
    uint32_t id = function();
    __asm__ volatile("" : : "r"(&id) : "memory");
    return id;
}

/* The frames of a site, innermost first, one a line: "file<tab>line<tab>function", or "native". */
char *test_text(uint32_t site)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    pthread_mutex_lock(&told.lock);
    if (!out || site == 0 || site > told.site_count) {
        abort();
    }
    for (uint32_t i = 0; i < told.sites[site - 1].count; i++) {
        uint64_t frame = told.sites[site - 1].frames[i];
        fputs(frame >> 48 == 0xffff ? told.frames.items[(uint32_t)frame - 1] : "native\n", out);
    }
    pthread_mutex_unlock(&told.lock);
    fclose(out);
    return text;
}

void test_free(char *text)
{
    free(text);
}

uint64_t test_lost(void)
{
    return told.lost;
}
