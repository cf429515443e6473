/* What checkers find: kept by the engine, each finding once, with how often it was seen. */
#ifndef PTERA_RUNTIME_FINDING_H
#define PTERA_RUNTIME_FINDING_H

#include "runtime/engine.h"

struct pt_job;

/* One that is told apart. */
struct pt_found {
    uint64_t key;
    uint64_t seen_by; /* the last launch that it was seen in: grid_id; 0: none */
    uint64_t told_to; /* of whoever is told in each launch, to tell those that know it apart */
    ptera_finding data;
    ptera_party parties[2];
    struct pt_arena arena; /* has it, and its texts */
};

/* Where a finding comes from. */
struct pt_finding_source {
    ptera_engine *engine;
    const ptera_kernel *kernels[2]; /* whose code the parties are in; NULL: none */
    const struct pt_warp *warp;     /* who found it; NULL: no thread did */
    struct pt_job *job;             /* whose that is */
};

/* False: the pattern of kernels is too long. */
bool pt_finding_may_be(const ptera_options *options);
void pt_finding_init(ptera_engine *engine, const ptera_options *options);
/* Whether a launch of the kernel, which begins, is one whose findings are not told. */
bool pt_finding_is_mute(ptera_engine *engine, const char *kernel);
void pt_finding_close(ptera_engine *engine);
/* As pt_services.found. */
void pt_finding_add(const struct pt_warp *warp, const struct pt_finding *finding);
/* The warp's fault as a finding of the checker of memory, if it is one. */
void pt_finding_add_fault(const struct pt_warp *warp, const struct pt_fault *fault);
/* From now on pt_findings.tell is told of a finding in each launch in which it is seen. */
void pt_finding_tell_launches(ptera_engine *engine);
/* Says that finding `index` is told to `whom`. False: it was the last time, too. */
bool pt_finding_tell_to(ptera_engine *engine, unsigned index, uint64_t whom);
/* True if it was told to `whom` last. */
bool pt_finding_was_told(ptera_engine *engine, unsigned index, uint64_t whom);
/* Likewise of what the host does while no kernel runs: the party's `place` says what that is. */
void pt_finding_add_host(ptera_engine *engine, const struct pt_finding *finding);
/* Likewise between two operations of streams: of the kernels that the parties are of, by whom it is
 * told (NULL: of none). */
void pt_finding_add_kernels(ptera_engine *engine, const struct pt_finding *finding,
                            ptera_kernel *const kernels[2]);
/* The host reads memory, by what `place` says: finds what was made of what nobody wrote. Returns
 * true if there is some. */
bool pt_finding_add_unmade(ptera_engine *engine, uint64_t from, uint64_t bytes, const char *place);

#endif
