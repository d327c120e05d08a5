/* Requests for the file user_events_data (docs/user-events.md): events of programs. Names and layouts are Linux's. */
#pragma once

#include <uapi/ioctl.h>
#include <uapi/types.h>

/* A string behind the record's fixed part, as the word of a __data_loc or __rel_loc field says it. */
#define DYN_LOC(offset, size) ((size) << 16 | (offset))

/* user_reg.flags */
#define USER_EVENT_REG_PERSIST	    1u /* the event stays when nothing uses it any more */
#define USER_EVENT_REG_MULTI_FORMAT 2u /* one name may have several sets of fields, each an event with a number */
#define USER_EVENT_REG_MAX	    4u

struct user_reg {
	__u32 size;	   /* of this structure */
	__u8 enable_bit;   /* which bit of the word at enable_addr is 1 while the event is on */
	__u8 enable_size;  /* bytes of the word: 4 or 8 */
	__u16 flags;	   /* USER_EVENT_REG_* */
	__u64 enable_addr; /* a multiple of enable_size */
	__u64 name_args;   /* the address of "NAME [TYPE FIELD[; TYPE FIELD]...]" */
	__u32 write_index; /* out: what a write to this open file begins with */
} __attribute__((__packed__));

struct user_unreg {
	__u32 size; /* of this structure */
	__u8 disable_bit;
	__u8 __reserved;   /* 0 */
	__u16 __reserved2; /* 0 */
	__u64 disable_addr;
} __attribute__((__packed__));

#define DIAG_IOCSREG   _IOWR('*', 0, struct user_reg *)
#define DIAG_IOCSDEL   _IOW('*', 1, char *)
#define DIAG_IOCSUNREG _IOW('*', 2, struct user_unreg *)
