/* What a launch does for an engine while a warp runs. */
#ifndef PTERA_RUNTIME_SERVICES_H
#define PTERA_RUNTIME_SERVICES_H

#include "backend/exec.h"

extern const struct pt_services pt_launch_services;

#endif
