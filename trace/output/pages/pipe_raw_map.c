/*
 * mmap(2) and ioctl(2) of per_cpu/cpuN/trace_pipe_raw, as in Linux 6.12: a program maps a CPU's ring and reads its
 * records in place. docs/raw.md has an example; trace/output/pages/ring_map.c has the ring's side.
 *
 * The areas of one mmap(2) have a file of their own, whose release() tells that the last of them is gone: also when the
 * program has closed trace_pipe_raw before, or ends. It holds trace_pipe_raw open, and with that the tracer and the
 * instance. An area is not cut, does not grow and is not the child's after fork (VM_WHOLE). Only reading is allowed, so
 * no page can be changed or copied.
 *
 * A page of the ring belongs to the ring, which has the first reference to it; each entry of a page table has another.
 * The pages of a larger sub-buffer are one block, which has a reference for its first page alone. While the ring is
 * mapped, the other pages get one each, so that a mapping that goes does not free them. By release() all entries are
 * gone (exit_mmap, unmap_locked), and nothing else takes references to such pages.
 *
 * Order of locks: mmap_lock, inside it trace_shape_lock, inside it the ring's reader_lock. trace_types_lock must not be
 * taken here, since tracefs holds it around much that may wait for an mmap_lock. What it keeps from changing otherwise,
 * the shape of the rings, trace_shape_lock keeps.
 */
#include <fs/anon_inode.h>
#include <fs/vfs.h>
#include <lib/errno.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <trace/ring_buffer_map.h>
#include <uapi/fcntl.h>
#include <uapi/trace_mmap.h>

#include "core/aside.h"
#include "tracefs/tracefs.h"
#include "output/iter.h"

/* What the areas of one mmap(2) share. Immutable. */
struct raw_mapping {
	struct file *raw; /* trace_pipe_raw, with a reference */
	struct ring_buffer_map *map;
};

/* Give the pages inside of the sub-buffers `count` references each. trace_shape_lock held; no page is mapped. */
static void set_inner_references(const struct ring_buffer_map *map, int count)
{
	unsigned long inner = (1ul << map->order) - 1;

	for (unsigned long n = 1ul << map->order; n < ring_buffer_map_pages(map); n++)
		if (n & inner)
			atomic_set(&virt_to_page(ring_buffer_map_page(map, n))->refcount, count);
}

/* mmap_lock held. The map has a user, and map_ring() has seen that the area shows no more than there is. */
static struct page *mapping_get_page(struct file *file, unsigned long n)
{
	const struct raw_mapping *m = file->private_data;
	struct page *page = virt_to_page(ring_buffer_map_page(m->map, n));

	get_page(page);
	return page;
}

/* trace_shape_lock held; no area shows the ring for this user any more. */
static void put_ring(struct ring_buffer_map *map)
{
	if (map->users == 1)
		set_inner_references(map, 0);
	ring_buffer_unmap(map);
}

static int mapping_release(struct inode *inode, struct file *file)
{
	struct raw_mapping *m = file->private_data;

	mutex_lock(&trace_shape_lock);
	put_ring(m->map);
	mutex_unlock(&trace_shape_lock);
	trace_snapshot_allow(tracefs_array(m->raw));
	fput(m->raw);
	kfree(m);
	return 0;
}

static const struct file_operations mapping_fops = {.get_page = mapping_get_page, .release = mapping_release};

/* What may be asked for: reading, shared with the ring. */
static bool rights_are_fine(const struct vm_area_struct *vma)
{
	return (vma->vm_flags & (VM_WRITE | VM_EXEC | VM_SHARED)) == VM_SHARED;
}

/* Does the area begin with a whole sub-buffer (or the meta page), and show only what is there? */
static bool area_is_fine(const struct vm_area_struct *vma, const struct ring_buffer_map *map)
{
	unsigned long pages = ring_buffer_map_pages(map), first = vma->vm_pgoff;

	return !(first & ((1ul << map->order) - 1)) && first < pages &&
	       (vma->vm_end - vma->vm_start) >> PAGE_SHIFT <= pages - first;
}

/* The ring has one user more, m, and the area shows it. 0, or -errno and all is as before. trace_shape_lock held. */
static int map_ring(struct vm_area_struct *vma, struct raw_mapping *m)
{
	struct file *raw = vma->vm_file, *file;
	int ret = ring_buffer_map(tracefs_array(raw)->buffer, tracefs_cpu(raw), &m->map);

	if (ret)
		return ret;
	if (m->map->users == 1)
		set_inner_references(m->map, 1);
	file = area_is_fine(vma, m->map) ? file_of_mapping(raw, &mapping_fops, m) : ERR_PTR(-EINVAL);
	if (IS_ERR(file)) {
		put_ring(m->map);
		return PTR_ERR(file);
	}
	m->raw = raw; /* the area's reference */
	vma->vm_file = file;
	vma->vm_flags = (vma->vm_flags & ~VM_MAYWRITE) | VM_NOEXEC | VM_WHOLE;
	return 0;
}

static int make_mapping(struct vm_area_struct *vma)
{
	struct raw_mapping *m = kzalloc(sizeof(*m), GFP_KERNEL);
	int ret;

	if (!m)
		return -ENOMEM;
	mutex_lock(&trace_shape_lock);
	ret = map_ring(vma, m);
	mutex_unlock(&trace_shape_lock);
	if (ret)
		kfree(m);
	return ret;
}

/* mmap_lock held. The order of the checks is Linux's. 0, -EBUSY, -EPERM, -EINVAL, -ENOMEM, -ENFILE. */
static int raw_map_mmap(struct file *raw, struct vm_area_struct *vma)
{
	struct trace_array *tr = tracefs_array(raw);
	int ret = trace_snapshot_forbid(tr);

	if (ret)
		return ret;
	ret = rights_are_fine(vma) ? make_mapping(vma) : -EPERM;
	if (ret)
		trace_snapshot_allow(tr);
	return ret;
}

/* What TRACE_MMAP_IOCTL_GET_READER waits for. The caller's alone. */
struct reader_wait {
	struct trace_array *tr;
	int cpu;
	unsigned percent; /* of the ring that must be full; 0: any record will do */
	bool was_on;	  /* recording was on at the last look */
	bool went_off;	  /* between two looks */
};

/* Recording that goes off ends the wait, whatever there is; if it was off before, the caller waits for records. */
static bool reader_is_due(void *wait)
{
	struct reader_wait *w = wait;
	bool on = tracer_tracing_is_on(w->tr);

	w->went_off |= w->was_on && !on;
	w->was_on = on;
	return w->went_off || ring_buffer_filled(w->tr->buffer, w->cpu, w->percent);
}

/* 0, -ERESTARTSYS. */
static int wait_for_reader(struct trace_array *tr, int cpu)
{
	struct reader_wait w = {.tr = tr, .cpu = cpu, .percent = READ_ONCE(tr->buffer_percent)};
	int ret = 0;

	while (!ret && !reader_is_due(&w))
		ret = trace_wait_for(tr, reader_is_due, &w);
	return ret;
}

/* Thread context, no lock held. 0, -ENOTTY, -ERESTARTSYS, -ENODEV. */
static long raw_map_ioctl(struct file *raw, unsigned cmd, unsigned long arg)
{
	struct trace_array *tr = tracefs_array(raw);
	int ret = 0;

	if (cmd != TRACE_MMAP_IOCTL_GET_READER)
		return -ENOTTY;
	if (!(raw->f_flags & O_NONBLOCK))
		ret = wait_for_reader(tr, tracefs_cpu(raw));
	return ret ? ret : ring_buffer_map_get_reader(tr->buffer, tracefs_cpu(raw));
}

static const struct trace_raw_map raw_map = {.mmap = raw_map_mmap, .ioctl = raw_map_ioctl};
REGISTER_TRACE_RAW_MAP(raw_map);
