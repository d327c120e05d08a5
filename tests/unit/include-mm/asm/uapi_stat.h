/* No stat ABI on the host. */
#pragma once
