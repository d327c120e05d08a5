/* Asking for modules from inside of the kernel. */
#pragma once

#include <lib/types.h>

/*
 * Have modprobe load a module of this name or alias: "fs-NAME" for a file system, "char-major-MAJOR-MINOR" for a
 * device. Thread context, no lock held that the init of a module may take; sleeps.
 *
 * Returns 0; the status of modprobe as wait(2) shows it; -ENAMETOOLONG; -ENOENT: there is no modprobe; -ENOSYS: this
 * kernel loads no modules; -EBUSY: 50 requests are under way; -ENOMEM; -EINTR: the caller is being killed. After 0 the
 * caller looks whether what it wants is there: modprobe may have loaded something else.
 */
int __request_module(bool wait, const char *fmt, ...) __printf(2, 3);
#define request_module(fmt, ...)	__request_module(true, fmt, ##__VA_ARGS__)
#define request_module_nowait(fmt, ...) __request_module(false, fmt, ##__VA_ARGS__)
/* Look; if it is not there, ask, and look again. */
#define try_then_request_module(look, ...) ((look) ?: (request_module(__VA_ARGS__), (look)))
