/* Debug sections: read for their form, and dropped. */
#ifndef PTERA_FRONTEND_SECTION_H
#define PTERA_FRONTEND_SECTION_H

#include "frontend/token.h"

/* .section NAME { … } */
bool pt_section_parse(struct pt_parser *p);
/* .nv_intermediate_source_section: what PTX was made from; read for its form, and dropped. */
bool pt_section_parse_source(struct pt_parser *p);

#endif
