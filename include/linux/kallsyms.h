/* Names of addresses. */
#pragma once

#include <kernel/ksyms.h>
