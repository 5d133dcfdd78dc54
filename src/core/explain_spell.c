/* From calls of the trace to the words of the source.
 *
 * Looks at the statement of the frame that is shown, then outwards: where a wrapper makes the call,
 * its own caller names the variable. What no text tells is NULL (names) or a made-up word marked as
 * guessed (edits). */
#include "core/explain_spell.h"

#include <string.h>

#include "core/explain_names.h"

/* The text of the frame that is shown, NULL when unknown. */
static const char *shown_text(const struct history *history, uint32_t site)
{
    return history_place(history, site).text;
}

static const char *made_up(struct arena *arena, const char *what, uint32_t ordinal)
{
    char digits[12];
    size_t count = 0;
    char *text = arena_alloc(arena, strlen(what) + sizeof digits + 1);
    if (!text) {
        return NULL;
    }
    do {
        digits[count++] = (char)('0' + ordinal % 10);
        ordinal /= 10;
    } while (ordinal > 0);
    size_t length = strlen(what);
    memcpy(text, what, length);
    while (count > 0) {
        text[length++] = digits[--count];
    }
    return text;
}

static struct names_span call_argument(const struct history *history, const struct hist_item *item,
                                       enum names_role role)
{
    const size_t nth = history_nth_on_line(history, item->site, item->call);
    return names_argument(shown_text(history, item->site), item->call,
                          item->kind == SSAN_op_kind_KERNEL ? item->name : NULL, nth, role);
}

struct spelling spell_stream(const struct history *history, struct arena *arena, uint32_t item)
{
    const struct hist_item *call = &history->items.items[item];
    const struct hist_stream *stream = &history->streams.items[call->stream];
    const struct names_span argument = call_argument(history, call, NAMES_STREAM);
    if (argument.length > 0) {
        return (struct spelling){.text = names_copy(arena, argument)};
    }
    if (stream->flavour == SSAN_stream_flavour_LEGACY) {
        return (struct spelling){.text = "cudaStreamLegacy"};
    }
    if (stream->flavour == SSAN_stream_flavour_PER_THREAD) {
        return (struct spelling){.text = "cudaStreamPerThread"};
    }
    const char *variable = spell_created_stream(history, arena, call->stream);
    return (struct spelling){variable ? variable : made_up(arena, "stream_", stream->ordinal), true,
                             !variable && history_site(history, stream->site)->of_library};
}

struct spelling spell_event(const struct history *history, struct arena *arena, uint32_t item)
{
    const struct hist_item *call = &history->items.items[item];
    const struct names_span argument = call_argument(history, call, NAMES_EVENT);
    if (argument.length > 0) {
        return (struct spelling){.text = names_copy(arena, argument)};
    }
    const char *variable = spell_created_event(history, arena, call->event);
    const struct hist_event *event = &history->events.items[call->event];
    return (struct spelling){variable ? variable : made_up(arena, "event_", event->ordinal), true,
                             !variable && history_site(history, event->site)->of_library};
}

#define PLAIN_MAX 128

/* The name of a frame's function without scope, arguments and template arguments; false: unknown or
 * too long. */
static bool plain_function(const struct hist_site *site, size_t frame, char plain[PLAIN_MAX])
{
    const char *function = site->frames[frame].function;
    if (!function) {
        return false;
    }
    size_t length = strcspn(function, "(<");
    const char *begin = function + length;
    while (begin > function && begin[-1] != ':' && begin[-1] != ' ') {
        begin--;
    }
    length = (size_t)(function + length - begin);
    if (length == 0 || length >= PLAIN_MAX) {
        return false;
    }
    memcpy(plain, begin, length);
    plain[length] = '\0';
    return true;
}

static bool is_plain(struct names_span name)
{
    for (size_t i = 0; i < name.length; i++) {
        if (strchr("[].->: ", name.ptr[i])) {
            return false;
        }
    }
    return name.length > 0;
}

/* Whether a function makes nothing else: no other statement of it creates an object. */
static bool is_factory(const struct history *history, const struct place *maker)
{
    for (size_t i = 0; i < history->sites.count; i++) {
        const struct hist_site *site = &history->sites.items[i];
        for (size_t frame = 0; frame < site->frame_count; frame++) {
            const struct place *place = &site->frames[frame];
            const bool other = place->line != maker->line || place->text != maker->text;
            if (other && history_same_function(*place, *maker) && names_creates(place->text)) {
                return false;
            }
        }
    }
    return true;
}

/* Which of the calls on the lines of its stack a site stands for, from 0, in order of appearance.
 */
static size_t nth_of_stack(const struct history *history, const struct hist_site *site)
{
    size_t nth = 0;
    for (const struct hist_site *at = history->sites.items; at < site; at++) {
        nth += at->stack_key == site->stack_key;
    }
    return nth;
}

/* The variable that the caller of a wrapper passes or sets: from the frame outside of `frame`.
 * `made` as in history_nth_on_line. */
static struct names_span outer_name(const struct history *history, uint32_t site, size_t frame,
                                    const char *made)
{
    const struct hist_site *found = history_site(history, site);
    const size_t outer = frame + 1;
    char plain[PLAIN_MAX];
    if (outer >= found->frame_count || !plain_function(found, frame, plain)) {
        return (struct names_span){NULL, 0};
    }
    const size_t nth = outer == found->user ? history_nth_on_line(history, site, made)
                                            : nth_of_stack(history, found);
    return names_wrapped_by(found->frames[outer].text, plain, nth);
}

/* A local variable of a function that makes one object and hands it out says less than the variable
 * that its caller sets: that one, if any. */
static struct names_span handed_out(const struct history *history, const struct hist_site *site,
                                    size_t frame)
{
    const struct names_span none = {NULL, 0};
    char plain[PLAIN_MAX];
    struct names_call call;
    if (frame + 1 >= site->frame_count || !is_factory(history, &site->frames[frame])) {
        return none;
    }
    for (size_t i = frame; i + 1 < site->frame_count && plain_function(site, i, plain); i++) {
        const char *text = site->frames[i + 1].text;
        const struct names_span name = names_assigned(text, plain, nth_of_stack(history, site));
        if (name.length > 0) {
            return name;
        }
        if (!text || strncmp(text, "return", 6) != 0 || !names_find_call(text, plain, 0, &call)) {
            break;
        }
    }
    return none;
}

/* The variable that the call in a frame is given the address of; where that is passed on or handed
 * out, the caller's, who knows it better. */
static struct names_span given_name(const struct history *history, uint32_t site, size_t frame,
                                    const char *made, struct names_span argument)
{
    const struct names_span name = names_variable(argument);
    struct names_span outer = {NULL, 0};
    if (!memchr(argument.ptr, '&', argument.length)) {
        outer = outer_name(history, site, frame, made);
    } else if (is_plain(name)) {
        outer = handed_out(history, history_site(history, site), frame);
    }
    return outer.length > 0 ? outer : name;
}

static const char *created(const struct history *history, struct arena *arena, uint32_t site,
                           const char *made, const char *const *calls, size_t call_count)
{
    const struct hist_site *found = history_site(history, site);
    struct names_span name = {NULL, 0};
    struct names_call call;
    for (size_t frame = found->user; frame < found->frame_count; frame++) {
        const char *text = found->frames[frame].text;
        for (size_t i = 0; text && i < call_count; i++) {
            const size_t nth = frame == found->user ? history_nth_on_line(history, site, made) : 0;
            const int index = names_role_index(calls[i], NAMES_CREATED);
            if (index < 0 || !names_find_call(text, calls[i], nth, &call) ||
                (size_t)index >= call.count) {
                continue;
            }
            name = given_name(history, site, frame, made, call.args[index]);
            if (name.length > 0) {
                return names_copy(arena, name);
            }
        }
    }
    if (found->user > 0) { /* a header makes another call of the one in the text */
        name = outer_name(history, site, found->user - 1, made);
    }
    if (name.length > 0) {
        return names_copy(arena, name);
    }
    if (found->frame_count == 0) {
        return NULL;
    }
    const char *shown = found->frames[found->user].text;
    if (names_creates(shown)) {
        return NULL; /* the text is of another call on the line */
    }
    const struct names_span wrapped = names_wrapped(shown);
    return wrapped.length > 0 ? names_copy(arena, wrapped) : NULL;
}

const char *spell_created_stream(const struct history *history, struct arena *arena,
                                 uint32_t stream)
{
    static const char *const calls[] = {
        "cudaStreamCreate", "cudaStreamCreateWithFlags",  "cudaStreamCreateWithPriority",
        "cuStreamCreate",   "cuStreamCreateWithPriority",
    };
    return created(history, arena, history->streams.items[stream].site, NTH_STREAM, calls,
                   sizeof calls / sizeof *calls);
}

const char *spell_created_event(const struct history *history, struct arena *arena, uint32_t event)
{
    static const char *const calls[] = {"cudaEventCreate", "cudaEventCreateWithFlags",
                                        "cuEventCreate"};
    return created(history, arena, history->events.items[event].site, NTH_EVENT, calls,
                   sizeof calls / sizeof *calls);
}

const char *spell_created_block(const struct history *history, struct arena *arena, uint32_t alloc)
{
    /* headers make one call out of another: the source may say cudaMallocHost for cudaHostAlloc */
    const enum ssan_memory memory = history->allocs.items[alloc].memory;
    const char *const calls[] = {history->allocs.items[alloc].call,
                                 memory == SSAN_memory_PINNED ? "cudaMallocHost"
                                                              : "cudaMallocPitch",
                                 memory == SSAN_memory_PINNED ? "cudaHostAlloc" : "cudaMalloc"};
    if (strcmp(calls[0], "cudaHostRegister") == 0) { /* takes the pointer, not its address */
        const struct hist_site *site = history_site(history, history->allocs.items[alloc].site);
        struct names_call call;
        for (size_t frame = 0; frame < site->frame_count; frame++) {
            if (names_find_call(site->frames[frame].text, calls[0], 0, &call) && call.count > 0) {
                const struct names_span name = names_pointer(call.args[0]);
                return name.length > 0 ? names_copy(arena, name) : NULL;
            }
        }
        return NULL;
    }
    return created(history, arena, history->allocs.items[alloc].site, calls[0], calls,
                   sizeof calls / sizeof *calls);
}

const char *spell_operand(const struct history *history, struct arena *arena,
                          const struct hist_operand *operand)
{
    static const char *const accesses[] = {"HOST_READ", "HOST_WRITE"};
    const struct hist_site *site = history_site(history, operand->site);
    struct names_call call;
    for (size_t frame = 0; frame < site->frame_count; frame++) {
        const char *text = site->frames[frame].text;
        const size_t nth =
            frame == site->user ? history_nth_on_line(history, operand->site, operand->call) : 0;
        struct names_span argument =
            names_argument(text, operand->call, NULL, nth, operand->source ? NAMES_SRC : NAMES_DST);
        for (size_t i = 0; argument.length == 0 && i < sizeof accesses / sizeof *accesses; i++) {
            if (names_find_call(text, accesses[i], 0, &call) && call.count > 0) {
                argument = call.args[0];
            }
        }
        const struct names_span name =
            argument.length > 0 ? names_pointer(argument) : (struct names_span){NULL, 0};
        if (name.length > 0) {
            return names_copy(arena, name);
        }
    }
    return NULL;
}
