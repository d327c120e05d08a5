/* The page-table tests may wait for memory at any time. */
#pragma once

#define in_atomic()	false
#define irqs_disabled() false
