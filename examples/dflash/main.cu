/* dflash VARIANT [TARGETS [DRAFTERS [BATCHES]]]: trains, and prints the loss of each batch.
 * VARIANT: baseline, unsafe, safe, or both (baseline and safe, and whether their losses are equal
 * bit for bit).
 *
 * Exit code: 0 all losses are finite and they fell, 1 a CUDA call failed, 2 they are not or did
 * not, 64 bad usage. */
#include "dflash.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

enum { BATCHES_MOST = 10000, EMPTY_EACH = 7 };

void check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        std::fprintf(stderr, "dflash: %s: %s\n", what, cudaGetErrorString(error));
        std::exit(1);
    }
}

/* Mixing of bits as in splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
 * Generators, 2014). */
static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

float number_of(unsigned series, unsigned index)
{
    return (float)(mixed((uint64_t)series << 32 | index) >> 40) / (float)(1 << 23) - 1;
}

float *weights_make(unsigned series, int rows, int columns, float scale)
{
    float *host, *device;
    size_t count = (size_t)rows * columns;
    check(cudaMallocHost(&host, count * sizeof *host), "weights");
    check(cudaMalloc(&device, count * sizeof *device), "weights");
    for (size_t i = 0; i < count; i++) {
        host[i] = number_of(series, (unsigned)i) * scale / sqrtf((float)rows);
    }
    check(cudaMemcpy(device, host, count * sizeof *host, cudaMemcpyHostToDevice), "weights");
    check(cudaFreeHost(host), "weights");
    return device;
}

static bool has_rows(int batch)
{
    return batch % EMPTY_EACH != EMPTY_EACH - 1;
}

void batch_make(struct batch *batch, int number)
{
    unsigned series = 1000 + (unsigned)number;
    int prompt = has_rows(number) ? (int)(mixed(series) % (TOKENS / 2)) : (int)TOKENS;
    memset(batch, 0, sizeof *batch);
    for (int t = 0; t < TOKENS; t++) {
        batch->tokens[t] = (int)(mixed((uint64_t)series << 32 | (unsigned)t) % WORDS);
        if (t >= prompt) {
            batch->rows[batch->valid++] = t;
        }
    }
}

static int number_in(const char *text, int least, int most, const char *what)
{
    char *end;
    long value = std::strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < least || value > most) {
        std::fprintf(stderr, "dflash: %s: %d to %d, not '%s'\n", what, least, most, text);
        std::exit(64);
    }
    return (int)value;
}

/* Prints the losses; whether all are finite and the last ones are below the first ones. */
static bool tell(const struct setup *setup, const struct drafter *drafters)
{
    double first = 0, last = 0;
    int counted = 0, quarter, trained = 0, bad = 0;
    for (int b = 0; b < setup->batches; b++) {
        trained += has_rows(b);
    }
    quarter = trained < 4 ? 1 : trained / 4;
    for (int b = 0; b < setup->batches; b++) {
        const struct drafter *drafter = &drafters[b % setup->drafters];
        float loss = drafter->losses[b];
        if (!has_rows(b)) {
            std::printf("batch=%d drafter=%d rows=0\n", b, drafter->number);
            continue;
        }
        std::printf("batch=%d drafter=%d loss=%.9g\n", b, drafter->number, loss);
        bad += !std::isfinite(loss);
        first += counted < quarter ? loss : 0;
        last += counted >= trained - quarter ? loss : 0;
        counted++;
    }
    std::printf("first=%.4f last=%.4f not_finite=%d\n", first / quarter, last / quarter, bad);
    return bad == 0 && last < first;
}

typedef void variant_run(const struct setup *, struct target *, struct drafter *);

/* Trains new models; the losses, by batch number, are those of `run`. Whether they are fine. */
static bool train(const struct setup *setup, variant_run *run, std::vector<float> *losses)
{
    struct target targets[DEVICES_MOST];
    struct drafter drafters[DEVICES_MOST];
    bool fine;
    for (int i = 0; i < setup->targets; i++) {
        target_open(&targets[i], i, setup);
    }
    for (int i = 0; i < setup->drafters; i++) {
        drafter_open(&drafters[i], i, setup);
    }
    run(setup, targets, drafters);
    fine = tell(setup, drafters);
    for (int b = 0; b < setup->batches; b++) {
        losses->push_back(drafters[b % setup->drafters].losses[b]);
    }
    for (int i = 0; i < setup->drafters; i++) {
        drafter_close(&drafters[i]);
    }
    for (int i = 0; i < setup->targets; i++) {
        target_close(&targets[i]);
    }
    return fine;
}

/* Trains both, and counts the losses that are not the same bit for bit. */
static bool train_both(const struct setup *setup)
{
    std::vector<float> baseline, safe;
    bool fine = train(setup, run_baseline, &baseline), equal;
    fine = train(setup, run_safe, &safe) && fine;
    equal = std::memcmp(baseline.data(), safe.data(), baseline.size() * sizeof(float)) == 0;
    std::printf("equal=%s\n", equal ? "yes" : "no");
    return fine && equal;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        variant_run *run; /* NULL: both */
    } variants[] = {
        {"baseline", run_baseline}, {"unsafe", run_unsafe}, {"safe", run_safe}, {"both", NULL}};
    struct setup setup = {1, 1, 28, 1};
    std::vector<float> losses;
    size_t variant = 0;
    while (argc >= 2 && variant < 4 && std::strcmp(argv[1], variants[variant].name) != 0) {
        variant++;
    }
    if (argc < 2 || argc > 5 || variant == 4) {
        std::fprintf(stderr,
                     "usage: dflash baseline|unsafe|safe|both [TARGETS [DRAFTERS [BATCHES]]]\n");
        return 64;
    }
    setup.targets = argc > 2 ? number_in(argv[2], 1, DEVICES_MOST, "targets") : setup.targets;
    setup.drafters = argc > 3 ? number_in(argv[3], 1, DEVICES_MOST, "drafters") : setup.drafters;
    setup.batches = argc > 4 ? number_in(argv[4], 2, BATCHES_MOST, "batches") : setup.batches;
    check(cudaGetDeviceCount(&setup.devices), "devices");
    return (variants[variant].run ? train(&setup, variants[variant].run, &losses)
                                  : train_both(&setup))
               ? 0
               : 2;
}
