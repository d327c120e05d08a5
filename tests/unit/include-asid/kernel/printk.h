/* Stand-in: nothing is printed. */
#pragma once
