/* Pages have a size. */
#pragma once

#define PAGE_SIZE 4096UL
