/* Keeps the unresolved stacks of a trace and resolves them once, when all modules are known.
 *
 * Invariant: a site gets line events only if the trace has none for it. Memory: the stacks of the
 * trace, which are few (one a distinct call path). */
#include "symbol/sites.h"

#include "symbol/launch_stub.h"
#include "symbol/object.h"
#include "symbol/symbols.h"

#include "trace/own_header.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "trace/own_header.h"

#include <string.h>

struct stack {
    uint32_t site, count;
    const uint64_t *frames;
};

struct sites {
    struct arena arena;
    struct symbols *symbols;
    VEC(struct stack) stacks;
    VEC(struct symbol_frame) told; /* frames whose producer knew their line */
    struct map told_of;            /* value in stacks -> index */
    struct map resolved;           /* site -> 1: has line events */
};

struct sites *sites_create(const char *directory)
{
    struct sites *sites = mem_zalloc(1, sizeof *sites);
    if (!sites) {
        return NULL;
    }
    sites->symbols = symbols_create(directory);
    if (!sites->symbols) {
        mem_free(sites);
        return NULL;
    }
    return sites;
}

static bool take_site(struct sites *sites, const struct ssan_ev_site *event)
{
    struct stack stack = {event->site, event->frames.count, NULL};
    uint64_t *frames;
    if (stack.count == 0) {
        return true;
    }
    frames = arena_alloc(&sites->arena, stack.count * sizeof *frames);
    if (!frames) {
        return false;
    }
    memcpy(frames, event->frames.ptr, stack.count * sizeof *frames);
    stack.frames = frames;
    return VEC_PUSH(&sites->stacks, stack);
}

static bool take_module(struct sites *sites, const struct ssan_ev_module *event)
{
    char *path = mem_strndup(event->path.ptr ? event->path.ptr : "", event->path.length);
    char *id = mem_strndup(event->build_id.ptr ? event->build_id.ptr : "", event->build_id.length);
    bool good = path && id && symbols_add_module(sites->symbols, event->module, path, id);
    mem_free(path);
    mem_free(id);
    return good;
}

static const char *keep(struct sites *sites, struct ssan_str text)
{
    char *kept = arena_alloc(&sites->arena, (size_t)text.length + 1);
    if (kept) {
        if (text.length > 0) {
            memcpy(kept, text.ptr, text.length);
        }
        kept[text.length] = '\0';
    }
    return kept;
}

static bool take_frame(struct sites *sites, const struct ssan_ev_frame *event)
{
    size_t length;
    const char *file = keep(sites, event->file);
    struct symbol_frame frame = {
        .function = keep(sites, event->function), .line = event->line, .language = event->language};
    if (!file || !frame.function) {
        return false;
    }
    frame.file = *file ? symbols_shorten(sites->symbols, file, strlen(file), &length) : NULL;
    return VEC_PUSH(&sites->told, frame) &&
           map_set(&sites->told_of, event->frame, sites->told.count - 1);
}

bool sites_take(struct sites *sites, const struct ssan_event *event)
{
    if (event->kind == SSAN_EV_site) {
        return take_site(sites, &event->site);
    }
    if (event->kind == SSAN_EV_frame) {
        return take_frame(sites, &event->frame);
    }
    if (event->kind == SSAN_EV_module) {
        return take_module(sites, &event->module);
    }
    if (event->kind == SSAN_EV_line) {
        return map_set(&sites->resolved, event->line.site, 1);
    }
    return true;
}

void sites_shorten(const struct sites *sites, struct ssan_event *event)
{
    size_t left;
    if (event->kind == SSAN_EV_line && event->line.file.length > 0) {
        event->line.file.ptr =
            symbols_shorten(sites->symbols, event->line.file.ptr, event->line.file.length, &left);
        event->line.file.length = (uint32_t)left;
    }
}

/* Whether a function is the C library's that calls main or a thread's function: no stack goes on
 * there. */
static bool is_start_code(const char *function)
{
    static const char *const names[] = {"__libc_start", "_start", "start_thread", "__clone",
                                        "clone3"};
    size_t i;
    for (i = 0; function && i < sizeof names / sizeof *names; i++) {
        if (strncmp(function, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return false;
}

static struct ssan_event line_event(uint32_t site, uint32_t depth, const struct symbol_frame *frame)
{
    struct ssan_event event = {.kind = SSAN_EV_line};
    event.line.site = site;
    event.line.depth = depth;
    event.line.file = ssan_str(frame->file ? frame->file : "");
    event.line.line = frame->line;
    event.line.function = ssan_str(frame->function ? frame->function : "");
    event.line.text = ssan_str(frame->text ? frame->text : "");
    event.line.language = frame->language;
    return event;
}

/* A stack that is gone through from its innermost frame. */
struct unfolding {
    struct sites *sites;
    struct launch_stub stub;
    const char *callee; /* the function of the frame before; NULL: unknown */
    bool ended;         /* at main, a thread's begin, or what `give` said */
    bool (*give)(void *self, const struct symbol_frame *frame);
    void *self;
};

/* Gives the frames of one return address. */
static void unfold_address(struct unfolding *unfolding, uint64_t address)
{
    const struct sites *sites = unfolding->sites;
    struct symbol_frame frames[OBJECT_MAX_INLINED];
    const uint64_t *told = map_find(&sites->told_of, address);
    size_t i, count = 1;
    if (told) {
        frames[0] = sites->told.items[*told];
    } else {
        count = symbols_resolve(sites->symbols, address, frames, OBJECT_MAX_INLINED);
    }
    for (i = 0; i < count && !unfolding->ended; i++) {
        if (!told && is_start_code(frames[i].function)) {
            unfolding->ended = true;
        } else if (told || !launch_stub_hides(&unfolding->stub, &frames[i])) {
            if (!told && unfolding->callee) {
                symbols_find_members(sites->symbols, &frames[i], unfolding->callee);
            }
            unfolding->callee = told ? NULL : frames[i].function;
            unfolding->ended =
                !unfolding->give(unfolding->self, &frames[i]) ||
                (!told && frames[i].function && strcmp(frames[i].function, "main") == 0);
        }
    }
}

static void unfold(struct sites *sites, const struct stack *stack,
                   bool (*give)(void *self, const struct symbol_frame *frame), void *self)
{
    struct unfolding unfolding = {.sites = sites, .give = give, .self = self};
    for (uint32_t i = 0; i < stack->count && !unfolding.ended; i++) {
        unfold_address(&unfolding, stack->frames[i]);
    }
}

/* Makes `line` events of the frames of a stack. */
struct giving {
    uint32_t site, depth;
    bool failed;
    bool (*give)(void *self, const struct ssan_event *event);
    void *self;
};

static bool give_frame(void *self, const struct symbol_frame *frame)
{
    struct giving *giving = self;
    struct ssan_event event = line_event(giving->site, giving->depth++, frame);
    giving->failed = !giving->give(giving->self, &event);
    return !giving->failed;
}

/* The candidates of a device site: a line event for each place, once. */
static bool give_candidates(struct sites *sites, const struct stack *stack,
                            bool (*give)(void *self, const struct ssan_event *event), void *self)
{
    struct map seen = {0};
    uint32_t depth = 0, k;
    bool fine = true;
    for (k = 0; k < stack->count && fine; k++) {
        struct symbol_frame frames[OBJECT_MAX_INLINED];
        struct ssan_event event;
        uint64_t key;
        if (symbols_resolve(sites->symbols, stack->frames[k], frames, OBJECT_MAX_INLINED) == 0) {
            continue;
        }
        event = line_event(stack->site, depth, &frames[0]);
        const char *where = frames[0].file       ? frames[0].file
                            : frames[0].function ? frames[0].function
                                                 : "";
        key = hash_bytes(hash_mix(frames[0].line, 0), where, strlen(where));
        if (!map_find(&seen, key)) {
            fine = map_set(&seen, key, 1) && give(self, &event);
            depth++;
        }
    }
    map_finish(&seen);
    return fine;
}

bool sites_resolve(struct sites *sites, bool (*give)(void *self, const struct ssan_event *event),
                   void *self)
{
    size_t i;
    for (i = 0; i < sites->stacks.count; i++) {
        const struct stack *stack = &sites->stacks.items[i];
        struct giving giving = {.site = stack->site, .give = give, .self = self};
        if (map_find(&sites->resolved, stack->site)) {
            continue;
        }
        if (symbols_is_device(sites->symbols, stack->frames[0])) {
            if (!give_candidates(sites, stack, give, self)) {
                return false;
            }
            continue;
        }
        unfold(sites, stack, give_frame, &giving);
        if (giving.failed) {
            return false;
        }
    }
    return true;
}

/* The frame of a stack that is shown alone. */
struct choice {
    struct symbol_frame frame;
    unsigned rank; /* 0: none, 1: with a name, 2: with a line, 3: in the user's code */
};

static bool choose(void *self, const struct symbol_frame *frame)
{
    struct choice *choice = self;
    unsigned rank = frame->function != NULL;
    if (frame->file && !is_own_header(frame->file, strlen(frame->file))) {
        rank = is_library_file(frame->file, strlen(frame->file)) ? 2 : 3;
    }
    if (rank > choice->rank) {
        choice->frame = *frame;
        choice->rank = rank;
    }
    return rank < 3;
}

bool sites_place(struct sites *sites, uint32_t site, struct symbol_frame *frame)
{
    struct choice choice = {.rank = 0};
    size_t i = sites->stacks.count;
    while (i-- > 0) {
        if (sites->stacks.items[i].site == site) {
            unfold(sites, &sites->stacks.items[i], choose, &choice);
            break;
        }
    }
    *frame = choice.frame;
    return choice.rank > 0;
}

void sites_explain(const struct sites *sites, struct strbuf *out)
{
    symbols_explain(sites->symbols, out);
}

void sites_destroy(struct sites *sites)
{
    if (sites) {
        symbols_destroy(sites->symbols);
        VEC_FREE(&sites->stacks);
        VEC_FREE(&sites->told);
        map_finish(&sites->told_of);
        map_finish(&sites->resolved);
        arena_finish(&sites->arena);
        mem_free(sites);
    }
}
