/* Events of several processes: what was recorded, and how far it is done, stands in a page that
 * they share. */
#include "runtime/cuda/event_page.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/cuda/op.h"

struct pt_cu_event_page *pt_cu_event_page_map(int fd, bool is_imported)
{
    struct pt_cu_event_page *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    void *page = mmap(NULL, sizeof *s->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) {
        free(s);
        return NULL;
    }
    *s = (struct pt_cu_event_page){
        .refs = 1, .is_imported = is_imported, .fd = is_imported ? -1 : fd, .page = page};
    return s;
}

struct pt_cu_event_page *pt_cu_event_page_new(void)
{
    int fd = pt_mem_file(sizeof(struct pt_cu_event_counts));
    struct pt_cu_event_page *s = fd >= 0 ? pt_cu_event_page_map(fd, false) : NULL;
    if (!s && fd >= 0)
        close(fd);
    return s;
}

struct pt_cu_event_page *pt_cu_event_page_ref(struct pt_cu_event_page *shared)
{
    if (shared)
        shared->refs++;
    return shared;
}

void pt_cu_event_page_put(struct pt_cu_event_page *shared)
{
    if (!shared || --shared->refs)
        return;
    munmap(shared->page, sizeof *shared->page);
    if (shared->fd >= 0)
        close(shared->fd);
    free(shared);
}

uint64_t pt_cu_event_page_record(struct pt_cu_event_page *shared)
{
    return atomic_fetch_add(&shared->page->recorded, 1) + 1;
}

void pt_cu_event_page_done(struct pt_cu_event_page *shared, uint64_t number)
{
    uint_fast64_t before = atomic_load(&shared->page->done);
    while (before < number && !atomic_compare_exchange_weak(&shared->page->done, &before, number))
        continue;
}

bool pt_cu_event_page_is_done(const struct pt_cu_event_page *shared)
{
    return atomic_load(&shared->page->done) >= atomic_load(&shared->page->recorded);
}

struct pt_cu_op pt_cu_event_page_wait(struct pt_cu_event_page *shared)
{
    struct pt_cu_op op = {.work = PT_CU_WAIT_VALUE};
    op.value.address = &shared->page->done;
    op.value.value = atomic_load(&shared->page->recorded);
    op.value.bytes = sizeof op.value.value;
    op.value.flags = CU_STREAM_WAIT_VALUE_GEQ;
    op.value.shared = pt_cu_event_page_ref(shared);
    return op;
}
