/* Of the ABI, what the host is like. */
#pragma once

#define EPOLL_EVENT_LAYOUT
