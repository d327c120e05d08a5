/*
 * Formats of events, as in events/.../format: which fields a record has, where, and how they are
 * shown.
 *
 *     field:char comm[16];	offset:8;	size:16;	signed:0;
 *     print fmt: "comm=%s", REC->comm
 *
 * The kernel that wrote a record describes it so, and a reader needs to know nothing else about it.
 * Both the running kernel and a trace.dat supply such texts.
 *
 * A field of variable length (`__data_loc char[] name`) has four bytes at its offset: the lower half
 * says where in the record the content lies, the upper half how long it is. `__rel_loc` counts from
 * behind these four bytes instead of from the record's beginning.
 *
 *     record:  | common fields | pid | 0x000d0018 | flags | "/usr/bin/top\0" |
 *                                      |   |               ^ 13 bytes at offset 0x18
 *                                 length   offset
 */
#include <vt_report.h>
#include <ctype.h>

/* The number behind "name:" in a line, or 0. */
static unsigned number_of(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return at ? (unsigned)strtoul(at + strlen(name), NULL, 0) : 0;
}

/* How long an element of an array is, by the name of its type; 0 when the type is not known. */
static unsigned element_size(const char *type)
{
	static const struct {
		const char *name;
		unsigned size;
	} sizes[] = {{"char", 1}, {"u8", 1},  {"s8", 1},  {"short", 2}, {"u16", 2}, {"s16", 2},
		     {"long", 8}, {"u64", 8}, {"s64", 8}, {"int", 4},	{"u32", 4}, {"s32", 4}};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (strstr(type, sizes[i].name))
			return sizes[i].size;
	return 0;
}

/*
 * Take a line "field:TYPE NAME[N];\toffset:..." apart. NAME is the last word of the declaration,
 * without the brackets. An array of char is shown as text; of unsigned char as numbers, because the
 * kernel declares bytes so.
 */
static void parse_field(struct vt_event *e, char *line)
{
	char *declaration = strstr(line, "field:") + 6, *rest = declaration + strcspn(declaration, ";"), *name,
	     *bracket;
	struct vt_field *field;

	e->fields = vt_realloc(e->fields, (e->nr_fields + 1) * sizeof(*e->fields));
	field = &e->fields[e->nr_fields++];
	*field = (struct vt_field){.offset = number_of(rest, "offset:"),
				   .size = number_of(rest, "size:"),
				   .is_signed = number_of(rest, "signed:") != 0};
	*rest = '\0';
	bracket = strrchr(declaration, '[');
	field->is_dynamic = !strncmp(declaration, "__data_loc ", 11) || !strncmp(declaration, "__rel_loc ", 10);
	field->is_relative = !strncmp(declaration, "__rel_loc ", 10);
	/* "__data_loc char[] name" has its brackets in the type. */
	if (bracket && !field->is_dynamic)
		*bracket = '\0';
	name = declaration + strlen(declaration);
	while (name > declaration && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
		name--;
	field->name = vt_strdup(name);
	*name = '\0';
	field->is_array = bracket != NULL;
	field->is_text = bracket && strstr(declaration, "char") && !strstr(declaration, "unsigned");
	field->element = element_size(declaration);
}

/*
 * An event from its `format` file of n bytes, which need not end in a zero. Parts that are missing are left empty. The
 * caller frees it with the system's others.
 */
void vt_event_parse(struct vt_event *e, const char *system, const char *text, size_t n)
{
	char *lines = vt_malloc(n + 1), *line, *print;

	memcpy(lines, text, n);
	lines[n] = '\0';
	*e = (struct vt_event){.system = vt_strdup(system), .name = vt_strdup(""), .print = vt_strdup("\"\"")};
	/* The print format is cut off first: it is the last line, and may itself contain "field:". */
	print = strstr(lines, "print fmt: ");
	if (print) {
		e->print = vt_strdup(print + 11);
		*print = '\0';
	}
	for (char *rest = lines; (line = strsep(&rest, "\n"));) {
		if (!strncmp(line, "name: ", 6))
			e->name = vt_strdup(line + 6);
		else if (!strncmp(line, "ID: ", 4))
			e->id = (unsigned)strtoul(line + 4, NULL, 10);
		else if (strstr(line, "field:"))
			parse_field(e, line);
	}
	free(lines);
}

const struct vt_field *vt_event_field(const struct vt_event *e, const char *name)
{
	for (size_t i = 0; i < e->nr_fields; i++)
		if (!strcmp(e->fields[i].name, name))
			return &e->fields[i];
	return NULL;
}

/*
 * Where a field's bytes are in a record of `size` bytes, and how many (*n). A dynamic field has a word in its place:
 * offset in the low half, length in the high one. Never leads outside the record; NULL: it would.
 */
const unsigned char *vt_field_bytes(const struct vt_field *field, const unsigned char *data, unsigned size, unsigned *n)
{
	unsigned offset = field->offset, length = field->size;

	if (offset > size)
		return NULL;
	if (field->is_dynamic) {
		unsigned word;

		if (size - offset < 4)
			return NULL;
		word = (unsigned)vt_take_number(data + offset, 4);
		length = word >> 16;
		offset = (word & 0xffff) + (field->is_relative ? field->offset + 4 : 0);
	} else if (!length) {
		length = size - offset; /* the rest of the record */
	}
	if (offset > size)
		return NULL;
	*n = length < size - offset ? length : size - offset;
	return data + offset;
}

long long vt_record_number(const struct vt_event *e, const char *name, const unsigned char *data, unsigned size)
{
	const struct vt_field *field = vt_event_field(e, name);
	unsigned long long value;

	if (!field || field->size < 1 || field->size > 8 || field->offset > size || field->size > size - field->offset)
		return 0;
	value = vt_take_number(data + field->offset, field->size);
	/* A negative number of fewer than 8 bytes: its sign is copied into all higher bits. */
	if (field->is_signed && field->size < 8 && value >> (field->size * 8 - 1))
		value |= ~0ull << (field->size * 8);
	return (long long)value;
}
