/* Records of what was done, made from the result and from files that are there. */
#include "contract/evidence.h"

#include "contract/result_json.h"
#include "contract/tree.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SCHEMA "streamsan-evidence/1"

enum ssan_status evidence_begin(const char *folder, struct ssan_error *err)
{
    bool empty = true;
    if (mkdir(folder, 0777) == 0) {
        return SSAN_OK;
    }
    if (errno != EEXIST) {
        return file_fail(err, errno, "can't create", folder);
    }
    DIR *open = opendir(folder);
    if (!open) {
        return file_fail(err, errno, "can't read", folder);
    }
    for (const struct dirent *entry; (entry = readdir(open));) {
        empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    }
    closedir(open);
    return empty
               ? SSAN_OK
               : ssan_fail(err, SSAN_USAGE, 0,
                           "--evidence takes a new or an empty folder, and %.300s holds something",
                           folder);
}

/* {"sources/x.cu": "<sha256>"} of all files below sources/. NULL: `status` says why. */
static json_t *hash_sources(const struct contract_options *options, enum ssan_status *status,
                            struct ssan_error *err)
{
    struct strbuf folder = {0};
    json_t *object = json_object();
    strbuf_printf(&folder, "%s/sources", options->work);
    char *paths[] = {folder.text, NULL};
    FTS *tree = folder.failed || !object ? NULL : fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    const FTSENT *found;
    *status = tree ? SSAN_OK : ssan_no_memory(err);
    while (*status == SSAN_OK && (found = fts_read(tree))) {
        char digest[DIGEST_ROOM];
        if (found->fts_info == FTS_F) {
            *status = digest_file(digest, found->fts_path, err);
            if (*status == SSAN_OK &&
                !result_put(object, found->fts_path + strlen(options->work) + 1,
                            json_string(digest))) {
                *status = ssan_no_memory(err);
            }
        }
    }
    if (tree) {
        fts_close(tree);
    }
    strbuf_finish(&folder);
    if (*status) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *built(const struct contract_result *result, size_t index)
{
    const struct plan_build *build = &result->plan->builds.items[index];
    json_t *object = json_object();
    if (!result_put(object, "folder", json_text(build->folder)) ||
        !result_put(object, "working_directory", json_text("sources")) ||
        !result_put(object, "command", json_words(build->command.words)) ||
        !result_put(object, "exit_code", result_code(result->builds[index].code))) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* What one record is made of. */
struct recording {
    const struct contract_result *result;
    const struct contract_options *options;
    json_t *host, *devices, *sources;
    char date[32];
};

static json_t *record(const struct recording *recording, size_t index)
{
    const struct contract_result *result = recording->result;
    const struct plan_run *run = &result->plan->runs.items[index];
    const char *device =
        matrix_value(&result->plan->matrices.items[run->matrix], run->row, "device", 6);
    json_t *root = json_pack("{s:s,s:s}", "schema", SCHEMA, "date", recording->date);
    const bool good =
        result_put(root, "contract", json_text(result->spec->contract->name)) &&
        result_put(root, "sources", json_incref(recording->sources)) &&
        result_put(root, "build", built(result, run->build)) &&
        result_put(root, "working_directory", json_text(run->folder)) &&
        result_put(root, "environment", json_words(run->environment)) &&
        result_put(root, "run", result_run(result, index)) &&
        result_put(root, "host", json_incref(recording->host)) &&
        result_put(root, "device", json_incref(json_object_get(recording->devices, device)));
    if (!good) {
        json_decref(root);
        return NULL;
    }
    return root;
}

static enum ssan_status write_document(const struct contract_options *options, const char *folder,
                                       const char *name, struct strbuf *text, bool good,
                                       struct ssan_error *err)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s%s%s", options->work, folder, *folder ? "/" : "", name);
    const enum ssan_status status =
        good && !text->failed && !path.failed
            ? tree_write(strbuf_text(&path), strbuf_text(text), text->length, err)
            : ssan_no_memory(err);
    strbuf_finish(&path);
    strbuf_finish(text);
    return status;
}

static enum ssan_status write_records(const struct recording *recording, struct ssan_error *err)
{
    const struct contract_result *result = recording->result;
    enum ssan_status status = SSAN_OK;
    for (size_t i = 0; i < result->plan->runs.count && status == SSAN_OK; i++) {
        struct strbuf text = {0};
        const bool good = json_print(&text, record(recording, i));
        status = write_document(recording->options, result->plan->runs.items[i].folder, "run.json",
                                &text, good, err);
    }
    if (status == SSAN_OK) {
        struct strbuf text = {0};
        const bool good = contract_print_json(&text, result);
        status = write_document(recording->options, "", "result.json", &text, good, err);
    }
    return status;
}

enum ssan_status evidence_finish(const struct contract_result *result,
                                 const struct contract_options *options,
                                 const struct machine_tools *tools, char digest[DIGEST_ROOM],
                                 struct ssan_error *err)
{
    struct recording recording = {.result = result, .options = options};
    const time_t now = time(NULL);
    struct tm utc;
    enum ssan_status status =
        machine_ask(&recording.host, &recording.devices, result, options, tools, err);
    gmtime_r(&now, &utc);
    strftime(recording.date, sizeof recording.date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (status == SSAN_OK) {
        recording.sources = hash_sources(options, &status, err);
    }
    if (status == SSAN_OK) {
        status = write_records(&recording, err);
    }
    if (status == SSAN_OK) {
        status = manifest_write(options->work, digest, err);
    }
    json_decref(recording.host);
    json_decref(recording.devices);
    json_decref(recording.sources);
    return status;
}
