/*
 * uptime: how long the system has been up, and its load.
 *
 * Left out: the time of day and users, -p, -s.
 */
#include <vt.h>
#include <sys/sysinfo.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "uptime", .options = "", .bad_status = 1};
	struct sysinfo info;
	long minutes;

	vt_operands(&o, argc, argv, 0, argc);
	if (sysinfo(&info) < 0)
		vt_die_errno(1, "sysinfo");
	minutes = info.uptime / 60;
	printf(" up ");
	if (minutes >= 24 * 60)
		printf("%ld days, ", minutes / (24 * 60));
	printf("%ld:%02ld, load average:", minutes / 60 % 24, minutes % 60);
	/* Fixed point, 16 bits behind the point; two decimals are shown. */
	for (int i = 0; i < 3; i++)
		printf("%s %lu.%02lu", i ? "," : "", info.loads[i] >> 16, (info.loads[i] & 0xffff) * 100 >> 16);
	printf("\n");
	return vt_finish(0);
}
