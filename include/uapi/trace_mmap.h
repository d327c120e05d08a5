/* The first page of a mapped trace_pipe_raw (docs/raw.md): Linux's <linux/trace_mmap.h>. */
#pragma once

/*
 * What a program finds in the first page of a mapped ring. TRACE_MMAP_IOCTL_GET_READER updates `reader`, entries,
 * overrun and read; the other fields do not change while the ring is mapped.
 */
struct trace_buffer_meta {
	unsigned meta_page_size;  /* bytes before the first sub-buffer */
	unsigned meta_struct_len; /* of this structure, which a later version may make longer */
	unsigned subbuf_size;	  /* bytes of each sub-buffer */
	unsigned nr_subbufs;	  /* how many there are, the reader's among them */
	struct {
		unsigned long long lost_events; /* overwritten before the reader's sub-buffer */
		unsigned id;			/* of the reader's sub-buffer: 0 to nr_subbufs - 1 */
		unsigned read;			/* bytes of it that count as read */
	} reader;
	unsigned long long flags;   /* 0 */
	unsigned long long entries; /* events written since the ring was emptied */
	unsigned long long overrun; /* overwritten before they were read */
	unsigned long long read;    /* events that count as read */
	unsigned long long reserved[2];
};

/*
 * What the reader has counts as read, and the next sub-buffer becomes the reader's. Waits until buffer_percent of the
 * ring is full, unless the file has O_NONBLOCK. 0; -ENODEV: not mapped.
 */
#define TRACE_MMAP_IOCTL_GET_READER 0x5220 /* _IO('R', 0x20) */
