/* The journal of a campaign: which kernels have been run, with what result, so that a run that was
 * killed goes on where it was. Each rank has a file of its own; a report is made of all of them.
 *
 * A line of text each: what the campaign is; "begin SEED"; "end SEED VERDICT TEXT". A kernel that
 * has begun and not ended was at hand when the run was killed, and is run again. */
#ifndef PTERA_TOOLS_FUZZ_JOURNAL_H
#define PTERA_TOOLS_FUZZ_JOURNAL_H

#include "tools/fuzz/trial.h"

enum { JOURNAL_WHAT = 200 };

/* Rank R of N runs the kernels of seeds seed + R, seed + R + N, ... below seed + count. */
struct campaign {
    unsigned long long seed, count;
    unsigned rank, size;
    char what[JOURNAL_WHAT]; /* how kernels are run: another run of it must do the same */
};

struct journal;

/* Goes on with a file, or makes it. `ended`: how many kernels have ended, of each verdict. NULL,
 * having said why. */
struct journal *journal_open(const char *path, const struct campaign *campaign,
                             unsigned long ended[VERDICTS]);
/* The first seed that has not ended. */
unsigned long long journal_next(const struct journal *journal);
/* False, having said why, if it cannot be written. */
bool journal_begin(struct journal *journal, unsigned long long seed);
bool journal_end(struct journal *journal, unsigned long long seed, const struct trial *trial);
void journal_close(struct journal *journal);

/* The file of a rank: one behind the other, by their numbers. The caller frees. */
char *journal_path(const char *path, const struct campaign *campaign);
/* One report of the journals of a campaign. False if kernels failed, or a journal is
 * not of the campaign. */
bool journal_report(char **paths, unsigned n);
/* The same where all ranks have ended; else nothing. */
bool journal_report_last(const char *path, const struct campaign *campaign);

#endif
