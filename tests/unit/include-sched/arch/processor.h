/* Waiting: with one host thread nobody else can end it, unless the test does. */
#pragma once

#define ARCH_CPU_IDLE_NAME "HOST"
#define ARCH_CPU_IDLE_DESC "the host of the tests"
void host_relax(void);
#define cpu_relax() host_relax()
static inline void arch_cpu_idle(void)
{
}
