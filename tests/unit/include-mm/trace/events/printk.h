/* Nobody traces what is printed. */
#pragma once

#define trace_console(text, len) ((void)0)
