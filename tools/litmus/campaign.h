/* Many litmus tests, in processes of their own, and the report of what came of them. */
#ifndef PTERA_TOOLS_LITMUS_CAMPAIGN_H
#define PTERA_TOOLS_LITMUS_CAMPAIGN_H

#include "tools/litmus/run.h"

struct litmus_campaign {
    struct litmus_run_options run;
    uint64_t seed;
    unsigned count, workers;
};

/* Runs them and tells. False: something is forbidden, has failed or died. */
bool litmus_campaign_run(const struct litmus_campaign *campaign);

#endif
