/* The limits of inotify(7): files of /proc/sys/fs/inotify, which any reader may see and root may write. */
#include "inotify_watch.h"

#include <fs/text_file.h>

unsigned inotify_max_events = 16384, inotify_max_instances = 128, inotify_max_watches = 8192; /* Linux's defaults */

#define INOTIFY_LIMIT(name, file)                                                     \
	static const struct text_file name##_entry = {.path = "sys/fs/inotify/" file, \
						      .mode = 0644,                   \
						      .show = sysctl_limit_show,      \
						      .store = sysctl_limit_store,    \
						      .data = &inotify_max_##name};   \
	REGISTER_PROC(name##_entry)
INOTIFY_LIMIT(events, "max_queued_events");
INOTIFY_LIMIT(instances, "max_user_instances");
INOTIFY_LIMIT(watches, "max_user_watches");
