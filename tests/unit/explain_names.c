/* Reads names out of statements as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core/explain_names.h"

static void assert_span(const char *want, struct names_span got, const char *text)
{
    if (strlen(want) != got.length || (got.length && memcmp(want, got.ptr, got.length) != 0)) {
        print_error("in `%s`: want `%s`, got `%.*s`\n", text, want, (int)got.length,
                    got.ptr ? got.ptr : "");
        fail();
    }
}

/* The variable that a creating call sets. */
static void test_created(void **state)
{
    static const struct {
        const char *text, *call, *want;
    } cases[] = {
        {"cudaStreamCreate(&producer);", "cudaStreamCreate", "producer"},
        {"cudaStreamCreateWithFlags( & producer , cudaStreamNonBlocking );",
         "cudaStreamCreateWithFlags", "producer"},
        {"CK(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));",
         "cudaStreamCreateWithFlags", "compute"},
        {"check(cudaMallocHost(reinterpret_cast<void**>(&input), bytes));", "cudaMallocHost",
         "input"},
        {"check(cudaMalloc(reinterpret_cast<void **>(&device), bytes));", "cudaMalloc", "device"},
        {"CK(cudaMalloc((void **)&d_ring, SLOTS * BYTES));", "cudaMalloc", "d_ring"},
        {"cudaMalloc((void**)(&d), n * sizeof(*d));", "cudaMalloc", "d"},
        {"cudaMalloc<float>(&d_x, n);", "cudaMalloc", "d_x"},
        {"cudaMalloc< std::pair<int, float> > (&pairs, sizeof(std::pair<int, float>));",
         "cudaMalloc", "pairs"},
        {"if (cudaMalloc(&p, 4) != cudaSuccess) return 1;", "cudaMalloc", "p"},
        {"cudaError_t e = cudaMalloc(&this->buffer_, n);", "cudaMalloc", "buffer_"},
        {"cudaMalloc(&ctx->slots[i].data, n);", "cudaMalloc", "ctx->slots[i].data"},
        {"CK(cudaEventCreateWithFlags(&full[b], cudaEventDisableTiming));",
         "cudaEventCreateWithFlags", "full[b]"},
        {"cudaEventCreate(&events[row * 2 + (col, 1)]);", "cudaEventCreate",
         "events[row * 2 + (col, 1)]"},
        {"cudaEventCreate(events + i);", "cudaEventCreate", ""},
        {"cudaStreamCreate(&streams.at(i));", "cudaStreamCreate", ""},
        {"cudaStreamCreate(&pool.front());", "cudaStreamCreate", "pool.front()"},
        {"::cudaStreamCreate(&ns::global_stream);", "cudaStreamCreate", "ns::global_stream"},
        {"cudaStreamCreate(std::addressof(s));", "cudaStreamCreate", "s"},
        {"cudaStreamCreate(static_cast<cudaStream_t *>(static_cast<void *>(&s)));",
         "cudaStreamCreate", "s"},
        {"cudaHostAlloc((void **)&h_buf, n, cudaHostAllocDefault);", "cudaHostAlloc", "h_buf"},
        {"auto make = [&] { return cudaMalloc(&inner, n); };", "cudaMalloc", "inner"},
        {"log(\"cudaMalloc(&wrong, 1)\"); cudaMalloc(&right, 1);", "cudaMalloc", "right"},
        {"/* cudaMalloc(&wrong, 1) */ cudaMalloc(&right, 1);", "cudaMalloc", "right"},
        {"my_cudaMalloc(&wrong, 1), cudaMalloc(&right, 1);", "cudaMalloc", "right"},
        {"cudaMalloc(ptr, n);", "cudaMalloc", "ptr"},
        {"cudaMalloc(flag ? &a : &b, n);", "cudaMalloc", ""},
        {"cudaMalloc(nullptr, n);", "cudaMalloc", ""},
        {"CK(cudaMalloc( (void **) &d_x, /* elements */ N * sizeof(int) ));", "cudaMalloc", "d_x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct names_call call;
        assert_true(names_find_call(cases[i].text, cases[i].call, 0, &call));
        assert_true(call.count > 0);
        assert_span(cases[i].want, names_variable(call.args[0]), cases[i].text);
    }
}

/* Arguments by role, as the call spells them. */
static void test_roles(void **state)
{
    static const struct {
        const char *text, *call, *kernel;
        enum names_role role;
        const char *want;
    } cases[] = {
        {"cudaMemcpyAsync(dev, in, bytes, cudaMemcpyHostToDevice, producer);", "cudaMemcpyAsync",
         NULL, NAMES_STREAM, "producer"},
        {"check(cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice, producer));",
         "cudaMemcpyAsync_ptsz", NULL, NAMES_STREAM, "producer"},
        {"cudaMemcpyAsync(dev, in, bytes, cudaMemcpyHostToDevice);", "cudaMemcpyAsync", NULL,
         NAMES_STREAM, ""},
        {"cudaMemcpyAsync(d + f(a, b), h, n * g(1, 2), kind, streams[i % 2]);", "cudaMemcpyAsync",
         NULL, NAMES_STREAM, "streams[i % 2]"},
        {"cudaMemcpyAsync(d, h, std::min<size_t>(n, m), kind, s);", "cudaMemcpyAsync", NULL,
         NAMES_STREAM, "s"},
        {"cudaMemcpyAsync(d, h, a < b ? a : b, kind, s);", "cudaMemcpyAsync", NULL, NAMES_STREAM,
         "s"},
        {"cudaMemcpyAsync(d, h, 1 << k, kind, s);", "cudaMemcpyAsync", NULL, NAMES_STREAM, "s"},
        {"cudaMemcpyAsync(d, h, n, kind, [&] { return pick(a, b); }());", "cudaMemcpyAsync", NULL,
         NAMES_STREAM, "[&] { return pick(a, b); }()"},
        {"scale<<<16, 256, 0, producer>>>(dev, COUNT);", "cudaLaunchKernel", "scale", NAMES_STREAM,
         "producer"},
        {"scale<<<(count + 255) / 256, 256, 0, producer>>>(device, count);", "cudaLaunchKernel",
         "scale", NAMES_STREAM, "producer"},
        {"scale<<<dim3(1, 2), dim3(x, y), sizeof(float) * n, ctx->stream>>>(d);",
         "cudaLaunchKernel", "ns::scale<int>", NAMES_STREAM, "ctx->stream"},
        {"scale<float, 4><<<g, b, 0, s>>>(d);", "cudaLaunchKernel", "scale<float, 4>", NAMES_STREAM,
         "s"},
        {"a<<<1, 1, 0, s1>>>(); b<<<1, 1, 0, s2>>>();", "cudaLaunchKernel", "b", NAMES_STREAM,
         "s2"},
        {"scale<<<1'000, 256, 0, s>>>(dev);", "cudaLaunchKernel", "scale", NAMES_STREAM, "s"},
        {"cudaMemcpyAsync(d, h, 1'000'000'0, kind, s);", "cudaMemcpyAsync", NULL, NAMES_STREAM,
         "s"},
        {"scale<<<16, 256>>>(dev, COUNT);", "cudaLaunchKernel", "scale", NAMES_STREAM, ""},
        {"cudaLaunchKernel((void *)scale, grid, block, args, 0, s);", "cudaLaunchKernel", "scale",
         NAMES_STREAM, "s"},
        {"cudaEventRecord(ready, producer);", "cudaEventRecord", NULL, NAMES_EVENT, "ready"},
        {"CK(cudaEventRecord(done[s], compute));", "cudaEventRecord", NULL, NAMES_EVENT, "done[s]"},
        {"cudaEventRecord(ready);", "cudaEventRecord", NULL, NAMES_STREAM, ""},
        {"if (b >= 3) CK(cudaStreamWaitEvent(load, done[s], 0));", "cudaStreamWaitEvent", NULL,
         NAMES_EVENT, "done[s]"},
        {"cudaStreamWaitEvent(consumer, ready);", "cudaStreamWaitEvent", NULL, NAMES_STREAM,
         "consumer"},
        {"cudaMemcpy2DAsync(d, dp, h, hp, w, rows, kind, s);", "cudaMemcpy2DAsync", NULL, NAMES_SRC,
         "h"},
        {"cuStreamWaitEvent(s, e, 0);", "cuStreamWaitEvent", NULL, NAMES_EVENT, "e"},
        {"cuMemcpyHtoDAsync(d, h, n, s);", "cuMemcpyHtoDAsync_v2", NULL, NAMES_STREAM, "s"},
        {"cudaMemcpyAsync(d, h,", "cudaMemcpyAsync", NULL, NAMES_SRC, "h"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_span(cases[i].want,
                    names_argument(cases[i].text, cases[i].call, cases[i].kernel, 0, cases[i].role),
                    cases[i].text);
    }
}

/* Two equal calls in one statement or line are told apart. */
static void test_nth(void **state)
{
    static const char text[] = "CK(cudaMemset(d_x, 0, n)); CK(cudaMemset(d_y, 0, n));";
    assert_span("d_x", names_argument(text, "cudaMemset", NULL, 0, NAMES_DST), text);
    assert_span("d_y", names_argument(text, "cudaMemset", NULL, 1, NAMES_DST), text);
    assert_span("d_y", names_argument(text, "cudaMemset", NULL, 7, NAMES_DST), text);
    static const char launches[] = "k<<<1, 1, 0, a>>>(); k<<<1, 1, 0, b>>>();";
    assert_span("a", names_argument(launches, "cudaLaunchKernel", "k", 0, NAMES_STREAM), launches);
    assert_span("b", names_argument(launches, "cudaLaunchKernel", "k", 1, NAMES_STREAM), launches);
}

/* The variable that a pointer expression lies in. */
static void test_pointer(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"h_in", "h_in"},
        {"h_in + b * N", "h_in"},
        {"(char *)h_in + 4", "h_in"},
        {"&h_in[b * N]", "h_in"},
        {"&(rows[i].data[0])", "rows[i].data"},
        {"rows[i]", "rows[i]"},
        {"buf->ptr - 4", "buf->ptr"},
        {"vec.data() + 3", "vec.data()"},
        {"static_cast<const float *>(p) + i", "p"},
        {"&value", "value"},
        {"f(x)", ""},
        {"a ? b : c", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct names_span span = {cases[i].text, strlen(cases[i].text)};
        assert_span(cases[i].want, names_pointer(span), cases[i].text);
    }
}

/* What a wrapper makes has the name that its caller gives it. */
static void test_wrapped(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"make_buffer(&d_x, n);", "d_x"},
        {"CUDA_ALLOC(&d_x, n);", "d_x"},
        {"float *d_x = device_alloc<float>(n);", "d_x"},
        {"d->slots[i] = device_alloc(n);", "d->slots[i]"},
        {"auto stream = make_stream();", "stream"},
        {"swap(&a, &b);", ""},
        {"return make(n);", ""},
        {"if (make(n) == 0) { }", ""},
        {"DeviceBuffer<float> x(n);", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_span(cases[i].want, names_wrapped(cases[i].text), cases[i].text);
    }
    assert_span("", names_wrapped(NULL), "NULL");
}

/* A whole line may call a wrapper several times, and others before it. */
static void test_wrapped_by(void **state)
{
    static const struct {
        const char *text;
        size_t nth;
        const char *want;
    } cases[] = {
        {"CHECK(make(&a, n)); CHECK(make(&b, n));", 0, "a"},
        {"CHECK(make(&a, n)); CHECK(make(&b, n));", 1, "b"},
        {"other(&a, n); CHECK(make(&b, n));", 0, "b"},
        {"float *a = make(n); float *b = make(n);", 1, "b"},
        {"float *a = make(n);", 0, "a"},
        {"make(&a, &b); make(&c, &d);", 1, ""},
        {"make(n); make(n);", 1, ""},
        {"other(&a);", 0, ""},
        {"CHECK(&code, make(n));", 0, "code"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_span(cases[i].want, names_wrapped_by(cases[i].text, "make", cases[i].nth),
                    cases[i].text);
    }
    assert_span("", names_wrapped_by(NULL, "make", 0), "NULL");
}

static void test_assigned(void **state)
{
    static const struct {
        const char *text;
        size_t nth;
        const char *want;
    } cases[] = {
        {"int *d = make(n);", 0, "d"},
        {"int *d = make(n), *out = make(m);", 0, "d"},
        {"int *d = make(n), *out = make(m);", 1, "out"},
        {"cudaStream_t a = make(0), b = make(1);", 1, "b"},
        {"cudaStream_t workers[2] = {make(0), make(1)};", 1, "workers"},
        {"char *bytes = (char *)make(n);", 0, "bytes"},
        {"auto d = lib::make<float>(n);", 0, "d"},
        {"pipeline->slots[i] = make(n);", 0, "pipeline->slots[i]"},
        {"for (int i = 0; i < n; i++) slots[i] = make(n);", 0, "slots[i]"},
        {"if (a) else d = make(n);", 0, "d"},
        {"int code = make(n);", 0, ""},
        {"cudaError_t err = make(n);", 0, ""},
        {"int n = 5; int *d = make(n);", 0, "d"},
        {"int *d = new int; int code = make(n);", 0, ""},
        {"return make(n);", 0, ""},
        {"int *d = other(make(n));", 0, ""},
        {"if (d == make(n)) {", 0, ""},
        {"make(n);", 0, ""},
        {"= make(", 0, ""},
        {"}), make(", 0, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_span(cases[i].want, names_assigned(cases[i].text, "make", cases[i].nth),
                    cases[i].text);
    }
    assert_span("", names_assigned(NULL, "make", 0), "NULL");
}

/* Statements that are cut, unbalanced or empty are read without harm. */
static void test_odd(void **state)
{
    static const char *const texts[] = {
        "",
        "(",
        "cudaMalloc",
        "cudaMalloc(",
        "cudaMalloc(&",
        "cudaMalloc((void **)",
        "<<<",
        "k<<<1,",
        "cudaMalloc<",
        "cudaMalloc<>(",
        "cudaMalloc(\"",
        "cudaMalloc('\\",
        "/*",
        "/* *",
        ")))",
        "cudaMalloc)(",
        "cudaMalloc(,,,)",
        "a = ",
        "&&&(",
        "->",
        "cudaMalloc([",
        "cudaMalloc({)",
        "x<<<<<<>>>>>>(1)",
        "cudaMalloc(static_cast<",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct names_call call;
        const struct names_span span = {texts[i], strlen(texts[i])};
        if (names_find_call(texts[i], "cudaMalloc", 0, &call)) {
            for (size_t k = 0; k < call.count; k++) {
                names_variable(call.args[k]);
                names_pointer(call.args[k]);
            }
        }
        names_find_launch(texts[i], "k", 3, &call);
        names_variable(span);
        names_pointer(span);
        names_wrapped(texts[i]);
        names_assigned(texts[i], "cudaMalloc", 0);
    }
    struct names_call call;
    assert_false(names_find_call(NULL, "cudaMalloc", 0, &call));
    assert_false(names_find_call("x", NULL, 0, &call));
    assert_int_equal(-1, names_role_index("cudaGetLastError", NAMES_STREAM));
    assert_int_equal(-1, names_role_index(NULL, NAMES_STREAM));
}

static void test_bodies(void **state)
{
    assert_true(names_is_body("if (x) f(a);", "f"));
    assert_false(names_is_body("if (f(a)) return 1;", "f"));
    assert_true(names_is_body("else f(a);", "f"));
    assert_true(names_is_body("for (;;) f(a);", "f"));
    assert_false(names_is_body("format(a);", "f"));
    assert_false(names_is_body("f(a);", "f"));
    assert_true(names_is_body("if (x) k<<<1, 1>>>(a);", NULL));
    assert_false(names_is_body(NULL, "f"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies),     cmocka_unit_test(test_created),
        cmocka_unit_test(test_roles),      cmocka_unit_test(test_nth),
        cmocka_unit_test(test_pointer),    cmocka_unit_test(test_wrapped),
        cmocka_unit_test(test_assigned),   cmocka_unit_test(test_odd),
        cmocka_unit_test(test_wrapped_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
