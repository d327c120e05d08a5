/* Users and groups: numbers, as there are no namespaces. */
#pragma once

#include <lib/types.h>

typedef uid_t kuid_t;
typedef gid_t kgid_t;
#define KUIDT_INIT(v)	((kuid_t)(v))
#define KGIDT_INIT(v)	((kgid_t)(v))
#define GLOBAL_ROOT_UID KUIDT_INIT(0)
#define GLOBAL_ROOT_GID KGIDT_INIT(0)
