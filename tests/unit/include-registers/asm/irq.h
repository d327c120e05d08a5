/* What a machine has of its own about interrupts: nothing on the host. */
#pragma once
