/* Text that kernels print: it waits for the next call that synchronises. */
#include "runtime/cuda/printed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/context_list.h"
#include "runtime/thread.h"

/* A program whose reader has gone is not to die of what its kernels print. */
static void print_out(const char *text, size_t bytes, bool is_last)
{
    struct pt_quiet quiet;
    pt_thread_quiet(&quiet);
    fwrite(text, 1, bytes, stdout);
    if (is_last)
        fflush(stdout);
    pt_thread_unquiet(&quiet);
}

static void write_out(CUcontext ctx, bool is_last)
{
    print_out(ctx->printed, ctx->n_printed, is_last);
    ctx->n_printed = 0;
}

/* From any worker. Text waits for the next synchronising call, or until there is as much as the
 * FIFO holds: a GPU would begin to lose lines there (which ones depends on when it is emptied),
 * here all are written. */
void pt_cu_printed_take(void *ud, const char *text, size_t bytes)
{
    CUcontext ctx = ud;
    pthread_mutex_lock(&ctx->print_lock);
    if (ctx->n_printed + bytes > ctx->cap_printed) {
        size_t cap = (ctx->n_printed + bytes) * 2;
        char *more = realloc(ctx->printed, cap);
        if (more) {
            ctx->printed = more;
            ctx->cap_printed = cap;
        } else {
            write_out(ctx, false);
        }
    }
    if (ctx->n_printed + bytes <= ctx->cap_printed) {
        memcpy(ctx->printed + ctx->n_printed, text, bytes);
        ctx->n_printed += bytes;
    } else {
        print_out(text, bytes, false);
    }
    if (ctx->n_printed > ctx->limits[CU_LIMIT_PRINTF_FIFO_SIZE])
        write_out(ctx, false);
    pthread_mutex_unlock(&ctx->print_lock);
}

void pt_cu_printed_flush(CUcontext ctx)
{
    pthread_mutex_lock(&ctx->print_lock);
    if (ctx->n_printed)
        write_out(ctx, true);
    pthread_mutex_unlock(&ctx->print_lock);
}
