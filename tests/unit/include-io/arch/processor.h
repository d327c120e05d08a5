/* Spinning on the host. */
#pragma once

#define cpu_relax() __asm__ volatile("" ::: "memory")
