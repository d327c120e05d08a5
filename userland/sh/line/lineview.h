/* Drawing the line that is being edited. */
#ifndef SH_LINEVIEW_H
#define SH_LINEVIEW_H

#include "../sh.h"
#include <vt_term.h>

struct place {
	size_t row, column; /* row 0 is that of the prompt's last row */
};

/* The terminal, of so many columns (4 at least), and where its cursor is. */
struct view {
	size_t columns;
	struct place cursor;
};

/* Write all of a prompt; what is edited begins behind its last row. */
void view_prompt(struct view *v, const char *prompt);
/* Write n bytes where the cursor is, which is the end of the line. */
void view_append(struct view *v, const char *text, size_t n);
/* Draw over what was drawn before: the prompt's last row and n bytes of text, the cursor at byte `at` of it.
 */
void view_draw(struct view *v, const char *prompt, const char *text, size_t n, size_t at);
/* Put the cursor at byte `at` of the text that is drawn. */
void view_move(struct view *v, const char *prompt, const char *text, size_t at);
/* What was drawn stays, with a mark behind it; the cursor goes to an empty row below. */
void view_leave(struct view *v, const char *prompt, const char *text, size_t n, const char *mark);

#endif
