/* Functions that the code under test names and that no case of a unit test reaches. */
#pragma once

/* Defines the function: a call fails the test, which names it. answer: what it would return, empty for void. */
#define NOT_CALLED(prototype, answer)     \
	prototype                         \
	{                                 \
		fail_msg("%s", __func__); \
		return answer;            \
	}
