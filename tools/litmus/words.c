#include "tools/litmus/words.h"

const char *const litmus_words_orders[] = {
#define ORDER(name, word) word,
#include "tools/litmus/words.def"
};
const char *const litmus_words_scopes[] = {
#define SCOPE(name, word) word,
#include "tools/litmus/words.def"
};
const char *const litmus_words_proxies[] = {
#define PROXY(name, word) word,
#include "tools/litmus/words.def"
};
const char *const litmus_words_updates[] = {
#define UPDATE(name, word) word,
#include "tools/litmus/words.def"
};
const char litmus_words_places[] = "xyzwv";
