/* Waiting: with one host thread nobody else can end it, unless the test does. */
#pragma once

#define ARCH_CPU_IDLE_NAME "HOST"
#define ARCH_CPU_IDLE_DESC "the host of the tests"
void host_relax(void);
#define cpu_relax() host_relax()
void host_wait(void);
#define arch_cpu_idle() host_wait()
