/* Prints what a comparison has found; decides nothing. Numbers are printed with as many digits as
 * name them: elements by the shortest text, distances with 6. */
#include "cli/compare_print.h"

#include "json/values.h"

#include "compare/number.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SCHEMA "streamsan-compare/1"

/* Columns of the table of mismatches. */
#define COLUMN_A   24
#define COLUMN_B   (COLUMN_A + 26)
#define COLUMN_ABS (COLUMN_B + 26)
#define COLUMN_REL (COLUMN_ABS + 13)
#define COLUMN_ULP (COLUMN_REL + 13)

/* "1027", and for an array of several dimensions "1027 [1, 3]". */
static void add_place(struct strbuf *out, const struct array *array, uint64_t index)
{
    uint64_t inside = array->count;
    strbuf_printf(out, "%" PRIu64, index);
    for (unsigned i = 0; array->dimensions > 1 && i < array->dimensions; i++) {
        inside /= array->shape[i];
        strbuf_printf(out, "%s%" PRIu64, i ? ", " : " [", index / inside % array->shape[i]);
    }
    strbuf_puts(out, array->dimensions > 1 ? "]" : "");
}

/* "1.5 "; with its bits, "nan 0x7fc00001 ". */
static void add_element(struct strbuf *out, const char *text, const struct array *array,
                        uint64_t bits, bool with_bits)
{
    strbuf_printf(out, "%s ", text);
    if (with_bits) {
        strbuf_printf(out, "0x%0*" PRIx64 " ", 2 * (int)ssan_compare_size(array->type), bits);
    }
}

static void add_mismatch(struct strbuf *out, const struct array *array,
                         const struct ssan_compare_pair *pair)
{
    char a[NUMBER_TEXT_ROOM], b[NUMBER_TEXT_ROOM];
    number_text(a, number_type(array->type), pair->a_bits);
    number_text(b, number_type(array->type), pair->b_bits);
    const bool with_bits = pair->a_bits != pair->b_bits && strcmp(a, b) == 0; /* two NaNs */
    add_place(out, array, pair->index);
    strbuf_puts(out, " ");
    strbuf_pad_to(out, COLUMN_A);
    add_element(out, a, array, pair->a_bits, with_bits);
    strbuf_pad_to(out, COLUMN_B);
    add_element(out, b, array, pair->b_bits, with_bits);
    strbuf_pad_to(out, COLUMN_ABS);
    if (pair->measured) {
        strbuf_printf(out, "%.6g ", pair->abs);
        strbuf_pad_to(out, COLUMN_REL);
        strbuf_printf(out, "%.6g ", pair->rel);
        strbuf_pad_to(out, COLUMN_ULP);
        strbuf_printf(out, "%" PRIu64 "\n", pair->ulp);
    } else {
        strbuf_puts(out, "-            -            -\n");
    }
}

static void add_table(struct strbuf *out, const struct array *a,
                      const struct ssan_compare_result *result)
{
    strbuf_puts(out, "at");
    strbuf_pad_to(out, COLUMN_A);
    strbuf_puts(out, "A");
    strbuf_pad_to(out, COLUMN_B);
    strbuf_puts(out, "B");
    strbuf_pad_to(out, COLUMN_ABS);
    strbuf_puts(out, "abs");
    strbuf_pad_to(out, COLUMN_REL);
    strbuf_puts(out, "rel");
    strbuf_pad_to(out, COLUMN_ULP);
    strbuf_puts(out, "ulp\n");
    for (size_t i = 0; i < result->first_count; i++) {
        add_mismatch(out, a, &result->first[i]);
    }
    if (result->first_count < result->different) {
        strbuf_printf(out, "... and %" PRIu64 " more\n", result->different - result->first_count);
    }
}

/* How far apart the pairs of finite numbers are. */
static void add_distances(struct strbuf *out, const struct ssan_compare_result *result)
{
    if (result->max_ulp) {
        strbuf_printf(out,
                      "; max abs %.6g at %" PRIu64 ", max rel %.6g at %" PRIu64 ", max ulp %" PRIu64
                      " at %" PRIu64,
                      result->max_abs, result->max_abs_at, result->max_rel, result->max_rel_at,
                      result->max_ulp, result->max_ulp_at);
    } else if (result->count == 0) {
        strbuf_puts(out, "; nothing was compared");
    } else if (result->different == 0 && result->measured == result->count) {
        strbuf_puts(out, "; all numbers are the same");
    } else if (result->measured) {
        strbuf_puts(out, "; finite numbers are no step apart");
    }
}

void compare_print_summary(struct strbuf *out, const struct ssan_compare_result *result,
                           const struct ssan_compare_options *how, enum ssan_compare_type type)
{
    if (result->different) {
        strbuf_printf(out, "different: %" PRIu64 " of %" PRIu64 " elements of %s",
                      result->different, result->count, ssan_compare_type_name(type));
    } else {
        strbuf_printf(out, "equal: %" PRIu64 " elements of %s", result->count,
                      ssan_compare_type_name(type));
    }
    add_distances(out, result);
    if (result->a_nans || result->b_nans) {
        strbuf_printf(out, "; NaNs: %" PRIu64 " in A, %" PRIu64 " in B", result->a_nans,
                      result->b_nans);
    }
    if (result->different && result->a_nans && result->b_nans &&
        how->nan == SSAN_COMPARE_NAN_NEVER) {
        strbuf_puts(out, " (--nan equal takes two NaNs for equal)");
    }
    if (result->a_infs || result->b_infs) {
        strbuf_printf(out, "; infinities: %" PRIu64 " in A, %" PRIu64 " in B", result->a_infs,
                      result->b_infs);
    }
}

void compare_print_text(struct strbuf *out, const struct array *a, const struct array *b,
                        const struct ssan_compare_options *how,
                        const struct ssan_compare_result *result, bool quiet)
{
    (void)b;
    if (!quiet && result->first_count) {
        add_table(out, a, result);
    }
    compare_print_summary(out, result, how, a->type);
    strbuf_puts(out, "\n");
}

/* A count; a double above the largest that JSON readers keep exact. */
static json_t *whole(uint64_t number)
{
    return number <= INT64_MAX ? json_integer((json_int_t)number) : json_real((double)number);
}

static json_t *real(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

static json_t *measured(bool is, json_t *value)
{
    if (is) {
        return value;
    }
    json_decref(value);
    return json_null();
}

static json_t *value_object(const struct array *array, uint64_t bits)
{
    char text[NUMBER_TEXT_ROOM], hex[24];
    number_text(text, number_type(array->type), bits);
    snprintf(hex, sizeof hex, "0x%0*" PRIx64, 2 * (int)ssan_compare_size(array->type), bits);
    return json_pack("{s:s,s:s}", "value", text, "bits", hex);
}

static json_t *mismatch_object(const struct array *array, const struct ssan_compare_pair *pair)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "index", whole(pair->index), "a",
                     value_object(array, pair->a_bits), "b", value_object(array, pair->b_bits),
                     "abs", measured(pair->measured, real(pair->abs)), "rel",
                     measured(pair->measured, real(pair->rel)), "ulp",
                     measured(pair->measured, whole(pair->ulp)));
}

static json_t *largest_object(json_t *value, uint64_t at)
{
    return json_pack("{s:o,s:o}", "value", value, "index", whole(at));
}

static json_t *mismatches_array(const struct array *array, const struct ssan_compare_result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < result->first_count; i++) {
        if (json_array_append_new(list, mismatch_object(array, &result->first[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static json_t *rules_object(const struct ssan_compare_options *options)
{
    static const char *const nans[] = {"never", "equal", "bits"};
    static const char *const infs[] = {"equal", "never"}, *const zeros[] = {"equal", "distinct"};
    return json_pack("{s:f,s:f,s:o,s:s,s:s,s:s}", "abs", options->abs, "rel", options->rel, "ulp",
                     whole(options->ulp), "nan", nans[options->nan], "inf", infs[options->inf],
                     "zero", zeros[options->zero]);
}

static json_t *summary_object(const struct ssan_compare_result *result)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:{s:o,s:o},s:{s:o,s:o}}", "count",
                     whole(result->count), "different", whole(result->different), "measured",
                     whole(result->measured), "max_abs",
                     largest_object(real(result->max_abs), result->max_abs_at), "max_rel",
                     largest_object(real(result->max_rel), result->max_rel_at), "max_ulp",
                     largest_object(whole(result->max_ulp), result->max_ulp_at), "nans", "a",
                     whole(result->a_nans), "b", whole(result->b_nans), "infinities", "a",
                     whole(result->a_infs), "b", whole(result->b_infs));
}

bool compare_print_json(struct strbuf *out, const struct array *a, const struct array *b,
                        const struct ssan_compare_options *options,
                        const struct ssan_compare_result *result)
{
    json_t *root =
        json_pack("{s:s,s:{s:s,s:s},s:b,s:s,s:o,s:o,s:o,s:o,s:o}", "schema", SCHEMA, "tool", "name",
                  "streamsan", "version", STREAMSAN_VERSION, "equal", result->different == 0,
                  "type", ssan_compare_type_name(a->type), "a", json_text(a->path), "b",
                  json_text(b->path), "rules", rules_object(options), "summary",
                  summary_object(result), "mismatches", mismatches_array(a, result));
    return json_print(out, root);
}
