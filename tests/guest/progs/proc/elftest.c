/*
 * elftest: ELF files that are written by hand, a few headers and instructions each: dynamic linkers that are none, or
 * name themselves; segments that overlap, wrap, or end anywhere; and how deep scripts may be nested. What is good ends
 * with status 9; for what is not, execve(2) fails.
 */
#include <callnumbers.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <uapi/elf.h>

#define D     "/tmp/elftest"
#define ONE   D "/one"
#define OTHER D "/other"

#define PAGE   0x1000UL
#define STATUS 9
#define CODE   0x800 /* where the instructions stand in the file's first page */
#define SIZE   (3 * PAGE)

#ifdef __aarch64__
#define MACHINE 183
static const unsigned code[] = {0xd2800120, 0xd2800bc8, 0xd4000001}; /* mov x0, #9; mov x8, #94: exit_group; svc #0 */
/* ldrb w0, [x0] from the address that follows, which is data; then exit_group with it as status */
static const unsigned read_code[] = {0x580000a0, 0x39400000, 0xd2800bc8, 0xd4000001, 0xd503201f};
#else
#define MACHINE 62
static const unsigned char code[] = {0xbf, 9, 0, 0, 0, 0xb8, 231, 0, 0, 0, 0x0f, 0x05}; /* exit_group(9) */
/* mov ADDRESS, %rax; movzbl (%rax), %edi; mov $231, %eax; syscall */
static const unsigned char read_code[] = {0x48, 0x8b, 0x05, 13, 0, 0,	 0,    0x0f, 0xb6, 0x38,
					  0xb8, 231,  0,    0,	0, 0x0f, 0x05, 0x90, 0x90, 0x90};
#endif

static unsigned char image[SIZE];
static struct elf64_hdr *const e = (struct elf64_hdr *)image;
static struct elf64_phdr *const ph = (struct elf64_phdr *)(image + sizeof(struct elf64_hdr));

/* A new image of this type, whose first segment is the first page; `n` headers, of which the others are PT_NULL. */
static void begin(int type, unsigned n)
{
	memset(image, 0xaa, SIZE);
	memset(image, 0, CODE);
	memcpy(image, ELFMAG, SELFMAG);
	image[EI_CLASS] = ELFCLASS64;
	image[EI_DATA] = ELFDATA2LSB;
	image[EI_VERSION] = EV_CURRENT;
	e->e_type = (unsigned short)type;
	e->e_machine = MACHINE;
	e->e_version = EV_CURRENT;
	e->e_entry = (type == ET_EXEC ? 0x400000 : 0) + CODE;
	e->e_phoff = sizeof(*e);
	e->e_ehsize = sizeof(*e);
	e->e_phentsize = sizeof(*ph);
	e->e_phnum = (unsigned short)n;
	ph[0] = (struct elf64_phdr){PT_LOAD, PF_R | PF_X, 0, e->e_entry - CODE, 0, PAGE, PAGE, PAGE};
	memcpy(image + CODE, code, sizeof(code));
}

static void install(const char *path, int mode)
{
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, mode);
	if (fd < 0 || vt_write_all(fd, image, SIZE) || close(fd))
		vt_die_errno(2, path);
}

static void write_text(const char *path, const char *text, size_t n)
{
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT, 0755);
	if (fd < 0 || vt_write_all(fd, text, n) || close(fd))
		vt_die_errno(2, path);
}

/* How a child ends that runs the file: its status, 1000 and the signal, or minus the errno of execve. */
static int result_of(const char *path)
{
	char *const argv[] = {(char *)path, "x", NULL}, *const envp[] = {NULL};
	int ends[2], error = 0, status;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		vt_die_errno(2, "pipe2");
	pid = check_fork();
	if (pid == 0) {
		execve(path, argv, envp);
		error = errno;
		write(ends[1], &error, sizeof(error));
		_exit(1);
	}
	close(ends[1]);
	status = check_wait(pid);
	if (read(ends[0], &error, sizeof(error)) != sizeof(error))
		error = 0;
	close(ends[0]);
	return error ? -error : WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int result(void)
{
	install(ONE, 0755);
	return result_of(ONE);
}

/* The image gets a dynamic linker of this name. */
static void name_interp(unsigned header, const char *name)
{
	strcpy((char *)image + 0x400, name);
	ph[header] = (struct elf64_phdr){PT_INTERP, PF_R, 0x400, 0, 0, strlen(name) + 1, strlen(name) + 1, 1};
}

static int result_with(const char *interp)
{
	begin(ET_DYN, 2);
	name_interp(1, interp);
	return result();
}

static void good(void)
{
	begin(ET_EXEC, 1);
	CHECK_EQ(result(), STATUS);
	begin(ET_DYN, 1);
	CHECK_EQ(result(), STATUS);
}

static void linkers(void)
{
	static char script[200];

	CHECK_EQ(result_with("/nowhere"), -ENOENT);
	CHECK_EQ(result_with(D), -EACCES);
	CHECK_EQ(result_with("/dev/null"), -EACCES);
	begin(ET_DYN, 1);
	install(OTHER, 0644);
	CHECK_EQ(result_with(OTHER), -EACCES);
	memset(script, '#', sizeof(script));
	memcpy(script, "#!/bin/sh\n", 10);
	write_text(OTHER, script, sizeof(script));
	CHECK_EQ(result_with(OTHER), -ELIBBAD);
	write_text(OTHER, script, 10);
	CHECK_EQ(result_with(OTHER), -EIO);
	/* One that can be run: it runs in place of the program. */
	begin(ET_DYN, 1);
	install(OTHER, 0755);
	begin(ET_DYN, 2);
	image[CODE] ^= 0xff;
	name_interp(1, OTHER);
	CHECK_EQ(result(), STATUS);
	begin(ET_EXEC, 2);
	image[CODE] ^= 0xff;
	name_interp(1, OTHER);
	CHECK_EQ(result(), STATUS);
	/* A dynamic linker's own wish for a dynamic linker is not heard: itself, each other, a missing one. */
	begin(ET_DYN, 2);
	name_interp(1, OTHER);
	install(OTHER, 0755);
	CHECK_EQ(result_of(OTHER), STATUS);
	CHECK_EQ(result_with(OTHER), STATUS);
	begin(ET_DYN, 2);
	name_interp(1, ONE);
	install(OTHER, 0755);
	CHECK_EQ(result_with(OTHER), STATUS);
	/* At fixed addresses: where they are free, and where the program is. */
	begin(ET_EXEC, 1);
	install(OTHER, 0755);
	CHECK_EQ(result_with(OTHER), STATUS);
	begin(ET_EXEC, 2);
	name_interp(1, OTHER);
	CHECK_EQ(result(), -EEXIST);
	/* Files that are no dynamic linkers. */
	begin(ET_DYN, 1);
	e->e_machine ^= 1;
	install(OTHER, 0755);
	CHECK_EQ(result_with(OTHER), -ELIBBAD);
	begin(ET_REL, 1);
	install(OTHER, 0755);
	CHECK_EQ(result_with(OTHER), -ELIBBAD);
	begin(ET_DYN, 1);
	e->e_phentsize++;
	install(OTHER, 0755);
	CHECK_EQ(result_with(OTHER), -ELIBBAD);
	begin(ET_DYN, 1);
	ph[0].p_type = 0;
	install(OTHER, 0755);
	CHECK_EQ(result_with(OTHER), -ELIBBAD);
	/* The names of two: the first counts. */
	begin(ET_DYN, 3);
	name_interp(1, "/nowhere");
	name_interp(2, OTHER);
	ph[1].p_offset = 0x600;
	strcpy((char *)image + 0x600, "/nowhere");
	ph[1].p_filesz = 9;
	CHECK_EQ(result(), -ENOENT);
}

static int with_second(unsigned long vaddr, unsigned long offset, unsigned long filesz, unsigned long memsz)
{
	begin(ET_EXEC, 2);
	ph[1] = (struct elf64_phdr){PT_LOAD, PF_R | PF_W, offset, vaddr, 0, filesz, memsz, PAGE};
	return result();
}

static void segments(void)
{
	/* Anywhere above the first one, of any size, and in any order. */
	CHECK_EQ(with_second(0x402123, 0x1123, 1, 1), STATUS);
	CHECK_EQ(with_second(0x402123, 0x1123, 0xedd, 0xedd), STATUS);
	CHECK_EQ(with_second(0x402123, 0x1123, 0xedd, 0xede), STATUS);
	CHECK_EQ(with_second(0x402123, 0x77, 0, 5), STATUS);
	CHECK_EQ(with_second(0x3ff000, 0x1000, 10, 20), STATUS);
	CHECK_EQ(with_second(0x402000, 0x1000, 0, 0), STATUS);
	/* Over the first one, of which it takes all pages that it has a part of. */
	CHECK_EQ(with_second(0x400010, 0x1010, 1, 1), 1000 + SIGSEGV);
	begin(ET_EXEC, 2);
	ph[1] = ph[0];
	ph[0] = (struct elf64_phdr){PT_LOAD, PF_R | PF_W, 0x1010, 0x400010, 0, 1, 1, PAGE};
	CHECK_EQ(result(), STATUS);
	/* An alignment that is none says nothing. */
	begin(ET_DYN, 1);
	ph[0].p_align = 0x1234;
	CHECK_EQ(result(), STATUS);
	begin(ET_DYN, 1);
	ph[0].p_align = 0x200000;
	CHECK_EQ(result(), STATUS);
	/* Sums that wrap, and what cannot be mapped. */
	CHECK_EQ(with_second(-0x1000UL, 0x1000, 10, 0x2000), -EINVAL);
	CHECK_EQ(with_second(0x402000, 0x1000, 10, -1UL), -EINVAL);
	CHECK_EQ(with_second(0x402000, 0x1000, 10, 9), -EINVAL);
	CHECK_EQ(with_second(0x402000, 0x1000, 10, 0), -EINVAL);
	CHECK_EQ(with_second(0x402001, 0x1000, 10, 10), -EINVAL);
	CHECK_EQ(with_second(0x402000, 0x1000, SIZE, SIZE), -ENOEXEC);
	CHECK_EQ(with_second(0x402000, -0x1000UL, 10, 10), -ENOEXEC);
	CHECK_EQ(with_second(1UL << 46, 0x1000, 10, 10), MACHINE == 62 ? STATUS : -EINVAL);
	CHECK_EQ(with_second(0x7ffffffff000, 0x1000, 10, 10), -EINVAL);
	begin(ET_EXEC, 1);
	ph[0].p_vaddr = 0;
	e->e_entry = CODE;
	CHECK_EQ(result(), -EINVAL);
	begin(ET_EXEC, 1);
	e->e_entry = -PAGE;
	CHECK_EQ(result(), -EINVAL);
	begin(ET_DYN, 1);
	ph[0].p_align = 1UL << 62;
	CHECK_EQ(result(), -EINVAL);
	begin(ET_DYN, 1);
	ph[0].p_memsz = 1UL << 45;
	CHECK(result() < 0);
	begin(ET_EXEC, 1);
	ph[0].p_type = 0;
	CHECK_EQ(result(), -ENOEXEC);
	begin(ET_EXEC, 0);
	CHECK_EQ(result(), -ENOEXEC);
}

/* What the program that reads one byte finds at this address. */
static int byte_at(unsigned long address)
{
	memcpy(image + CODE, read_code, sizeof(read_code));
	memcpy(image + CODE + sizeof(read_code), &address, sizeof(address));
	return result();
}

/* .bss is zeros to the end of its page, also where the next segment begins in that page, and behind it anonymous. */
static void bss(void)
{
	static const struct {
		unsigned long at;
		int byte;
	} all[] = {{0x4020ff, 0xaa}, {0x402100, 0}, {0x4021ff, 0}, {0x402fff, 0}, {0x403000, 0}, {0x404fff, 0}};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		begin(ET_EXEC, 2);
		ph[1] = (struct elf64_phdr){PT_LOAD, PF_R | PF_W, 0x1000, 0x402000, 0, 0x100, 0x2fff, PAGE};
		CHECK_EQ(byte_at(all[i].at), all[i].byte);
	}
	/* A second file part in the page takes it as the file has it. */
	begin(ET_EXEC, 3);
	ph[1] = (struct elf64_phdr){PT_LOAD, PF_R | PF_W, 0x1000, 0x402000, 0, 0x100, 0x200, PAGE};
	ph[2] = (struct elf64_phdr){PT_LOAD, PF_R, 0x1800, 0x402800, 0, 0x100, 0x100, PAGE};
	CHECK_EQ(byte_at(0x402180), 0xaa);
}

static void scripts(void)
{
	static char line[400], name[64];
	int fd;

	begin(ET_EXEC, 1);
	install(ONE, 0755);
	for (int i = 1; i <= 6; i++) {
		if (i == 1)
			snprintf(line, sizeof(line), "#!" ONE "\n");
		else
			snprintf(line, sizeof(line), "#!" D "/script%d\n", i - 1);
		snprintf(name, sizeof(name), D "/script%d", i);
		write_text(name, line, strlen(line));
		CHECK_EQ(result_of(name), i <= 5 ? STATUS : -ELOOP);
	}
	/* A line of more than 256 bytes: the argument is cut short, a path would be another program's. */
	memset(line, 'a', sizeof(line));
	memcpy(line, "#!" ONE " ", strlen("#!" ONE " "));
	write_text(OTHER, line, sizeof(line));
	CHECK_EQ(result_of(OTHER), STATUS);
	memset(line, '/', sizeof(line));
	memcpy(line, "#!" ONE, 2);
	memcpy(line + 380, ONE "\n", strlen(ONE "\n"));
	write_text(OTHER, line, sizeof(line));
	CHECK_EQ(result_of(OTHER), -ENOEXEC);
	memset(line, ' ', sizeof(line));
	memcpy(line, "#!", 2);
	write_text(OTHER, line, sizeof(line));
	CHECK_EQ(result_of(OTHER), -ENOEXEC);
	CHECK_EQ((write_text(OTHER, "#!" D "\n", strlen("#!" D "\n")), result_of(OTHER)), -EACCES);
	/* By a descriptor that exec closes, the interpreter could not open the script. */
	write_text(OTHER, "#!" ONE "\n", strlen("#!" ONE "\n"));
	fd = open(OTHER, O_RDONLY);
	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	for (int cloexec = 0; cloexec < 2; cloexec++) {
		char *const argv[] = {name, NULL}, *const envp[] = {NULL};
		pid_t pid;

		fcntl(fd, F_SETFD, cloexec);
		pid = check_fork();
		if (pid == 0) {
			CALL(execveat, fd, "", argv, envp, AT_EMPTY_PATH);
			_exit(errno);
		}
		CHECK_EQ(check_wait(pid), (cloexec ? ENOENT : STATUS) << 8);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"good", good}, {"linkers", linkers}, {"segments", segments}, {"bss", bss}, {"scripts", scripts},
	};

	if (mkdir(D, 0755))
		vt_die_errno(2, D);
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
