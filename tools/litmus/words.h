/* The words of litmus tests, by their numbers (words.def). */
#ifndef PTERA_TOOLS_LITMUS_WORDS_H
#define PTERA_TOOLS_LITMUS_WORDS_H

extern const char *const litmus_words_orders[],
    *const litmus_words_scopes[], *const litmus_words_proxies[], *const litmus_words_updates[];

/* x, y, ... */
extern const char litmus_words_places[];

#endif
