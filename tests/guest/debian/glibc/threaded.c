/* threaded: a program with two threads, the second of which changes a variable: gdb looks at it. */
#include <pthread.h>
#include <stdio.h>
static int shared;
static void *work(void *p)
{
	for (int i = 1; i < 4; i++)
		shared += i;
	return p;
}
int main(void)
{
	pthread_t t;

	pthread_create(&t, 0, work, 0);
	pthread_join(t, 0);
	printf("shared %d\n", shared);
	return 0;
}
