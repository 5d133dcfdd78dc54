/* `streamsan evidence verify FOLDER`: whether the evidence of a contract is as it was recorded.
 * Exit code 0 as recorded, 1 a file changed, missing or added. */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/output.h"

#include "contract/manifest.h"
#include "json/values.h"

#include <string.h>
#include <unistd.h>

#define SCHEMA            "streamsan-evidence-verify/1"
#define EXIT_CODE_DIFFERS 1

/* Files that were added are none of those of the manifest. */
static void print_counts(struct strbuf *out, const struct manifest_result *result)
{
    size_t added = 0;
    for (size_t i = 0; i < result->differences.count; i++) {
        added += result->differences.items[i].change == MANIFEST_ADDED;
    }
    strbuf_printf(out, "streamsan evidence: not as recorded: %zu of %zu files differ",
                  result->differences.count - added, result->files);
    if (added) {
        strbuf_printf(out, ", %zu added", added);
    }
    strbuf_puts(out, "\n");
}

static void print_text(struct strbuf *out, const struct manifest_result *result, bool quiet)
{
    const size_t count = result->differences.count;
    for (size_t i = 0; i < count && !quiet; i++) {
        strbuf_printf(out, "%s ", manifest_change_word(result->differences.items[i].change));
        const char *path = result->differences.items[i].path;
        strbuf_add_printable(out, path, strlen(path), 4096);
        strbuf_puts(out, "\n");
    }
    if (count) {
        print_counts(out, result);
    } else {
        strbuf_printf(out,
                      "streamsan evidence: as recorded: %zu files; sha256 of the manifest: %s\n",
                      result->files, result->digest);
    }
}

static bool print_json(struct strbuf *out, const struct manifest_result *result)
{
    json_t *list = json_array();
    bool good = list != NULL;
    for (size_t i = 0; good && i < result->differences.count; i++) {
        const struct manifest_difference *difference = &result->differences.items[i];
        good = json_array_append_new(list, json_pack("{s:s,s:o}", "change",
                                                     manifest_change_word(difference->change),
                                                     "path", json_text(difference->path))) == 0;
    }
    json_t *root = json_pack("{s:s,s:b,s:I,s:s,s:o}", "schema", SCHEMA, "as_recorded",
                             result->differences.count == 0, "files", (json_int_t)result->files,
                             "manifest_sha256", result->digest, "differences", list);
    if (!good) {
        json_decref(root);
        root = NULL;
    }
    return json_print(out, root);
}

static int evidence(const struct options *options)
{
    struct manifest_result result;
    struct strbuf text = {0};
    struct ssan_error err = {0};
    enum ssan_status status = manifest_verify(&result, options->arguments[1], &err);
    if (status == SSAN_OK) {
        if (options->format == FORMAT_JSON) {
            text.failed |= !print_json(&text, &result);
        } else {
            print_text(&text, &result, options->quiet);
        }
        status = output_write(options->output, STDOUT_FILENO, &text, &err);
    }
    const int code = status                     ? command_fail("evidence", &err)
                     : result.differences.count ? EXIT_CODE_DIFFERS
                                                : 0;
    strbuf_finish(&text);
    manifest_result_finish(&result);
    return code;
}

int cmd_evidence(int argc, char **argv)
{
    const struct command command = {
        .verb = "evidence",
        .mask = VERB_EVIDENCE,
        .wants = WANTS_EVIDENCE,
        .ignores_pipe = true,
        .act = evidence,
    };
    return command_run(&command, argc, argv);
}
