/*
 * Bytes that grow, for the parts of a trace.dat: sizes are needed before contents can be written,
 * so a part is gathered in memory first. A struct vt_bytes that is all zero is empty; its owner
 * frees `data`.
 */
#include <vt_trace.h>
#include <stdarg.h>

/* The room doubles, so that a long part is copied a few times only, however small its pieces are. */
void vt_put(struct vt_bytes *b, const void *data, size_t n)
{
	if (b->n + n > b->room) {
		b->room = 2 * b->room + n + 256;
		b->data = vt_realloc(b->data, b->room);
	}
	memcpy(b->data + b->n, data, n);
	b->n += n;
}

/* Most pieces are short; a message of trace_marker has up to a page. */
void vt_bytes_printf(struct vt_bytes *out, const char *format, ...)
{
	char text[256], *whole = text;
	va_list args, again;
	int n;

	va_start(args, format);
	va_copy(again, args);
	n = vsniprintf(text, sizeof(text), format, args);
	if (n >= (int)sizeof(text)) {
		whole = vt_malloc((size_t)n + 1);
		vsniprintf(whole, (size_t)n + 1, format, again);
	}
	va_end(again);
	va_end(args);
	vt_put(out, whole, (size_t)n);
	if (whole != text)
		free(whole);
}

/* The lower bytes of a number come first in memory on both machines, as in the file. */
void vt_put_number(struct vt_bytes *b, unsigned long long value, size_t size)
{
	vt_put(b, &value, size);
}

void vt_put_text(struct vt_bytes *b, const char *text)
{
	vt_put(b, text, strlen(text) + 1);
}

void vt_put_file(struct vt_bytes *b, const char *path, size_t length_size)
{
	size_t n = 0;
	char *text = vt_read_file(path, &n);

	if (!text && errno != ENOENT)
		vt_die_errno(1, path);
	vt_put_number(b, n, length_size);
	vt_put(b, text ?: "", n);
	free(text);
}

/*
 * What the file says is about the main buffer. Only the bytes of data differ in a buffer with other sub-buffers, so
 * that number is replaced. `page` is the size with the 16 bytes in front of the data.
 */
void vt_put_header_page(struct vt_bytes *b, unsigned page)
{
	char *text = vt_tracefs_read_or_die(NULL, "events/header_page"), *at = strstr(text, "char data;"), number[16];
	size_t before, digits;

	at = at ? strstr(at, "size:") : NULL;
	at = at ? at + strlen("size:") : text + strlen(text);
	before = (size_t)(at - text);
	digits = strspn(at, "0123456789");
	number[0] = '\0';
	if (digits)
		snprintf(number, sizeof(number), "%u", page - 16);
	vt_put_number(b, before + strlen(number) + strlen(at + digits), 8);
	vt_put(b, text, before);
	vt_put(b, number, strlen(number));
	vt_put(b, at + digits, strlen(at + digits));
	free(text);
}

void vt_put_tracefs_file(struct vt_bytes *b, const char *file, size_t length_size)
{
	char *path = vt_tracefs_path(NULL, file);

	vt_put_file(b, path, length_size);
	free(path);
}

void vt_put_symbols(struct vt_bytes *b)
{
	size_t n = 0, n_gone = 0;
	char *text = vt_read_file("/proc/kallsyms", &n),
	     *gone = vt_read_file("/sys/kernel/debug/gone_symbols", &n_gone);

	if (!text && errno != ENOENT)
		vt_die_errno(1, "/proc/kallsyms");
	b->n = 0;
	vt_put_number(b, n + n_gone, 4);
	vt_put(b, text ?: "", n);
	vt_put(b, gone ?: "", n_gone);
	free(text);
	free(gone);
}
