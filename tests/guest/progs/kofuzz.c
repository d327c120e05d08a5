/*
 * kofuzz FILE COUNT SEED: damage a fresh copy of a module file COUNT times and offer each to the kernel. A file that is
 * loaded all the same is taken out again. Prints how many were loaded and how many refused. A kernel that falls over
 * prints something else.
 */
#include <vt.h>
#include <fcntl.h>
#include <string.h>
#include <sys/module.h>

static unsigned long long state;

/* xorshift64* (Vigna 2016): the same files for the same seed. */
static unsigned long long next_number(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dULL;
}

/* A bit, a byte, or a number at which programs go wrong in place of one, two, four or eight bytes. */
static void damage(char *file, size_t n)
{
	static const unsigned long long numbers[] = {0,	     1,	     8,		 0xff,	     0xfff,
						     0x1000, 0xffff, 0x7fffffff, 0xffffffff, -1ULL};
	size_t size = 1UL << next_number() % 4, at = next_number() % (n / size) * size;
	unsigned long long number = numbers[next_number() % (sizeof(numbers) / sizeof(numbers[0]))];

	switch (next_number() % 4) {
	case 0:
		file[next_number() % n] ^= 1 << next_number() % 8;
		break;
	case 1:
		file[next_number() % n] = (char)next_number();
		break;
	case 2:
		number = next_number() % n;
		/* fallthrough */
	default:
		memcpy(file + at, &number, size);
	}
}

/* Whatever it is called now. */
static void take_out(void)
{
	char name[64] = "";
	FILE *modules = fopen("/proc/modules", "r");

	if (!modules || fscanf(modules, "%63s", name) != 1)
		vt_die_errno(1, "/proc/modules");
	fclose(modules);
	if (delete_module(name, O_NONBLOCK))
		vt_die_errno(1, name);
}

int main(int argc, char **argv)
{
	size_t n;
	char *file = argc == 4 ? vt_read_file(argv[1], &n) : NULL, *copy;
	long loaded = 0, count;

	if (!file)
		vt_die_errno(1, "kofuzz FILE COUNT SEED");
	count = strtol(argv[2], NULL, 10);
	state = strtoull(argv[3], NULL, 10) | 1;
	copy = vt_malloc(n);
	for (long i = 0; i < count; i++) {
		memcpy(copy, file, n);
		for (int times = next_number() % 3; times >= 0; times--)
			damage(copy, n);
		if (init_module(copy, next_number() % 8 ? n : next_number() % n, ""))
			continue;
		take_out();
		loaded++;
	}
	printf("%ld loaded, %ld refused\n", loaded, count - loaded);
	return 0;
}
