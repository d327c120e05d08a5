/* From crt0 to main(): the program's arguments, environment and name. */
#include <vt.h>

int main(int argc, char **argv, char **envp);

extern char **environ;

const char *vt_name = "?";

/* Called by crt0.S with the initial stack: argc, argv[], NULL, envp[], NULL, auxv. Exits with what main()
 * returns. */
void vt_start(long *stack) __attribute__((noreturn));
void vt_start(long *stack)
{
	int argc = (int)stack[0];
	char **argv = (char **)(stack + 1);

	/*
	 * The environment follows the arguments' NULL; setenv() copies it before it changes
	 * anything.
	 */
	environ = argv + argc + 1;
	if (argc > 0)
		vt_name = vt_basename(argv[0]);
	exit(main(argc, argv, environ));
}
