/* Stand-in: nothing to order on one thread. */
#pragma once
static inline void isb(void)
{
}
