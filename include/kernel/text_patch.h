/* Changing kernel code while it runs: one lock, one way. */
#pragma once

#include <sched/mutex.h>

/*
 * Held by all that change kernel text: ftrace sites, static branches, module loading. Thread context. It is taken
 * inside ftrace_lock and the other locks of those that change text (docs/locking.md).
 */
extern struct mutex text_mutex;

/*
 * Run fn(data) with the text writable and every other CPU parked: between arch_patch_begin() and arch_patch_end(), in
 * one stop_machine, which also switches what static_key_inc_later() and its like have left. fn may only call
 * arch_patch_write() and what is not traced. Thread context, text_mutex held.
 */
void text_patch_stopped(void (*fn)(void *data), void *data);
