/* Nothing of a task is machine dependent here. */
#pragma once
struct thread_struct {
	int unused;
};
