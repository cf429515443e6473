/* HTML that all reports have: style, escapes. */
#include "tools/html.h"

#include "tools/pages.h"

void html_begin(FILE *out, const char *title)
{
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
            "<meta name=\"viewport\" content=\"width=device-width\"/>\n"
            "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>%s</title>\n<style>\n",
            title);
    fputs(page_find("tools/html", "style"), out);
    fprintf(out, "</style>\n</head>\n<body>\n<h1>%s</h1>\n", title);
}

void html_end(FILE *out)
{
    fputs("</body>\n</html>\n", out);
}

void html_put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else if ((unsigned char)*text >= ' ' || *text == '\t' || *text == '\n')
            fputc(*text, out);
    }
}
