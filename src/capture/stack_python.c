/* Python frames: a chain that only its own thread changes, and that thread is here.
 *
 * Invariant: nothing is written, no reference is taken, no function that needs the interpreter's
 * lock is called. Frames and code objects of the chain are alive, as their thread is inside of
 * them; before the first chain is trusted each of its objects is probed and must be what the layout
 * says, and one that is not ends Python frames for good. Naive model: traceback.extract_stack().
 * Cost: a lookup for each frame by the addresses in its code object; names and lines are read once
 * a place.
 */
#include "capture/stack_python.h"

#include "capture/elf_symbol.h"
#include "capture/interned.h"
#include "capture/memory_probe.h"
#include "capture/python_layout.h"
#include "capture/python_line.h"

#include "base/hash.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define FRAMES_MAX  256u
#define TABLE_BITS  18
#define FILE_ROOM   4096u
#define NAME_ROOM   512u
#define LINES_MAX   (UINT64_C(1) << 28)
#define OWNED_BY_C  3u
#define TOLD        (UINT64_C(0xffff) << 48)
#define INTERPRETER "PyGILState_GetThisThreadState"

enum trust {
    UNTRIED,
    TRUSTED,
    MISTRUSTED, /* what was found is not what the layout says */
};

static struct {
    struct ssan_sink *sink;
    pthread_mutex_t lock; /* for new frames and the room below */
    struct interned frames;
    const struct python_layout *_Atomic layout;
    void *(*state)(void); /* the calling thread's, NULL outside of Python */
    uint64_t code_type;
    _Atomic enum trust trust;
    char file[FILE_ROOM], name[NAME_ROOM];
} python = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What tells one place of a call from all others. */
struct place {
    uint64_t code, file, name, lines, first_line;
    uint64_t instruction; /* its offset in the code, in bytes */
};

bool stack_python_open(struct ssan_sink *sink)
{
    python.sink = sink;
    return interned_open(&python.frames, TABLE_BITS);
}

void stack_python_close(void)
{
    interned_close(&python.frames);
    atomic_store(&python.layout, NULL);
    atomic_store(&python.trust, UNTRIED);
}

void stack_python_after_fork(void)
{
    pthread_mutex_init(&python.lock, NULL);
}

/* Reads "3.12.1 (main, ...". */
static void parse_version(const char *text, unsigned *major, unsigned *minor)
{
    *major = *minor = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        *major = *major * 10 + (unsigned)(*text - '0');
    }
    for (text += *text == '.'; *text >= '0' && *text <= '9'; text++) {
        *minor = *minor * 10 + (unsigned)(*text - '0');
    }
}

bool stack_python_recognise(const struct dl_phdr_info *info)
{
    uint64_t state = elf_symbol(info, INTERPRETER), version = elf_symbol(info, "Py_GetVersion");
    uint64_t type = elf_symbol(info, "PyCode_Type");
    const struct python_layout *layout;
    unsigned major, minor;
    const char *(*get_version)(void);
    if (!state || !version || !type) {
        return false;
    }
    if (atomic_load(&python.layout)) {
        return state == (uint64_t)(uintptr_t) * (void **)&python.state;
    }
    *(void **)&get_version = (void *)(uintptr_t)version;
    parse_version(get_version(), &major, &minor);
    layout = python_layout(major, minor, elf_symbol(info, "_PyRuntime"));
    *(void **)&python.state = (void *)(uintptr_t)state;
    python.code_type = type;
    atomic_store_explicit(&python.layout, layout, memory_order_release);
    return true;
}

bool stack_python_is_known(void)
{
    return atomic_load_explicit(&python.layout, memory_order_acquire) != NULL;
}

/* Reads of objects that are trusted. */
__attribute__((no_sanitize("address", "thread"))) static uint64_t word_at(uint64_t address)
{
    return *(const volatile uint64_t *)(uintptr_t)address;
}

__attribute__((no_sanitize("address", "thread"))) static uint32_t half_at(uint64_t address)
{
    return *(const volatile uint32_t *)(uintptr_t)address;
}

__attribute__((no_sanitize("address", "thread"))) static uint8_t byte_at(uint64_t address)
{
    return *(const volatile uint8_t *)(uintptr_t)address;
}

static bool is_plausible(uint64_t address)
{
    return address >= 65536 && address < UINT64_C(1) << 56 && address % 8 == 0;
}

static uint64_t innermost(const struct python_layout *layout, uint64_t state)
{
    uint64_t frame = word_at(state + layout->state_frame);
    if (layout->in_record != PYTHON_NONE) {
        frame = is_plausible(frame) ? word_at(frame + layout->in_record) : 0;
    }
    return frame;
}

/* Whether the interpreter itself, not a function, owns the frame. */
static bool is_own(const struct python_layout *layout, uint64_t frame)
{
    return layout->owner != PYTHON_NONE && byte_at(frame + layout->owner) == OWNED_BY_C;
}

static struct place place_of(const struct python_layout *layout, uint64_t frame, uint64_t code)
{
    struct place place = {.code = code,
                          .file = word_at(code + layout->file),
                          .name = word_at(code + layout->qualified_name),
                          .lines = word_at(code + layout->lines),
                          .first_line = half_at(code + layout->first_line)};
    if (layout->is_index) {
        place.instruction =
            (uint64_t)(int64_t)(int32_t)half_at(frame + layout->instruction) * layout->index_bytes;
    } else {
        place.instruction = word_at(frame + layout->instruction) - code - layout->instructions;
    }
    return place;
}

/* Products that do not wait for each other, mixed once. */
static uint64_t hash_place(const struct place *place)
{
    return hash_mix(place->code * UINT64_C(0x9e3779b97f4a7c15) ^
                        place->instruction * UINT64_C(0xbf58476d1ce4e5b9) ^
                        place->file * UINT64_C(0x94d049bb133111eb),
                    place->name * UINT64_C(0xd6e8feb86659fd93) ^
                        place->lines * UINT64_C(0xff51afd7ed558ccd) ^ place->first_line);
}

/* Probes the chain once: each code object must be one. UNTRIED when there was none. */
static enum trust try_chain(const struct python_layout *layout, uint64_t state)
{
    enum trust trust = UNTRIED;
    uint64_t frame = 0;
    if (!memory_probe(&frame, state + layout->state_frame, sizeof frame) ||
        (layout->in_record != PYTHON_NONE &&
         !memory_probe(&frame, frame + layout->in_record, sizeof frame))) {
        return MISTRUSTED;
    }
    for (unsigned i = 0; frame && i < FRAMES_MAX; i++) {
        uint64_t code, type;
        uint8_t owner = 0;
        if (!is_plausible(frame) || !memory_probe(&code, frame + layout->code, sizeof code) ||
            (layout->owner != PYTHON_NONE && !memory_probe(&owner, frame + layout->owner, 1))) {
            return MISTRUSTED;
        }
        if (owner != OWNED_BY_C) {
            if (!is_plausible(code) || !memory_probe(&type, code + layout->type, sizeof type) ||
                type != python.code_type) {
                return MISTRUSTED;
            }
            trust = TRUSTED;
        }
        if (!memory_probe(&frame, frame + layout->previous, sizeof frame)) {
            return MISTRUSTED;
        }
    }
    return trust;
}

/* Appends a character as UTF-8 where there is room. */
static size_t add_character(char *out, size_t length, size_t room, uint32_t c)
{
    static const uint8_t firsts[] = {0, 0xc0, 0xe0, 0xf0};
    unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    if (room - length <= more + 1) {
        return length;
    }
    out[length++] = (char)(firsts[more] | c >> 6 * more);
    while (more-- > 0) {
        out[length++] = (char)(0x80 | (c >> 6 * more & 63));
    }
    return length;
}

/* The text of a str, cut to the room; "" when it is none that can be read. */
static struct ssan_str read_text(const struct python_layout *layout, uint64_t address, char *out,
                                 size_t room)
{
    uint64_t count = 0, data;
    uint32_t state = 0;
    unsigned width;
    size_t length = 0;
    if (!is_plausible(address) ||
        !memory_probe(&count, address + layout->text_length, sizeof count) ||
        !memory_probe(&state, address + layout->text_state, sizeof state) || !(state >> 5 & 1)) {
        return ssan_str("");
    }
    width = state >> 2 & 7;
    data = address + (state >> 6 & 1 ? layout->ascii_bytes : layout->other_bytes);
    count = count < room ? count : room;
    if ((width != 1 && width != 2 && width != 4) || !memory_is_readable(data, count * width)) {
        return ssan_str("");
    }
    for (uint64_t i = 0; i < count && length + 4 < room; i++) {
        uint64_t at = data + i * width;
        uint32_t c = byte_at(at) | (width > 1 ? (uint32_t)byte_at(at + 1) << 8 : 0);
        if (width == 4) {
            c = half_at(at);
        }
        length = add_character(out, length, room, c);
    }
    return (struct ssan_str){out, (uint32_t)length};
}

static uint32_t line_of(const struct python_layout *layout, const struct place *place)
{
    uint64_t length, table;
    if ((int64_t)place->instruction < 0) {
        return (uint32_t)place->first_line; /* not begun yet */
    }
    if (!is_plausible(place->lines) ||
        !memory_probe(&length, place->lines + layout->bytes_length, sizeof length)) {
        return 0;
    }
    table = place->lines + layout->bytes_data;
    if (length > LINES_MAX || !memory_is_readable(table, length)) {
        return 0;
    }
    return python_line(layout->lines_form, (const uint8_t *)(uintptr_t)table, length,
                       (uint32_t)place->first_line, place->instruction);
}

/* The number of a place that is not known, or was not a moment ago; 0: no room. */
static uint32_t intern(const struct python_layout *layout, const struct place *place, uint64_t hash)
{
    uint32_t id;
    pthread_mutex_lock(&python.lock);
    id = interned_find(&python.frames, hash);
    if (!id && (id = interned_next(&python.frames)) != 0) {
        struct ssan_event event = {.kind = SSAN_EV_frame};
        event.frame = (struct ssan_ev_frame){
            .frame = TOLD | id,
            .language = SSAN_language_PYTHON,
            .file = read_text(layout, place->file, python.file, sizeof python.file),
            .line = line_of(layout, place),
            .function = read_text(layout, place->name, python.name, sizeof python.name)};
        ssan_put(python.sink, &event);
        interned_add(&python.frames, hash);
    }
    pthread_mutex_unlock(&python.lock);
    return id;
}

static bool is_trusted(const struct python_layout *layout, uint64_t state)
{
    enum trust trust = atomic_load_explicit(&python.trust, memory_order_relaxed);
    if (trust == UNTRIED) {
        trust = try_chain(layout, state);
        atomic_store_explicit(&python.trust, trust, memory_order_relaxed);
    }
    return trust == TRUSTED;
}

uint32_t stack_python_walk(stack_python_visit *visit, void *self)
{
    const struct python_layout *layout = atomic_load_explicit(&python.layout, memory_order_acquire);
    uint64_t state = layout ? (uint64_t)(uintptr_t)python.state() : 0, frame;
    uint32_t told = 0;
    if (!is_plausible(state) || !is_trusted(layout, state)) {
        return 0;
    }
    frame = innermost(layout, state);
    for (unsigned i = 0; is_plausible(frame) && i < FRAMES_MAX; i++) {
        uint64_t code = word_at(frame + layout->code);
        if (!is_own(layout, frame)) {
            struct place place;
            uint64_t hash;
            uint32_t id;
            if (!is_plausible(code) || word_at(code + layout->type) != python.code_type) {
                break;
            }
            place = place_of(layout, frame, code);
            hash = hash_place(&place);
            id = interned_find(&python.frames, hash);
            id = id ? id : intern(layout, &place, hash);
            if (!id) {
                break;
            }
            told++;
            if (!visit(self, TOLD | id)) {
                break;
            }
        }
        frame = word_at(frame + layout->previous);
    }
    return told;
}
