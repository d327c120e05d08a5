/* The mistakes in a histogram's command, in Linux's words (errors.c). */
#pragma once

#include <lib/types.h>

struct trace_refusal;

/* clang-format off: a line each */
#define HIST_ERRORS(X)                                                                                    \
	X(DUPLICATE_VAR, "Variable already defined")                                                      \
	X(VAR_NOT_UNIQUE,                                                                                 \
	  "Variable name not unique, need to use fully qualified name (subsys.event.var) for variable")   \
	X(TOO_MANY_VARS, "Too many variables defined")                                                    \
	X(MALFORMED_ASSIGNMENT, "Malformed assignment")                                                   \
	X(NAMED_MISMATCH, "Named hist trigger doesn't match existing named trigger (includes variables)") \
	X(TRIGGER_EEXIST, "Hist trigger already exists")                                                  \
	X(TRIGGER_ENOENT_CLEAR, "Can't clear or continue a nonexistent hist trigger")                     \
	X(SET_CLOCK_FAIL, "Couldn't set trace_clock")                                                     \
	X(BAD_FIELD_MODIFIER, "Invalid field modifier")                                                   \
	X(TOO_MANY_SUBEXPR, "Too many subexpressions (3 max)")                                            \
	X(TIMESTAMP_MISMATCH, "Timestamp units in expression don't match")                                \
	X(TOO_MANY_FIELD_VARS, "Too many field variables defined")                                        \
	X(EVENT_FILE_NOT_FOUND, "Event file not found")                                                   \
	X(HIST_NOT_FOUND, "Matching event histogram not found")                                           \
	X(HIST_CREATE_FAIL, "Couldn't create histogram for field")                                        \
	X(SYNTH_EVENT_NOT_FOUND, "Couldn't find synthetic event")                                         \
	X(SYNTH_TYPE_MISMATCH, "Param type doesn't match synthetic event field type")                     \
	X(SYNTH_COUNT_MISMATCH, "Param count doesn't match synthetic event field count")                  \
	X(FIELD_VAR_PARSE_FAIL, "Couldn't parse field variable")                                          \
	X(ONX_NOT_VAR, "For onmax(x) or onchange(x), x must be a variable")                               \
	X(ONX_VAR_NOT_FOUND, "Couldn't find onmax or onchange variable")                                  \
	X(ONX_VAR_CREATE_FAIL, "Couldn't create onmax or onchange variable")                              \
	X(FIELD_VAR_CREATE_FAIL, "Couldn't create field variable")                                        \
	X(TOO_MANY_PARAMS, "Too many action params")                                                      \
	X(PARAM_NOT_FOUND, "Couldn't find param")                                                         \
	X(INVALID_PARAM, "Invalid action param")                                                          \
	X(ACTION_NOT_FOUND, "No action found")                                                            \
	X(NO_SAVE_PARAMS, "No params found for save()")                                                   \
	X(TOO_MANY_SAVE_ACTIONS, "Can't have more than one save() action per hist")                       \
	X(ACTION_MISMATCH, "Handler doesn't support action")                                              \
	X(NO_CLOSING_PAREN, "No closing paren found")                                                     \
	X(SUBSYS_NOT_FOUND, "Missing subsystem")                                                          \
	X(INVALID_SUBSYS_EVENT, "Invalid subsystem or event name")                                        \
	X(INVALID_REF_KEY, "Using variable references in keys not supported")                             \
	X(VAR_NOT_FOUND, "Couldn't find variable")                                                        \
	X(FIELD_NOT_FOUND, "Couldn't find field")                                                         \
	X(EMPTY_ASSIGNMENT, "Empty assignment")                                                           \
	X(INVALID_SORT_MODIFIER, "Invalid sort modifier")                                                 \
	X(EMPTY_SORT_FIELD, "Empty sort field")                                                           \
	X(TOO_MANY_SORT_FIELDS, "Too many sort fields (Max = 2)")                                         \
	X(INVALID_SORT_FIELD, "Sort field must be a key or a val")                                        \
	X(INVALID_STR_OPERAND, "String type can not be an operand in expression")                         \
	X(EXPECT_NUMBER, "Expecting numeric literal")                                                     \
	X(UNARY_MINUS_SUBEXPR, "Unary minus not supported in sub-expressions")                            \
	X(DIVISION_BY_ZERO, "Division by zero")                                                           \
	X(NEED_NOHC_VAL, "Non-hitcount value is required for 'nohitcount'")
/* clang-format on */

enum hist_err {
#define HIST_ERROR_NAME(name, text) HIST_ERR_##name,
	HIST_ERRORS(HIST_ERROR_NAME)
};

/* A command begins: what was wrong with the last one is forgotten. [event_mutex] */
void hist_errors_begin(void);
/* For the explanation of a refused write: what hist_error() was last told, if it was of this text. No lock held. */
void hist_explain(struct trace_refusal *r);
