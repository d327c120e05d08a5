/* Where the stack of a program ends, on the host. */
#pragma once
#define STACK_TOP (TASK_SIZE - 3 * PAGE_SIZE)
