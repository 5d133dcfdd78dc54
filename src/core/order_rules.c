/* The table of ordering rules: order.def, to be looked up. */
#include "core/order.h"

#include <string.h>

static const struct order_info infos[ORDER_COUNT] = {
    [ORDER_NONE] = {"", "", "", "", false},
#define ORDER(name, id, source, test, code, why) [ORDER_##name] = {id, source, test, why, code},
#include "core/order.def"
#undef ORDER
};

const struct order_info *order_info(uint32_t rule)
{
    return rule > ORDER_NONE && rule < ORDER_COUNT ? &infos[rule] : NULL;
}

bool order_is_asked_for(const char *id)
{
    static const enum order_rule asked[] = {
#define ASKED_FOR(name) ORDER_##name,
#include "core/order.def"
#undef ASKED_FOR
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        if (strcmp(infos[asked[i]].id, id) == 0) {
            return true;
        }
    }
    return false;
}
