/* The formats of reports. */
#include <string.h>

#include "tools/report.h"

const struct report_format *report_format(const char *name)
{
    static const struct report_format formats[] = {{"text", report_text_put},
                                                   {"json", report_json_put},
                                                   {"sarif", report_sarif_put},
                                                   {"html", report_html_put}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}
