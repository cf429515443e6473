/* How many of its warps an SM can have at once, and what that hangs on, in HTML. */
#include "runtime/device.h"
#include "tools/html.h"
#include "tools/html_profile.h"

enum { WIDTH = 300, HEIGHT = 150, LEFT = 34, TOP = 22, BOTTOM = 30 };

/* What a chart varies. */
struct axis {
    const char *name, *unit;
    int from, to, step, now;
};

struct shape {
    int threads, registers, shared;
};

static double percent(const struct pt_device *d, const struct shape *s)
{
    int warps = (s->threads + PT_DEVICE_WARP - 1) / PT_DEVICE_WARP;
    return 100.0 * pt_device_blocks(d, s->threads, s->registers, s->shared) * warps /
           (d->limits->sm_threads / PT_DEVICE_WARP);
}

static double x_of(const struct axis *a, int value)
{
    return LEFT + (double)(value - a->from) / (a->to - a->from) * (WIDTH - LEFT - 10);
}

static double y_of(double occupancy)
{
    return TOP + (1 - occupancy / 100) * (HEIGHT - TOP - BOTTOM);
}

/* `varied` is the shape's member that the axis means. */
static void put_chart(FILE *out, const struct pt_device *d, const struct axis *a, struct shape *s,
                      int *varied)
{
    double now = percent(d, s), last = -1;
    fprintf(out,
            "<figure><svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
            "aria-label=\"Occupancy by %s: %.0f %% with %d %s\">\n"
            "<path class=\"axis\" d=\"M%d %dV%dH%d\"/><text x=\"2\" y=\"%g\">100</text>"
            "<text x=\"18\" y=\"%g\">0</text><text x=\"%d\" y=\"%d\">%d</text>"
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%d</text>\n<path class=\"roof one\" d=\"",
            WIDTH, HEIGHT, WIDTH, HEIGHT, a->name, now, a->now, a->unit, LEFT, TOP, HEIGHT - BOTTOM,
            WIDTH - 10, y_of(100) + 4, y_of(0) + 4, LEFT, HEIGHT - 12, a->from, WIDTH - 10,
            HEIGHT - 12, a->to);
    for (int v = a->from; v <= a->to; v += a->step) {
        *varied = v;
        double occupancy = percent(d, s);
        if (last < 0)
            fprintf(out, "M%.1f %.1f", x_of(a, v), y_of(occupancy));
        else if (last < occupancy || last > occupancy)
            fprintf(out, "H%.1fV%.1f", x_of(a, v), y_of(occupancy));
        last = occupancy;
    }
    *varied = a->now;
    fprintf(out,
            "H%.1f\"/>\n<circle class=\"dot two\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>"
            "<text x=\"%.1f\" y=\"14\" text-anchor=\"middle\">%.0f %% at %d</text></svg>\n"
            "<figcaption>%% of warps, by %s</figcaption></figure>\n",
            x_of(a, a->to), x_of(a, a->now), y_of(now),
            x_of(a, a->now) < 60           ? 60
            : x_of(a, a->now) > WIDTH - 60 ? WIDTH - 60.0
                                           : x_of(a, a->now),
            now, a->now, a->name);
}

void html_occupancy_put(FILE *out, const struct counted_kernel *k, unsigned number)
{
    char why[256];
    const struct pt_device *d = pt_device_choose(k->device, why, sizeof why);
    struct shape s = {(int)(k->block[0] * k->block[1] * k->block[2]), (int)k->registers,
                      (int)(k->shared_static + k->shared_dynamic)};
    if (!d || !s.threads)
        return;
    struct axis threads = {"threads of a block",    "threads", 32,
                           PT_DEVICE_BLOCK_THREADS, 32,        s.threads};
    struct axis registers = {"registers of a thread",    "registers", 8,
                             PT_DEVICE_THREAD_REGISTERS, 1,           s.registers};
    struct axis shared = {
        "bytes of shared memory of a block", "bytes", 0, d->limits->block_shared, 256, s.shared};
    fprintf(out,
            "<h3 id=\"k%u-occupancy\">Occupancy</h3>\n<p>An SM of %s can have %u blocks of this "
            "shape at once, %.0f %% of its warps: %d threads, %d registers each (an estimate), %d "
            "bytes of shared memory a block.</p>\n<div>\n",
            number, d->name, k->ctas, percent(d, &s), s.threads, s.registers, s.shared);
    put_chart(out, d, &threads, &s, &s.threads);
    if (s.registers)
        put_chart(out, d, &registers, &s, &s.registers);
    put_chart(out, d, &shared, &s, &s.shared);
    fputs("</div>\n", out);
}
