/* Any words behind `streamsan cc`: a job, or a refusal with a sentence. */
#include "cc/job.h"
#include "fuzz/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_words words;
    struct cc_job job;
    struct ssan_error err = {0};
    char name[] = "cc";
    fuzz_words(&words, name, data, size);
    const enum ssan_status status = job_parse(&job, words.argc, words.argv, &err);
    if (status == SSAN_OK) {
        for (size_t i = 0; i < job.items.count; i++) {
            if (!job_stem(&job, job.items.items[i].text)) {
                abort();
            }
        }
    } else if (status != SSAN_USAGE || !err.text[0]) {
        abort();
    }
    job_finish(&job);
    fuzz_words_free(&words);
    return 0;
}
