/* No fcntl ABI on the host. */
#pragma once
