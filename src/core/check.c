/* Words of checks, families, severities and surenesses. */
#include "core/check.h"

static const struct check_info checks[CHECK_COUNT] = {
#define CHECK(name, id, family, severity, rank, page)                                              \
    {id, page, FAMILY_##family, SEVERITY_##severity, rank},
#include "core/rules.def"
#undef CHECK
};

const struct check_info *check_info(enum check check)
{
    return &checks[check];
}

const char *family_word(enum family family)
{
    static const char *const words[] = {"race", "lifetime", "misuse"};
    return words[family];
}

const char *severity_word(enum severity severity)
{
    static const char *const words[] = {"advice", "warning", "error"};
    return words[severity];
}

const char *sureness_word(enum sureness sureness)
{
    static const char *const words[] = {
#define SURENESS(name, word) word,
#include "core/sureness.def"
#undef SURENESS
    };
    return words[sureness];
}
