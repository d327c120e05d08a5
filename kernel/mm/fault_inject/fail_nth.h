/* What the file of a task needs of the decision. */
#pragma once

struct task_struct;

/*
 * The task's nth allocation from now on fails, among those that the settings of the two allocators let fail; 0: no
 * allocation. Thread context; sleeps, but allocates nothing once the task counts.
 */
void fault_injection_set_nth(struct task_struct *task, unsigned nth);
