/* open(2) flags whose numbers are this machine's own. */
#pragma once

#define O_DIRECT    040000
#define O_LARGEFILE 0100000
#define O_DIRECTORY 0200000
#define O_NOFOLLOW  0400000
