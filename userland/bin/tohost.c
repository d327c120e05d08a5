/*
 * tohost FILE: hand a file to the host. The bytes lie in this program's memory while it spins; whoever runs
 * the machine (tools/vrun) reads the line it prints, stops the CPUs, takes the memory by QEMU's monitor, lets
 * them go on, and types a line. Nothing but two lines goes over the console.
 */
#include <vt.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PAGE 4096

/* zlib's, so that the host can check. Also touches every page. */
static unsigned crc32_of(const unsigned char *p, size_t n)
{
	static unsigned table[256];
	unsigned crc = ~0u;

	for (unsigned i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
	while (n--)
		crc = table[(crc ^ *p++) & 255] ^ crc >> 8;
	return ~crc;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "tohost FILE", .options = "", .bad_status = 2};
	cpu_set_t cpu = {};
	struct stat st;
	unsigned char *at;
	char c;
	int fd;

	while (vt_option(&o, argc, argv) != -1)
		;
	if (o.index + 1 != argc)
		vt_usage(&o);
	argv += o.index - 1;
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0)
		vt_die_errno(1, argv[1]);
	if (!S_ISREG(st.st_mode) || !st.st_size)
		vt_die(1, "%s: no file with bytes in it", argv[1]);
	at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		vt_die_errno(1, "mmap");
	vt_cpu_list("0", &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu) < 0)
		vt_die_errno(1, "sched_setaffinity");
	printf("tohost %lx %lu %08x\n", (unsigned long)at, (unsigned long)st.st_size,
	       crc32_of(at, (size_t)st.st_size));
	fflush(stdout);
	fcntl(0, F_SETFL, O_NONBLOCK);
	while (read(0, &c, 1) != 1)
		;
	fcntl(0, F_SETFL, 0);
	return 0;
}
