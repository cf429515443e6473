/* Rooflines in HTML: what kernels compute for the bytes that they ask for, under what the device,
 * and this machine, can do at most. */
#include <math.h>
#include <string.h>

#include "runtime/device.h"
#include "tools/html.h"
#include "tools/html_profile.h"
#include "tools/machine.h"

enum { WIDTH = 580, HEIGHT = 330, LEFT = 58, RIGHT = 12, TOP = 14, BOTTOM = 40, DECADES = 5 };
enum { MOST = 60 /* kernels that are drawn */ };

static const double x_least = 1. / 64, x_most = 512; /* operations a byte */

struct roof {
    const char *name, *style;
    double gflops;
    int label; /* its text is so far below it */
};

struct chart {
    const char *title;
    double gbytes;
    struct roof roofs[2];
    double top; /* of the axis */
};

/* Of a launch. */
struct point {
    double flops, bytes, seconds;
    double device_seconds; /* on the device, as a model has it; 0: it was not asked */
};

static struct point point_of(const struct counted_kernel *k)
{
    static const char *const names[] = {"flop_count_sp", "flop_count_dp", "flop_count_hp"};
    struct point p = {.seconds = k->launches ? 1e-9 * (double)k->ns / (double)k->launches : 0};
    struct sums s;
    metrics_sum(&s, k);
    if (k->is_timed)
        p.device_seconds = 1e-9 * s.estimate.ns;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        p.flops += metrics_value(metrics_find(names[i], strlen(names[i])), &s);
    for (int kind = 0; kind < KIND_BRANCH && k->launches; kind++)
        p.bytes += 32 * (double)s.access[kind][COUNTED_GLOBAL].sum.parts / (double)k->launches;
    return p;
}

/* What a roof allows, in GFLOP/s. */
static double under(const struct roof *roof, double gbytes, double intensity)
{
    double by_memory = gbytes * intensity;
    return by_memory < roof->gflops ? by_memory : roof->gflops;
}

/* ---- pictures -------------------------------------------------------------------------------- */

static double x_of(double intensity)
{
    double share = log(intensity / x_least) / log(x_most / x_least);
    return LEFT + fmax(0, fmin(1, share)) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct chart *c, double gflops)
{
    double share = 1 + log10(gflops / c->top) / DECADES;
    return HEIGHT - BOTTOM - fmax(0, fmin(1, share)) * (HEIGHT - TOP - BOTTOM);
}

static void put_axes(FILE *out, const struct chart *c)
{
    fprintf(
        out,
        "<svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Roofline "
        "of %s; the table below has its numbers\">\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT, c->title);
    for (int i = 0; i <= DECADES; i++) {
        double v = c->top * pow(10, -i), y = y_of(c, v);
        fprintf(out,
                "<path class=\"axis\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" "
                "text-anchor=\"end\">%g</text>\n",
                LEFT, y, WIDTH - RIGHT, LEFT - 5, y + 4, v);
    }
    for (double v = x_least; v <= x_most; v *= 8)
        fprintf(out,
                "<path class=\"axis\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"middle\">%.3g</text>\n",
                x_of(v), TOP, HEIGHT - BOTTOM, x_of(v), HEIGHT - BOTTOM + 15, v);
    fprintf(out,
            "<text class=\"weak\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">floating-point "
            "operations a byte (GFLOP/s above)</text>\n",
            WIDTH / 2, HEIGHT - 8);
}

static void put_roof(FILE *out, const struct chart *c, const struct roof *roof)
{
    double ridge = fmax(x_least, fmin(x_most, roof->gflops / c->gbytes));
    fprintf(out,
            "<path class=\"roof %s\" d=\"M%.1f %.1fL%.1f %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" "
            "text-anchor=\"end\">%s %.0f</text>\n",
            roof->style, x_of(x_least), y_of(c, under(roof, c->gbytes, x_least)), x_of(ridge),
            y_of(c, under(roof, c->gbytes, ridge)), WIDTH - RIGHT, WIDTH - RIGHT - 4,
            y_of(c, roof->gflops) + roof->label, roof->name, roof->gflops);
}

/* A kernel, where it is, or, hollow, where it is at most. */
static void put_point(FILE *out, const struct chart *c, size_t number, double intensity,
                      double seconds, double flops)
{
    double most = under(&c->roofs[0], c->gbytes, intensity);
    double gflops = seconds > 0 ? 1e-9 * flops / seconds : most;
    double x = x_of(intensity), y = y_of(c, gflops);
    fprintf(out,
            "<g><title>kernel %zu: %s%.3g GFLOP/s</title><circle class=\"dot four%s\" "
            "cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/><text x=\"%.1f\" y=\"%.1f\">%zu</text></g>\n",
            number, seconds > 0 ? "" : "at most ", gflops, seconds > 0 ? " full" : "", x, y, x + 7,
            y + 13, number);
}

static void put_chart(FILE *out, struct chart *c, const struct counts *counts, bool is_measured)
{
    c->top = pow(10, ceil(log10(c->roofs[0].gflops)));
    fputs("<figure>", out);
    put_axes(out, c);
    for (int i = 0; i < 2; i++)
        if (c->roofs[i].gflops > 0)
            put_roof(out, c, &c->roofs[i]);
    for (size_t i = 0; i < counts->n && i < MOST; i++) {
        struct point p = point_of(&counts->v[i]);
        if (p.flops > 0)
            put_point(out, c, i, p.bytes > 0 ? p.flops / p.bytes : x_most,
                      is_measured ? p.seconds : p.device_seconds, p.flops);
    }
    fprintf(out, "</svg>\n<figcaption>%s: %.0f GB/s</figcaption></figure>\n", c->title, c->gbytes);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void put_row(FILE *out, const struct counted_kernel *k, size_t number,
                    const struct chart *device)
{
    struct point p = point_of(k);
    double intensity = p.bytes > 0 ? p.flops / p.bytes : 0;
    fprintf(out, "<tr><td>%zu</td><th scope=\"row\" class=\"text\"><a href=\"#k%zu\">", number,
            number);
    html_put_text(out, k->name);
    fprintf(out, "</a></th><td>%.6g</td><td>%.6g</td>", 1e-6 * p.flops, 1e-6 * p.bytes);
    if (p.flops > 0 && p.bytes > 0)
        fprintf(out, "<td>%.3g</td>", intensity);
    else
        fputs("<td/>", out);
    if (p.flops > 0 && p.bytes > 0 && device->gbytes > 0)
        fprintf(out, "<td>%.6g</td><td class=\"text\">%s</td>",
                under(&device->roofs[0], device->gbytes, intensity),
                device->gbytes * intensity < device->roofs[0].gflops ? "memory" : "arithmetic");
    else
        fputs("<td/><td/>", out);
    if (p.flops > 0 && p.device_seconds > 0)
        fprintf(out, "<td>%.3g</td>", 1e-9 * p.flops / p.device_seconds);
    else
        fputs("<td/>", out);
    fprintf(out, "<td>%.3g</td></tr>\n", p.seconds > 0 ? 1e-9 * p.flops / p.seconds : 0);
}

static void put_table(FILE *out, const struct counts *counts, const struct chart *device)
{
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Roofline in numbers\">"
          "<table><caption>Of a launch</caption><thead><tr><th scope=\"col\">#</th>"
          "<th scope=\"col\" class=\"text\">kernel</th><th scope=\"col\">MFLOP</th>"
          "<th scope=\"col\">MB of sectors</th><th scope=\"col\">FLOP a byte</th>"
          "<th scope=\"col\">at most GFLOP/s</th><th scope=\"col\" class=\"text\">bound by</th>"
          "<th scope=\"col\">estimated GFLOP/s</th><th scope=\"col\">here "
          "GFLOP/s</th></tr></thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < counts->n; i++)
        put_row(out, &counts->v[i], i, device);
    fputs("</tbody></table></div>\n", out);
}

/* Of the first kernel's device; no roof where its clock is not known. */
static struct chart chart_of_device(const struct counts *counts)
{
    char why[256];
    const struct pt_device *d =
        counts->n ? pt_device_choose(counts->v[0].device, why, sizeof why) : NULL;
    if (!d || !d->boost_mhz)
        return (struct chart){0};
    double gfma = 1e-3 * d->sms * (double)d->boost_mhz;
    return (struct chart){.title = d->name,
                          .gbytes = 1e-6 * 2 * (double)d->memory_khz * d->memory_bits / 8,
                          .roofs = {{"32 bits", "one", 2 * gfma * d->limits->fma32, -5},
                                    {"64 bits", "two thin", 2 * gfma * d->limits->fma64, 14}}};
}

void html_roofline_put(FILE *out, const struct counts *counts)
{
    struct chart device = chart_of_device(counts);
    struct machine machine;
    fputs(
        "<h2 id=\"roofline\">Roofline</h2>\n<p class=\"note\">Floating-point operations for each "
        "byte of the sectors of 32 bytes that warps ask L1 for; what caches keep from memory is "
        "not taken off. Roofs are the device's by its data sheet (multiply-adds; bytes of its "
        "memory), and this machine's as native code reached them when the report was made. On the "
        "device a kernel stands where it is estimated to be (--estimate), or, as a ring, where it "
        "would be at most; here where it was while it was counted, by the interpreter. Tensor "
        "operations are not in it.</p>\n<div>\n",
        out);
    if (device.gbytes > 0)
        put_chart(out, &device, counts, false);
    if (machine_measure(&machine)) {
        struct chart here = {.title = "this machine",
                             .gbytes = machine.gbytes,
                             .roofs = {{"32 bits", "three", machine.gflops, -5}}};
        put_chart(out, &here, counts, true);
    }
    fputs("</div>\n", out);
    put_table(out, counts, &device);
}
