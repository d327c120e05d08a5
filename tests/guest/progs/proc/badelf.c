/* badelf: /bin/true cut short or with header bits flipped: exec refuses it or the process dies; the system
 * lives. */
#include <watch.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#define VICTIM	 "/tmp/badelf"
#define PATIENCE 100 /* milliseconds: a flipped entry point may make an endless loop */
#define SLACK	 512 /* KiB */

static unsigned char *image;
static size_t size;
static long refused, died, ran, looped, strange;

static void write_victim(size_t at, const void *bytes, size_t n)
{
	int fd = open(VICTIM, O_WRONLY | O_CREAT, 0755);

	if (fd < 0 || lseek(fd, (off_t)at, SEEK_SET) < 0 || vt_write_all(fd, bytes, n) || close(fd))
		vt_die_errno(2, VICTIM);
}

/* The child's exit status says what exec answered: 200 plus nothing, else the error by a pipe. */
static void try_victim(const char *what, size_t at, int bit)
{
	char *const argv[] = {"true", NULL}, *const envp[] = {NULL};
	int ends[2], status, error = 0;
	bool killed;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		vt_die_errno(2, "pipe2");
	pid = check_fork();
	if (pid == 0) {
		setpgid(0, 0);
		execve(VICTIM, argv, envp);
		error = errno;
		write(ends[1], &error, sizeof(error));
		_exit(1);
	}
	close(ends[1]);
	status = watch_child(pid, PATIENCE, &killed);
	watch_sweep(pid);
	if (read(ends[0], &error, sizeof(error)) == sizeof(error)) {
		refused++;
		if (error != ENOEXEC && error != EINVAL && error != ENOMEM && error != E2BIG && error != EACCES &&
		    error != ENOENT && error != EIO && error != ELIBBAD) {
			printf("%s %lu bit %d: exec failed with %s\n", what, (unsigned long)at, bit, strerror(error));
			strange++;
		}
	} else if (killed) {
		looped++;
	} else if (WIFSIGNALED(status)) {
		died++;
	} else {
		ran++; /* a bit that nobody needs, or another way to end */
	}
	close(ends[0]);
}

static void cut(size_t length)
{
	if (truncate(VICTIM, (off_t)length))
		vt_die_errno(2, "truncate");
	try_victim("cut to", length, 0);
}

/* Downwards, so that the file need only be cut further: all lengths in the headers, then every 61 bytes. */
static void all_lengths(size_t headers)
{
	write_victim(0, image, size);
	for (size_t length = size; length > headers; length -= length > headers + 61 ? 61 : 1)
		cut(length);
	for (size_t length = headers; length > 0; length--)
		cut(length);
	cut(0);
}

static void all_bits(size_t headers)
{
	write_victim(0, image, size);
	for (size_t at = 0; at < headers; at++) {
		for (int bit = 0; bit < 8; bit++) {
			unsigned char byte = image[at] ^ (unsigned char)(1 << bit);

			write_victim(at, &byte, 1);
			try_victim("byte", at, bit);
		}
		write_victim(at, &image[at], 1);
	}
}

int main(int argc, char **argv)
{
	size_t headers;
	long before;

	image = (unsigned char *)vt_read_file(argc > 1 ? argv[1] : "/bin/true", &size);
	if (!image || size < 64)
		vt_die_errno(2, "/bin/true");
	headers = 64 + 56u * (unsigned)(image[56] | image[57] << 8); /* Elf64_Ehdr, e_phnum times Elf64_Phdr */
	watch_init();
	write_victim(0, image, size);
	try_victim("whole", 0, 0);
	if (ran != 1)
		vt_die(1, "the whole program does not run");
	before = watch_free_memory();
	all_lengths(headers);
	all_bits(headers);
	unlink(VICTIM);
	CHECK_RANGE(watch_free_memory(), before - SLACK, before + (1L << 30));
	printf("badelf: %ld refused, %ld died, %ld looped, %ld ran, %ld strange errors\n", refused, died, looped, ran,
	       strange);
	CHECK(refused > 100 && strange == 0);
	return vt_finish(check_failures ? 1 : 0);
}
