/* A call counts as one of a line when any frame of its stack lies there: a line stands for what the
 * functions that it calls submit, too. Without such places no stack is looked at. */
#include "vcuda/plan_sites.h"

#include "trace/message.h"
#include "vcuda/site.h"

#include <string.h>

static const struct plan *plan;
static bool met_stream;     /* something was submitted to a stream to serialize */
static bool has[2], met[2]; /* by enum plan_use: there are places; a call came from one */

void plan_sites_follow(const struct plan *follow)
{
    plan = follow;
    memset(has, 0, sizeof has); /* of the parent, in a forked child */
    met_stream = false;
    memset(met, 0, sizeof met);
    for (size_t i = 0; i < plan->places.count; i++) {
        has[plan->places.items[i].use] = true;
    }
}

static bool is_from(struct call *call, enum plan_use use)
{
    uint32_t site;
    if (!has[use]) {
        return false;
    }
    site = call_site(call);
    for (size_t i = 0; i < plan->places.count; i++) {
        const struct plan_place *place = &plan->places.items[i];
        if (place->use == use && site_passes(site, place->module, place->begin, place->end)) {
            met[use] = true;
            return true;
        }
    }
    return false;
}

bool plan_sites_ignores(struct call *call)
{
    return is_from(call, PLAN_IGNORE);
}

bool plan_sites_serializes(struct call *call, const struct op *op)
{
    if (!plan) {
        return false;
    }
    for (size_t i = 0; i < plan->serialize_streams.count; i++) {
        if (plan->serialize_streams.items[i] == op->stream->id) {
            met_stream = true;
            return true;
        }
    }
    return plan->serialize_all || is_from(call, PLAN_SERIALIZE);
}

void plan_sites_tell(void)
{
    if (has[PLAN_IGNORE] && !met[PLAN_IGNORE]) {
        message_tell("no join or wait was called from the lines to ignore");
    }
    if (plan && plan->serialize_streams.count > 0 && !met_stream) {
        message_tell("nothing was submitted to the streams to serialize");
    }
    if (has[PLAN_SERIALIZE] && !met[PLAN_SERIALIZE]) {
        message_tell("nothing was submitted from the lines to serialize");
    }
}
