/* Records on their way to the client: a queue, and the client's buffers. */
#ifndef PTERA_CUPTI_BUFFER_H
#define PTERA_CUPTI_BUFFER_H

#include "runtime/cupti/abi.h"

/* Bytes of a record; 0: there is none of that kind. */
size_t pt_cupti_buffer_record_bytes(uint32_t kind);
/* Queues a copy of a record. */
void pt_cupti_buffer_add(const void *record);
/* Gives the client all records that there are, in its buffers. */
void pt_cupti_buffer_flush(void);

#endif
