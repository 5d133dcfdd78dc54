/* The checks, families, severities and surenesses as enums with their words. No text of reports. */
#ifndef SSAN_CORE_CHECK_H
#define SSAN_CORE_CHECK_H

enum check {
#define CHECK(name, id, family, severity, rank, page) CHECK_##name,
#include "core/rules.def"
#undef CHECK
    CHECK_COUNT
};

enum family { FAMILY_RACE, FAMILY_LIFETIME, FAMILY_MISUSE };
enum severity { SEVERITY_ADVICE, SEVERITY_WARNING, SEVERITY_ERROR };

enum sureness {
#define SURENESS(name, word) SURENESS_##name,
#include "core/sureness.def"
#undef SURENESS
};

struct check_info {
    const char *id;   /* "SSAN-RAW" */
    const char *page; /* in docs/rules */
    enum family family;
    enum severity severity; /* before readings and sureness lower it */
    int rank;
};

const struct check_info *check_info(enum check check);
const char *family_word(enum family family);
const char *severity_word(enum severity severity);
const char *sureness_word(enum sureness sureness);

#endif
