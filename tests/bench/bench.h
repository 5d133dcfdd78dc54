/* Figures of a benchmark: printed as a table and written to build/bench/<part>.json, a JSON list of
 * {name, value, unit, reference, ratio}. `reference` is the same work done another way in the same
 * run, so that ratios mean something on any machine; 0: none, printed as null. */
#ifndef SSAN_TESTS_BENCH_BENCH_H
#define SSAN_TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#define BENCH_ROOM 64

struct bench_figure {
    char name[96];
    const char *unit;
    double value, reference;
};

struct bench {
    struct bench_figure figures[BENCH_ROOM];
    int count;
};

/* Time in seconds. Not that of the processor, though other programs would not count in it: in a
 * virtual machine it may stand still for milliseconds, and the best of some runs is then the one
 * that was counted least. Measure on an idle machine. */
static inline double bench_seconds(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

/* Prints the figure and keeps it; figures behind BENCH_ROOM are only printed. */
static inline void bench_add(struct bench *bench, const char *name, double value, const char *unit,
                             double reference)
{
    if (reference > 0) {
        printf("%-44s %14.4g %-12s %14.4g  x %.3g\n", name, value, unit, reference,
               value / reference);
    } else {
        printf("%-44s %14.4g %-12s\n", name, value, unit);
    }
    if (bench->count < BENCH_ROOM) {
        struct bench_figure *figure = &bench->figures[bench->count++];
        snprintf(figure->name, sizeof figure->name, "%s", name);
        figure->unit = unit;
        figure->value = value;
        figure->reference = reference;
    }
}

/* Writes build/bench/<part>.json below the current folder; false when it can't. */
static inline bool bench_write(const struct bench *bench, const char *part)
{
    char path[160];
    snprintf(path, sizeof path, "build/bench/%s.json", part);
    mkdir("build", 0777);
    mkdir("build/bench", 0777);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return false;
    }
    fprintf(file, "[");
    for (int i = 0; i < bench->count; i++) {
        const struct bench_figure *figure = &bench->figures[i];
        fprintf(file, "%s\n {\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", ", i ? "," : "",
                figure->name, figure->value, figure->unit);
        if (figure->reference > 0) {
            fprintf(file, "\"reference\": %.6g, \"ratio\": %.4g}", figure->reference,
                    figure->value / figure->reference);
        } else {
            fprintf(file, "\"reference\": null, \"ratio\": null}");
        }
    }
    fprintf(file, "\n]\n");
    return fclose(file) == 0;
}

#endif
