/* User memory: this machine's assembly (uaccess_asm.S) provides what the one header for all machines declares. */
#pragma once

#include <mm/uaccess.h>
