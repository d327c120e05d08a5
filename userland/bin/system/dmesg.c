/*
 * dmesg [-c | -C | -n LEVEL]: the kernel's log.
 *
 * -c shows and clears it, -C only clears, -n sets what reaches the console. Left out: -w, levels
 * and times in other forms.
 *
 *     syslog(2) gives:      <6>[    0.123456] clock: 1000000000 Hz      6 is the level: 0 is worst, 7 is for debugging
 */
#include <vt.h>
#include <sys/klog.h>

/* Lines of syslog(2) begin with their priority as "<6>": that is not shown. */
static void print_log(const char *text, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t end = i;

		while (end < n && text[end] != '\n')
			end++;
		if (text[i] == '<') {
			size_t close = i;

			while (close < end && text[close] != '>')
				close++;
			i = close < end ? close + 1 : i;
		}
		printf("%.*s\n", (int)(end - i), text + i);
		i = end + 1;
	}
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "dmesg [-c | -C | -n LEVEL]", .options = "cCn:", .bad_status = 1};
	int action = SYSLOG_ACTION_READ_ALL, c, size, n;
	char *text;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'c') {
			action = SYSLOG_ACTION_READ_CLEAR;
			continue;
		}
		if (klogctl(c == 'C' ? SYSLOG_ACTION_CLEAR : SYSLOG_ACTION_CONSOLE_LEVEL, NULL,
			    c == 'C' ? 0 : (int)vt_number_or_die(1, o.arg, 1, 8)) < 0)
			vt_die_errno(1, "syslog");
		return 0;
	}
	size = klogctl(SYSLOG_ACTION_SIZE_BUFFER, NULL, 0);
	if (size < 0)
		vt_die_errno(1, "syslog");
	text = vt_malloc((size_t)size);
	/* The log may grow between the two calls: then the oldest part is not shown. */
	n = klogctl(action, text, size);
	if (n < 0)
		vt_die_errno(1, "syslog");
	print_log(text, (size_t)n);
	return vt_finish(0);
}
