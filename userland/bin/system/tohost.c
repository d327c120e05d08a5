/*
 * tohost FILE...: copy files to the host, which says where they are then. A session that tools/vrun has
 * started has a way there, the port "tohost"; without it this program says so and ends.
 *
 * On the port a file is a row of frames: its name, its data, its end. Each has a magic number and a checksum,
 * and is written at once, so that whoever reads finds the next beginning after a program that was killed in
 * the middle. The host answers the end with one line, "ok PATH" or "no REASON".
 *
 * tohost -m FILE is for programs of the host that drive a guest (tools/tohost.py). The bytes lie in this program's
 * memory, a line that is printed says where, and the program spins. Whoever runs the machine reads that line, stops the
 * CPUs, takes the memory by QEMU's monitor, lets the CPUs go on, and types a line to end the program.
 */
#include <vt.h>
#include <vt_term.h>
#include <sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PORT	   "/dev/virtio-ports/tohost"
#define FRAME_DATA 4000 /* bytes: a frame fits into a page */
#define MAGIC	   0x48545601u

enum frame_type { NAME = 'N', DATA = 'D', END = 'E', ABANDONED = 'X' };

/* tools/tohost.py reads it: little endian, as both machines are. */
struct frame {
	uint32_t magic, crc; /* of all that follows */
	uint16_t type, size; /* bytes of data */
	char data[FRAME_DATA];
};

static volatile sig_atomic_t stopped; /* by this signal */

static void on_signal(int sig)
{
	stopped = sig;
}

/*
 * The CRC-32 of zlib and Ethernet (polynomial 0xedb88320, bits reflected), so that the host can check
 * it with zlib's own function. The table is made at the first use.
 */
static unsigned crc32_of(const void *data, size_t n)
{
	static unsigned table[256];
	const unsigned char *p = data;
	unsigned crc = ~0u;

	for (unsigned i = 0; !table[255] && i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
	while (n--)
		crc = table[(crc ^ *p++) & 255] ^ crc >> 8;
	return ~crc;
}

/* --- by the port --- */

/*
 * Open the port, which one program at a time can have, and clear it: an answer to an earlier program
 * is read away, and zeros fill a frame that a program that was killed has left half sent. What is
 * missing ends the program.
 */
static int open_port(void)
{
	static const struct frame nothing;
	struct pollfd wait = {.events = POLLOUT};
	int fd = open(PORT, O_RDWR | O_NONBLOCK);
	char old[64];

	if (fd < 0 && errno == ENOENT)
		vt_die(1, "this machine has no way to the host (no " PORT
			  "): make qemu-* and vrun --interactive give it one");
	if (fd < 0 && errno == EBUSY)
		vt_die(1, "another tohost is at work");
	if (fd < 0)
		vt_die_errno(1, PORT);
	wait.fd = fd;
	if (poll(&wait, 1, 0) < 0 || wait.revents & POLLHUP)
		vt_die(1, "nobody listens on the host");
	while (read(fd, old, sizeof(old)) > 0)
		;
	vt_set_blocking(fd);
	/* If a program was killed in the middle of a frame, these zeros fill the rest of it; no frame begins so. */
	if (vt_write_all(fd, &nothing, sizeof(nothing)) < 0)
		vt_die_errno(1, PORT);
	return fd;
}

/* Send one frame. Returns whether it was written. The checksum covers type, size and data. */
static bool send(int port, enum frame_type type, const void *data, size_t n)
{
	struct frame f = {.magic = MAGIC, .type = (uint16_t)type, .size = (uint16_t)n};

	memcpy(f.data, data, n);
	f.crc = crc32_of(&f.type, sizeof(f) - FRAME_DATA - 8 + n);
	if (vt_write_all(port, &f, sizeof(f) - FRAME_DATA + n) == 0)
		return true;
	vt_warn_errno(PORT);
	return false;
}

/* Read the host's line and show it. Returns whether the file has arrived. */
static bool take_answer(int port, const char *name)
{
	char line[1100];
	size_t n = 0;

	while (n + 1 < sizeof(line) && read(port, line + n, 1) == 1 && line[n] != '\n')
		n++;
	line[n] = '\0';
	if (!strncmp(line, "ok ", 3)) {
		printf("%s: %s\n", name, line + 3);
		return true;
	}
	vt_warn("%s: %s", name, n ? line + 3 : "the host does not answer");
	return false;
}

/*
 * Send one file. Returns whether the host has all of it. After a signal or an error the host is told
 * to throw away what it has (ABANDONED), so it never keeps half a file.
 */
static bool send_file(int port, const char *name)
{
	int fd = open(name, O_RDONLY);
	struct stat st;
	char data[FRAME_DATA];
	ssize_t n = -1;
	bool good;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		close(fd);
		errno = EISDIR;
		fd = -1;
	}
	if (fd < 0) {
		vt_warn_errno(name);
		return false;
	}
	good = send(port, NAME, vt_basename(name), strlen(vt_basename(name)));
	while (good && !stopped && (n = read(fd, data, sizeof(data))) > 0)
		good = send(port, DATA, data, (size_t)n);
	if (n < 0 && !stopped)
		vt_warn_errno(name);
	close(fd);
	if (!good || stopped || n < 0) {
		send(port, ABANDONED, "", 0);
		return false;
	}
	return send(port, END, "", 0) && take_answer(port, name);
}

/*
 * Send each file through the port to the host. A signal is looked at between files, and raised again at the end, so
 * that the caller sees by which one it ended.
 */
static int by_port(char **names)
{
	struct sigaction act = {.sa_handler = on_signal};
	bool failed = false;
	int port = open_port();

	/* A signal must not end it between two frames without a word. */
	if (sigaction(SIGINT, &act, NULL) < 0 || sigaction(SIGTERM, &act, NULL) < 0)
		vt_warn_errno("sigaction");
	for (; *names && !stopped; names++)
		failed |= !send_file(port, *names);
	if (stopped) {
		close(port);
		act.sa_handler = SIG_DFL;
		sigaction(stopped, &act, NULL);
		raise(stopped);
	}
	return vt_finish(failed);
}

/* --- by memory --- */

/* Spin until a line has been typed. Nothing of the terminal is changed, so nothing is left behind. */
static void wait_for_line(void)
{
	int waiting = 0;
	char c;

	while (!waiting) {
		if (ioctl(STDIN_FILENO, FIONREAD, &waiting) < 0)
			vt_die_errno(1, "standard input");
	}
	while (vt_read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

/*
 * The file is mapped and printed as an address, a length and a checksum. The task stays on CPU 0, so
 * that the host knows on which CPU's page tables the address means this memory.
 */
static void by_memory(const char *name)
{
	cpu_set_t cpu = {};
	struct stat st;
	void *at;
	int fd = open(name, O_RDONLY);

	if (fd < 0 || fstat(fd, &st) < 0)
		vt_die_errno(1, name);
	if (!S_ISREG(st.st_mode) || !st.st_size)
		vt_die(1, "%s: no file with bytes in it", name);
	at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		vt_die_errno(1, "mmap");
	vt_cpu_list("0", &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu) < 0)
		vt_die_errno(1, "sched_setaffinity");
	/* The checksum touches every page. */
	printf("tohost %lx %lu %08x\n", (unsigned long)at, (unsigned long)st.st_size, crc32_of(at, (size_t)st.st_size));
	fflush(stdout);
	wait_for_line();
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "tohost [-m] FILE...", .options = "m", .bad_status = 2};
	bool memory = false;

	o.help = "  -m  have one file lie in memory until a line is typed, for tools/tohost.py\n";
	while (vt_option(&o, argc, argv) != -1)
		memory = true;
	if (o.index >= argc || (memory && o.index + 1 != argc))
		vt_usage(&o);
	if (!memory)
		return by_port(argv + o.index);
	by_memory(argv[o.index]);
	return 0;
}
