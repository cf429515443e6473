/* Opens libraries and says which files serve: open LIBRARY... */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct link_map *map;
        void *library = dlopen(argv[i], RTLD_NOW);
        if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
            puts(dlerror());
            return 1;
        }
        puts(map->l_name);
    }
    return 0;
}
