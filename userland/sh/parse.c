/*
 * Tokens into the tree of a command, by recursive descent: a function for each rule of the grammar.
 *
 *     parse_command   a line: items up to its newline         parse_pipeline  [!] pipe
 *     parse_list      item; item & ...                        parse_pipe      element | element ...
 *     parse_and_or    pipeline && pipeline || ...             parse_element   simple or compound command
 *
 * Each function is entered with lx->token being the first token of what it parses and leaves the
 * first one after it. The tree lies in lx->arena: a syntax error, which jumps away by sh_error(), gives it back
 * (exec_abandon()). The grammar is POSIX's (2.10.2); the comments below name the rules
 * that are not plain.
 */
#include "sh.h"

static struct node *parse_list(struct lexer *lx);

/* A node of this type, all zero, in the arena of the command. */
static struct node *node_new(struct lexer *lx, enum node_type type)
{
	struct node *n = arena_alloc(lx->arena, sizeof(*n));

	*n = (struct node){.type = type};
	return n;
}

/*
 * Ends the command. A script is told the line; after a newline token the line count is one ahead.
 */
static void unexpected(struct lexer *lx)
{
	static const char *const names[] = {
		[T_EOF] = "end of file",
		[T_NEWLINE] = "newline",
		[T_AND_IF] = "&&",
		[T_OR_IF] = "||",
		[T_DSEMI] = ";;",
		[T_AMP] = "&",
		[T_SEMI] = ";",
		[T_PIPE] = "|",
		[T_LPAREN] = "(",
		[T_RPAREN] = ")",
		[T_REDIR] = "redirection",
	};
	const char *what = lx->token == T_WORD ? lx->text : names[lx->token];

	if (sh.interactive)
		sh_error("syntax error: unexpected \"%s\"", what);
	sh_error("line %d: syntax error: unexpected \"%s\"", lx->line - (lx->token == T_NEWLINE), what);
}

/* The token is this reserved word. Only asked where one may stand. */
static bool is_word(const struct lexer *lx, const char *word)
{
	return lx->token == T_WORD && !strcmp(lx->text, word);
}

/* Step over a reserved word that must stand here. */
static void expect_word(struct lexer *lx, const char *word)
{
	if (!is_word(lx, word))
		unexpected(lx);
	lex_next(lx);
}

/* The same for an operator. */
static void expect(struct lexer *lx, enum token token)
{
	if (lx->token != token)
		unexpected(lx);
	lex_next(lx);
}

/* Newlines mean nothing where a command must follow: behind |, && and `do`. */
static void skip_newlines(struct lexer *lx)
{
	while (lx->token == T_NEWLINE)
		lex_next(lx);
}

/* Words that end the list before them. */
static bool ends_list(const struct lexer *lx)
{
	static const char *const enders[] = {"then", "else", "elif", "fi", "do", "done", "esac", "}"};

	if (lx->token == T_EOF || lx->token == T_RPAREN || lx->token == T_DSEMI)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(enders); i++) {
		if (is_word(lx, enders[i]))
			return true;
	}
	return false;
}

/* A list that must not be empty. */
static struct node *parse_body(struct lexer *lx)
{
	struct node *n;

	skip_newlines(lx);
	n = parse_list(lx);
	if (!n)
		unexpected(lx);
	return n;
}

/* Append the token, a word, to a list. Returns where the next one goes. */
static struct word **add_word(struct lexer *lx, struct word **tail)
{
	struct word *w = arena_alloc(lx->arena, sizeof(*w));

	foreign_parameters(lx, lx->text);
	*w = (struct word){.text = lx->text};
	*tail = w;
	return &w->next;
}

/* Take away the quotes of a here-document's delimiter. Returns whether there were any. */
static bool unquote(char *text)
{
	char *to = text;
	bool quoted = false;

	for (; *text; text++) {
		if (strchr("'\"\\", *text))
			quoted = true;
		else
			*to++ = *text;
	}
	*to = '\0';
	return quoted;
}

/*
 * Take a redirection; the token is T_REDIR. Returns where the next one goes. The body of a
 * here-document comes after the line, so it is put on a list that the lexer works off at the newline.
 */
static struct redir **parse_redir(struct lexer *lx, struct redir **tail)
{
	struct redir *r = lx->redir;

	*tail = r;
	/* The word is taken by hand: the newline after it must find the here-document in the list. */
	lex_next(lx);
	if (lx->token != T_WORD)
		unexpected(lx);
	r->target = lx->text;
	if (r->type != REDIR_HERE)
		foreign_parameters(lx, r->target);
	if (r->type == REDIR_DUP)
		foreign_duplicate(lx, r->target, r->out);
	if (r->type == REDIR_HERE) {
		struct redir *here = r, **end = &lx->here;

		r->quoted = unquote(r->target);
		while (*end)
			end = &(*end)->here_next;
		*end = here;
	}
	lex_next(lx);
	return &r->next;
}

/* Where a node's next redirection goes. */
static struct redir **redir_tail(struct node *n)
{
	struct redir **tail = &n->redirs;

	while (*tail)
		tail = &(*tail)->next;
	return tail;
}

/*
 * if list then list [elif ...] [else list] fi. The token is `if` or `elif`: an elif is an `if`
 * within the else part, and they share one fi.
 */
static struct node *parse_if(struct lexer *lx)
{
	struct node *n = node_new(lx, N_IF);

	lex_next(lx);
	n->left = parse_body(lx);
	expect_word(lx, "then");
	n->right = parse_body(lx);
	/* An elif is an if in the place of the else. */
	if (is_word(lx, "elif")) {
		n->other = parse_if(lx); /* takes the fi */
		return n;
	}
	if (is_word(lx, "else")) {
		lex_next(lx);
		n->other = parse_body(lx);
	}
	expect_word(lx, "fi");
	return n;
}

/* do list done, with newlines before it. */
static struct node *parse_do(struct lexer *lx)
{
	struct node *body;

	skip_newlines(lx);
	expect_word(lx, "do");
	body = parse_body(lx);
	expect_word(lx, "done");
	return body;
}

static struct node *parse_while(struct lexer *lx)
{
	struct node *n = node_new(lx, is_word(lx, "while") ? N_WHILE : N_UNTIL);

	lex_next(lx);
	n->left = parse_body(lx);
	n->right = parse_do(lx);
	return n;
}

/*
 * for name [in word...]; without `in` the parameters are meant, which is not the same as an empty
 * list.
 */
static struct node *parse_for(struct lexer *lx)
{
	struct node *n = node_new(lx, N_FOR);
	struct word **tail = &n->words;

	lex_next(lx);
	if (lx->token == T_LPAREN)
		foreign_refuse(lx, "for (( ))", "while [ ... ]; do ...; x=$((x+1)); done");
	/* The variable has to be a name as it stands: no quotes, no expansion. */
	if (lx->token != T_WORD || !var_name_length(lx->text) || lx->text[var_name_length(lx->text)])
		unexpected(lx);
	n->name = lx->text;
	lex_next(lx);
	skip_newlines(lx);
	if (is_word(lx, "in")) {
		n->has_items = true;
		for (lex_next(lx); lx->token == T_WORD; lex_next(lx)) {
			foreign_braces(lx, lx->text);
			tail = add_word(lx, tail);
		}
	}
	if (lx->token == T_SEMI)
		lex_next(lx);
	n->left = parse_do(lx);
	return n;
}

/* [(] pattern [| pattern]... ) [list] ;; where the last ;; may be missing. */
static struct case_arm *parse_arm(struct lexer *lx)
{
	struct case_arm *arm = arena_alloc(lx->arena, sizeof(*arm));
	struct word **tail = &arm->patterns;

	*arm = (struct case_arm){0};
	if (lx->token == T_LPAREN)
		lex_next(lx);
	for (;;) {
		if (lx->token != T_WORD)
			unexpected(lx);
		tail = add_word(lx, tail);
		lex_next(lx);
		if (lx->token != T_PIPE)
			break;
		lex_next(lx);
	}
	expect(lx, T_RPAREN);
	skip_newlines(lx);
	/* May be NULL: an arm that does nothing. */
	arm->body = parse_list(lx);
	if (lx->token == T_DSEMI)
		lex_next(lx);
	else if (!is_word(lx, "esac"))
		unexpected(lx);
	skip_newlines(lx);
	return arm;
}

/* case word in [arm...] esac. Arms are kept in their order: the first that matches runs. */
static struct node *parse_case(struct lexer *lx)
{
	struct node *n = node_new(lx, N_CASE);
	struct case_arm **tail = &n->arms;

	lex_next(lx);
	if (lx->token != T_WORD)
		unexpected(lx);
	add_word(lx, &n->words);
	lex_next(lx);
	skip_newlines(lx);
	expect_word(lx, "in");
	skip_newlines(lx);
	while (!is_word(lx, "esac")) {
		*tail = parse_arm(lx);
		tail = &(*tail)->next;
	}
	lex_next(lx);
	return n;
}

/* ( list ) and { list; } */
static struct node *parse_group(struct lexer *lx)
{
	bool subshell = lx->token == T_LPAREN;
	struct node *n = node_new(lx, subshell ? N_SUBSHELL : N_GROUP);

	lex_next(lx);
	n->left = parse_body(lx);
	if (subshell)
		expect(lx, T_RPAREN);
	else
		expect_word(lx, "}");
	return n;
}

/*
 * A compound command, or NULL when what stands here begins none. Reserved words count only here, in
 * the place of a command: `echo if` has an argument.
 */
static struct node *parse_compound(struct lexer *lx)
{
	static const struct {
		const char *word;
		struct node *(*parse)(struct lexer *lx);
	} compounds[] = {
		{"if", parse_if},   {"while", parse_while}, {"until", parse_while},
		{"for", parse_for}, {"case", parse_case},   {"{", parse_group},
	};

	if (lx->token == T_LPAREN) {
		foreign_arithmetic(lx);
		return parse_group(lx);
	}
	for (size_t i = 0; i < ARRAY_SIZE(compounds); i++) {
		if (is_word(lx, compounds[i].word))
			return compounds[i].parse(lx);
	}
	return NULL;
}

/* name () compound; the name has been taken and the token is '('. */
static struct node *parse_function(struct lexer *lx, char *name)
{
	struct node *n = node_new(lx, N_FUNCTION);

	n->name = name;
	foreign_defined(name);
	lex_next(lx);
	expect(lx, T_RPAREN);
	skip_newlines(lx);
	/*
	 * POSIX: the body is a compound command, and redirections after it are done at each call.
	 */
	n->left = parse_compound(lx);
	if (!n->left)
		unexpected(lx);
	for (struct redir **tail = redir_tail(n->left); lx->token == T_REDIR;)
		tail = parse_redir(lx, tail);
	return n;
}

/*
 * Assignments count as such only before the first other word. A name followed by "(" is a function
 * being defined.
 */
static struct node *parse_simple(struct lexer *lx)
{
	struct node *n = node_new(lx, N_SIMPLE);
	struct word **words = &n->words, **assigns = &n->assigns;
	struct redir **redirs = &n->redirs;
	char *first = NULL, *last; /* words of the command */

	for (;;) {
		if (lx->token == T_REDIR) {
			redirs = parse_redir(lx, redirs);
			continue;
		}
		if (lx->token == T_LPAREN && n->words && !n->words->next && !n->assigns && !n->redirs)
			return parse_function(lx, n->words->text);
		if (lx->token != T_WORD)
			break;
		last = lx->text;
		if (!n->words && var_is_assignment(last)) {
			assigns = add_word(lx, assigns);
		} else {
			first = n->words ? first : last;
			foreign_braces(lx, last);
			words = add_word(lx, words);
		}
		lex_next(lx);
		if (lx->token == T_LPAREN)
			foreign_array(lx, last);
		else if (first == last)
			foreign_command(lx, first);
	}
	if (!n->words && !n->assigns && !n->redirs)
		unexpected(lx);
	return n;
}

/* One element of a pipeline. */
static struct node *parse_element(struct lexer *lx)
{
	struct node *n = parse_compound(lx);

	if (!n)
		return parse_simple(lx);
	for (struct redir **tail = redir_tail(n); lx->token == T_REDIR;)
		tail = parse_redir(lx, tail);
	return n;
}

/*
 * What was written between two places of the input, on one line: `jobs` and messages show it. Blanks
 * and operators at its ends are cut off.
 */
static char *source_text(struct lexer *lx, size_t from, size_t to)
{
	char *text;

	while (from < to && strchr(" \t\n", lx->buf[from]))
		from++;
	while (to > from && strchr(" \t\n&|;", lx->buf[to - 1]))
		to--;
	text = arena_copy(lx->arena, lx->buf + from, to - from);
	for (char *s = text; *s; s++) {
		if (*s == '\n')
			*s = ' ';
	}
	return text;
}

/* Where the token just taken begins, as nearly as needed for source_text(). */
static size_t token_start(const struct lexer *lx)
{
	size_t n = lx->token == T_WORD ? strlen(lx->text) : 1;

	return lx->at >= n ? lx->at - n : 0;
}

/* A pipeline. It leans to the right, a | (b | c), so that exec_pipe() walks it from the left. */
static struct node *parse_pipe(struct lexer *lx)
{
	struct node *n, *pipe;

	n = parse_element(lx);
	if (lx->token != T_PIPE)
		return n;
	pipe = node_new(lx, N_PIPE);
	pipe->left = n;
	lex_next(lx);
	skip_newlines(lx);
	pipe->right = parse_pipe(lx);
	return pipe;
}

/*
 * [! | time [-p]]... pipe. `time` is a reserved word and no builtin, since it measures all of a
 * pipeline.
 */
static struct node *parse_pipeline(struct lexer *lx)
{
	size_t start = token_start(lx);
	struct node *n, *outer = NULL, **at = &outer;

	/* Both may be repeated and mixed, as in bash. */
	while (is_word(lx, "!") || is_word(lx, "time")) {
		*at = node_new(lx, is_word(lx, "!") ? N_NOT : N_TIME);
		lex_next(lx);
		/* -p is an option of the reserved word, so it is taken here. */
		if ((*at)->type == N_TIME && is_word(lx, "-p")) {
			(*at)->posix = true;
			lex_next(lx);
		}
		at = &(*at)->left;
	}
	n = *at = parse_pipe(lx);
	/* For messages about the job. A backslash-newline within stays as typed. */
	n->text = source_text(lx, start, token_start(lx));
	return outer;
}

/*
 * && and || have the same precedence and group to the left: a || b && c is (a || b) && c, other than
 * in C.
 *
 *                 AND
 *                /   \
 *              OR     c
 *             /  \
 *            a    b
 */
static struct node *parse_and_or(struct lexer *lx)
{
	struct node *n = parse_pipeline(lx), *both;

	while (lx->token == T_AND_IF || lx->token == T_OR_IF) {
		both = node_new(lx, lx->token == T_AND_IF ? N_AND : N_OR);
		lex_next(lx);
		skip_newlines(lx);
		both->left = n;
		both->right = parse_pipeline(lx);
		n = both;
	}
	return n;
}

/* An and-or list with the & or ; after it. */
static struct node *parse_item(struct lexer *lx)
{
	size_t start = token_start(lx);
	struct node *n = parse_and_or(lx), *background;

	/*
	 * & ends the item as ; does, and puts all of it into the background: `a && b &` is one job.
	 */
	if (lx->token == T_AMP) {
		background = node_new(lx, N_BACKGROUND);
		background->left = n;
		background->text = source_text(lx, start, lx->at);
		lex_next(lx);
		return background;
	}
	if (lx->token == T_SEMI)
		lex_next(lx);
	/* `a (b)` are not two commands; `{ a; } then` may follow each other. */
	else if (lx->token != T_NEWLINE && !ends_list(lx))
		unexpected(lx);
	return n;
}

/* first; second. Either list may be missing at the start. */
static struct node *sequence(struct lexer *lx, struct node *first, struct node *second)
{
	struct node *n;

	if (!first)
		return second;
	n = node_new(lx, N_SEQUENCE);
	n->left = first;
	n->right = second;
	return n;
}

/* Items up to what ends a list; newlines between them. NULL when there is none. */
static struct node *parse_list(struct lexer *lx)
{
	struct node *n = NULL;

	for (skip_newlines(lx); !ends_list(lx); skip_newlines(lx))
		n = sequence(lx, n, parse_item(lx));
	return n;
}

/*
 * A command is everything up to the newline, `a; b; c` included: -n, errors and ^C work by lines.
 */
struct node *parse_command(struct lexer *lx)
{
	struct node *n = NULL;

	lx->first_line = true;
	/* A syntax error before may have left some. */
	lx->here = NULL;
	lex_next(lx);
	/* Newlines within compound commands are taken by those: one met here is the end. */
	while (lx->token != T_NEWLINE && lx->token != T_EOF) {
		if (ends_list(lx))
			unexpected(lx);
		n = sequence(lx, n, parse_item(lx));
	}
	return n;
}
