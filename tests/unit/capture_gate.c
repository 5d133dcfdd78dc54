/* Gates: which launch gets which user data, what opens a gate and when, and what is told of it. The
 * sanitizer library is a table of functions of ours, the device is the test itself. */
#include "capture/gate.h"

#include "capture/gate_abi.h"
#include "trace/gate_words.h"

#include "base/mem.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CONTEXT ((CUcontext)(uintptr_t)0x100)
#define MODULE  ((CUmodule)(uintptr_t)0x200)
#define STREAM1 ((struct sanitizer_stream *)(uintptr_t)0x301)
#define STREAM2 ((struct sanitizer_stream *)(uintptr_t)0x302)

/* What the functions of the library were asked for. */
static struct {
    void *memory[8];
    size_t memory_count;
    unsigned patched, loaded, waits, copies;
    struct sanitizer_stream *waited, *copied;
    const void *data; /* of the last launch */
    bool data_set;
    uint32_t answer; /* to loading of patches */
    struct {
        void *to, *from;
        size_t size;
    } pending[8]; /* copies that the device has not come to */
    size_t pending_count;
} asked;

static uint32_t alloc(CUcontext context, void **pointer, size_t size)
{
    *pointer = asked.memory[asked.memory_count++] = mem_zalloc(1, size);
    assert_non_null(*pointer);
    return SANITIZER_OK;
}

static uint32_t copy(void *destination, void *source, size_t size, struct sanitizer_stream *stream)
{
    asked.pending[asked.pending_count].to = destination;
    asked.pending[asked.pending_count].from = source;
    asked.pending[asked.pending_count++].size = size;
    asked.copied = stream;
    asked.copies++;
    return SANITIZER_OK;
}

/* Now only are the sources of copies read. */
static void device_copies(void)
{
    for (size_t i = 0; i < asked.pending_count; i++) {
        memcpy(asked.pending[i].to, asked.pending[i].from, asked.pending[i].size);
    }
    asked.pending_count = 0;
}

static uint32_t synchronize(struct sanitizer_stream *stream)
{
    device_copies();
    asked.waited = stream;
    asked.waits++;
    return SANITIZER_OK;
}

static uint32_t add_patches(const char *path, CUcontext context)
{
    assert_string_equal(path, "/lib/" GATE_PATCHES);
    asked.loaded++;
    return asked.answer;
}

static uint32_t patch_instructions(uint32_t instruction, CUmodule module, const char *function)
{
    assert_int_equal(instruction, SANITIZER_AT_BLOCK_ENTER);
    assert_string_equal(function, GATE_FUNCTION);
    return SANITIZER_OK;
}

static uint32_t patch_module(CUmodule module)
{
    asked.patched++;
    return SANITIZER_OK;
}

static uint32_t set_data(struct sanitizer_launch *launch, CUfunction function,
                         struct sanitizer_stream *stream, const void *user)
{
    asked.data = user;
    asked.data_set = true;
    return SANITIZER_OK;
}

static uint32_t result_string(uint32_t result, const char **text)
{
    *text = "no such file";
    return SANITIZER_OK;
}

static const struct sanitizer_api api = {
    .get_result_string = result_string,
    .add_patches_from_file = add_patches,
    .patch_instructions = patch_instructions,
    .patch_module = patch_module,
    .set_launch_callback_data = set_data,
    .alloc_device = alloc,
    .alloc_host = alloc,
    .copy_to_device_async = copy,
    .stream_synchronize = synchronize,
};

/* The events that gate_exit gives. */
static struct {
    struct ssan_sink sink;
    struct ssan_event gate;
    size_t gates, texts;
    char text[256];
} told;

static void put(struct ssan_sink *sink, const struct ssan_event *event)
{
    if (event->kind == SSAN_EV_gate) {
        told.gate = *event;
        told.gates++;
    } else {
        assert_int_equal(event->kind, SSAN_EV_infeasible);
        told.texts++;
        snprintf(told.text, sizeof told.text, "%.*s", (int)event->infeasible.text.length,
                 event->infeasible.text.ptr);
    }
}

static int end(void **state)
{
    while (asked.memory_count > 0) {
        mem_free(asked.memory[--asked.memory_count]);
    }
    return 0;
}

static bool asked_others; /* accesses are observed too */

static bool begin(const char *words)
{
    struct observe_plan plan;
    bool on;
    end(NULL);
    observe_plan_init(&plan);
    memset(&asked, 0, sizeof asked);
    memset(&told, 0, sizeof told);
    told.sink.put = put;
    if (words) {
        assert_true(observe_plan_add_gate(&plan, words));
    }
    on = gate_start(&plan, &api, "/lib/" GATE_PATCHES, !asked_others);
    observe_plan_finish(&plan);
    return on;
}

static void load_module(void)
{
    const struct sanitizer_module_data module = {.context = CONTEXT, .module = MODULE};
    gate_module(&module);
}

static void launch(uint32_t stream, uint64_t op)
{
    const struct sanitizer_launch_data data = {.context = CONTEXT,
                                               .handle = stream == 1 ? STREAM1 : STREAM2};
    asked.data_set = false;
    gate_item(stream, op, data.handle, &data);
    assert_false(asked.data_set); /* nobody is called under the lock of the items */
    gate_launch(&data);
}

static void item(uint32_t stream, uint64_t op)
{
    gate_item(stream, op, stream == 1 ? STREAM1 : STREAM2, NULL);
}

/* What the device does at the end of a gate. */
static void device_release(const struct gate_block *block, enum gate_release by)
{
    struct gate_state *gate = (struct gate_state *)(uintptr_t)block->state;
    gate->blocks = 16;
    gate->held_ns = 20000000;
    gate->submitted_then = gate->submitted;
    gate->release = by;
}

static void test_none(void **state)
{
    assert_false(begin(NULL));
    load_module();
    launch(1, 1);
    gate_call_end();
    gate_exit(&told.sink);
    assert_int_equal(asked.loaded + asked.patched + asked.waits + told.gates, 0);
    assert_false(asked.data_set);
}

/* Copy and kernel on stream 1, kernel on stream 2: the first kernel waits for the second one. */
static void test_partner(void **state)
{
    const struct gate_block *block;
    assert_true(begin("s1.2:s2.1,grace=5"));
    load_module();
    load_module();
    assert_int_equal(asked.loaded, 1);
    assert_int_equal(asked.patched, 2);
    item(1, 1);
    gate_call_end();
    launch(1, 2);
    gate_call_end();
    block = asked.data;
    assert_true(asked.data_set);
    assert_non_null(block);
    assert_int_equal(block->grace_ns, 5000000);
    assert_int_equal(block->most, 0);
    assert_int_equal(block->done, 0);
    launch(2, 3);
    assert_true(asked.data_set);
    assert_null(asked.data);
    assert_int_equal(block->done, 0); /* not before the call has submitted it */
    gate_call_end();
    device_copies();
    assert_int_equal(block->done, 1);
    assert_ptr_equal(asked.copied, STREAM2);
    launch(1, 4);
    assert_null(asked.data);
    device_release(block, GATE_BY_PARTNER);
    gate_exit(&told.sink);
    gate_exit(&told.sink);
    assert_int_equal(told.gates, 1);
    assert_int_equal(told.texts, 0);
    assert_int_equal(told.gate.gate.op, 2);
    assert_int_equal(told.gate.gate.until, 3);
    assert_int_equal(told.gate.gate.end, SSAN_gate_end_PARTNER);
    assert_int_equal(told.gate.gate.blocks, 16);
    assert_int_equal(told.gate.gate.held_ns, 20000000);
}

/* On a thread of the driver: the item that a host function puts before its call has returned. */
static void *host_function(void *due)
{
    item(2, 2);
    *(struct gate_due *)due = gate_take();
    gate_call_end(); /* of another call that this thread makes: none of its business */
    return NULL;
}

static void test_host_function(void **state)
{
    const struct gate_block *block;
    struct gate_due due = {0};
    pthread_t thread;
    assert_true(begin("s1.1:s2.1"));
    load_module();
    launch(1, 1);
    block = asked.data;
    gate_call_end();
    assert_int_equal(pthread_create(&thread, NULL, host_function, &due), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    device_copies();
    assert_int_equal(block->done, 0); /* the driver can't be called in there */
    gate_give(&due);
    gate_call_end();
    device_copies();
    assert_int_equal(block->done, 1);
    assert_ptr_equal(asked.copied, STREAM2);
    gate_exit(&told.sink);
}

static void test_limit(void **state)
{
    assert_true(begin("s1.1:s2.1,limit=70"));
    load_module();
    launch(1, 1);
    gate_call_end();
    device_release(asked.data, GATE_BY_LIMIT);
    item(2, 2);
    gate_call_end();
    gate_exit(&told.sink);
    assert_int_equal(told.gate.gate.end, SSAN_gate_end_LIMIT);
    assert_string_equal(told.text, "s1.1 was held for 70 ms, and s2.1 was not submitted meanwhile");
}

static void test_limit_behind_submission(void **state)
{
    const struct gate_block *block;
    assert_true(begin("s1.1:s2.1"));
    load_module();
    launch(1, 1);
    block = asked.data;
    gate_call_end();
    item(2, 2);
    gate_call_end();
    device_release(block, GATE_BY_LIMIT);
    gate_exit(&told.sink);
    assert_string_equal(told.text, "s1.1 was held for 300 ms, and s2.1 was not done meanwhile");
}

/* Held until the host comes to its second announced access. */
static void test_host_access(void **state)
{
    const struct gate_block *block;
    const struct gate_state *gate;
    assert_true(begin("s1.1:a1.2"));
    load_module();
    launch(1, 1);
    gate_call_end();
    block = asked.data;
    gate = (const struct gate_state *)(uintptr_t)block->state;
    assert_int_equal(block->by_host, 1);
    gate_host_access(1);
    gate_host_access(2);
    assert_int_equal(gate->opened, 0);
    gate_host_access(1);
    assert_int_equal(gate->opened, 1);
    gate_host_access(1);
    assert_int_equal(block->done, 0);
    device_release(block, GATE_BY_LIMIT);
    gate_exit(&told.sink);
    assert_string_equal(told.text,
                        "s1.1 was held for 300 ms, and a1.2 was not announced meanwhile");
}

static void test_never(void **state)
{
    assert_true(begin("s1.2:s2.1"));
    load_module();
    launch(1, 1);
    gate_call_end();
    gate_exit(&told.sink);
    assert_int_equal(told.gate.gate.op, 0);
    assert_int_equal(told.gate.gate.end, SSAN_gate_end_NEVER);
    assert_string_equal(told.text, "s1.2, which was to be held, was not submitted");
    assert_true(begin("s1.1:s2.1"));
    load_module();
    item(1, 1);
    gate_exit(&told.sink);
    assert_string_equal(told.text, "s1.1 is no kernel, so it can't be held");
    assert_true(begin("s1.1:s2.1"));
    load_module();
    launch(1, 1);
    gate_exit(&told.sink);
    assert_string_equal(told.text, "nothing of s1.1 had passed its gate when the program ended");
}

static void test_no_patches(void **state)
{
    assert_true(begin("s1.1:s2.1"));
    asked.answer = SANITIZER_INVALID_PARAMETER;
    load_module();
    assert_int_equal(asked.patched, 0);
    launch(1, 1);
    assert_null(asked.data);
    gate_call_end();
    gate_exit(&told.sink);
    assert_string_equal(told.text,
                        "s1.1 can't be held: loading of gate.fatbin failed (no such file)");
}

/* Its memory goes with the context; what became of the gate is known all the same. */
static void test_context_end(void **state)
{
    struct gate_block *block;
    assert_true(begin("s1.1:s2.1"));
    load_module();
    launch(1, 1);
    block = (struct gate_block *)(uintptr_t)asked.data;
    gate_call_end();
    device_release(block, GATE_BY_PARTNER);
    gate_context_end(CONTEXT);
    memset((void *)(uintptr_t)block->state, 0, sizeof(struct gate_state));
    item(2, 2);
    gate_call_end();
    assert_int_equal(block->done, 0);
    gate_exit(&told.sink);
    assert_int_equal(told.gate.gate.end, SSAN_gate_end_PARTNER);
}

static void test_serialize(void **state)
{
    assert_true(begin(GATE_SERIALIZE));
    load_module();
    assert_int_equal(asked.loaded, 0);
    launch(1, 1);
    assert_false(asked.data_set);
    assert_int_equal(asked.waits, 0);
    gate_call_end();
    assert_int_equal(asked.waits, 1);
    assert_ptr_equal(asked.waited, STREAM1);
    gate_call_end(); /* of a call that submits nothing */
    assert_int_equal(asked.waits, 1);
    gate_exit(&told.sink);
    assert_int_equal(told.gates + told.texts, 0);
}

/* Accesses are observed in the same run: their part sets user data and patches modules. */
static void test_with_accesses(void **state)
{
    asked_others = true;
    assert_true(begin("s1.1:s2.1"));
    asked_others = false;
    load_module();
    assert_int_equal(asked.loaded, 1);
    assert_int_equal(asked.patched, 0);
    launch(1, 1);
    assert_true(asked.data_set);
    const struct sanitizer_launch_data held = {.handle = STREAM1}, other = {.handle = STREAM2};
    uint64_t record[16] = {0};
    gate_attach((uintptr_t)record, &held);
    assert_ptr_equal(asked.copied, STREAM1);
    gate_call_end();
    device_copies(); /* long after the call */
    assert_int_equal(record[GATE_OFFSET / 8], (uintptr_t)asked.data);
    assert_int_equal(((const struct gate_block *)asked.data)->self, (uintptr_t)asked.data);
    record[GATE_OFFSET / 8] = 0;
    launch(2, 2);
    assert_false(asked.data_set);
    gate_attach((uintptr_t)record, &other);
    assert_int_equal(record[GATE_OFFSET / 8], 0);
    gate_call_end();
}

static void test_detached(void **state)
{
    assert_true(begin("s1.1:s2.1"));
    gate_detach();
    load_module();
    launch(1, 1);
    gate_exit(&told.sink);
    assert_int_equal(asked.loaded + told.gates, 0);
    assert_false(asked.data_set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_none, end),
        cmocka_unit_test_teardown(test_partner, end),
        cmocka_unit_test_teardown(test_host_function, end),
        cmocka_unit_test_teardown(test_limit, end),
        cmocka_unit_test_teardown(test_limit_behind_submission, end),
        cmocka_unit_test_teardown(test_host_access, end),
        cmocka_unit_test_teardown(test_never, end),
        cmocka_unit_test_teardown(test_no_patches, end),
        cmocka_unit_test_teardown(test_context_end, end),
        cmocka_unit_test_teardown(test_serialize, end),
        cmocka_unit_test_teardown(test_with_accesses, end),
        cmocka_unit_test_teardown(test_detached, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
