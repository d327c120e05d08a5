/* Physical memory as boot code sees it, on the host: read through boot_map() only. Include once. */
#pragma once

#include <host_test.h>

/* Structures of the ABI that the host has as well. */
#define sigset_t  k_sigset_t
#define timespec  k_timespec
#define timeval	  k_timeval
#define itimerval k_itimerval
#include <boot/boot_info.h>
#include <boot/x86_boot.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/string.h>

#define LINEAR_END  0xffffc88000000000UL
#define PAGE_OFFSET 0xffff888000000000UL
#define BOOT_RAM    (1 << 20)

/*
 * What <lib/string.h> has beyond the host's library, as kernel/lib/string.c does it (lib_string_test.c tests
 * that).
 */
ssize_t strscpy(char *dst, const char *src, size_t size)
{
	size_t n = strnlen(src, size);

	assert(size);
	memcpy(dst, src, n < size ? n : size - 1);
	dst[n < size ? n : size - 1] = '\0';
	return n < size ? (ssize_t)n : -E2BIG;
}

char *strim(char *s)
{
	size_t n = strlen(s);

	while (n && isspace(s[n - 1]))
		s[--n] = '\0';
	return s + strspn(s, " ");
}

char boot_command_line[2048];
static uint8_t ram[BOOT_RAM];
static unsigned lines_printed;
static char last_line[512];

/*
 * What was mapped in this round: a copy of exactly the bytes that were asked for, so that ASan sees each one
 * read beyond.
 */
static void **mapped;
static size_t nr_mapped, max_mapped;

const void *boot_map(u64 phys, u64 size)
{
	if (!phys || phys > BOOT_RAM || size > BOOT_RAM - phys)
		return NULL;
	if (nr_mapped == max_mapped) {
		max_mapped = max_mapped * 2 + 64;
		mapped = realloc(mapped, max_mapped * sizeof(*mapped));
		assert(mapped);
	}
	mapped[nr_mapped] = malloc(size ? size : 1);
	assert(mapped[nr_mapped]);
	return memcpy(mapped[nr_mapped++], ram + phys, size);
}

void ftrace_early_command_line(void)
{
}

int printk(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(last_line, sizeof(last_line), fmt, args);
	va_end(args);
	lines_printed++;
	return 0;
}

static void forget_round(void)
{
	while (nr_mapped)
		free(mapped[--nr_mapped]);
	memset(&boot_info, 0, sizeof(boot_info));
	memset(boot_command_line, 0, sizeof(boot_command_line));
	lines_printed = 0;
	last_line[0] = '\0';
}

/* Damage some bytes of [at, at + size): mostly single ones, to values that lengths and counts break at. */
static void damage(u8 *at, size_t size)
{
	static const u8 values[] = {0, 1, 2, 3, 7, 8, 0x7f, 0x80, 0xff};

	for (unsigned n = 1 + host_random() % 4; n; n--) {
		u8 *byte = at + host_random() % size;

		*byte = host_random() % 2 ? values[host_random() % sizeof(values)] : (u8)host_random();
	}
}
