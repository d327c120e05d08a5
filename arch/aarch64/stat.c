/* struct stat of this machine. */
#include <asm/uapi_stat.h>
#include <uapi/stat.h>

/* Linux's new_encode_dev: 12 bits of major in the middle of 20 bits of minor. */
static u64 encode_dev(dev_t dev)
{
	u64 major = dev >> 20, minor = dev & 0xfffff;

	return (minor & 0xff) | (major << 8) | ((minor & ~0xffUL) << 12);
}

void arch_fill_stat(struct stat *out, const struct kstat *k)
{
	*out = (struct stat){
		.st_dev = encode_dev(k->dev),
		.st_ino = k->ino,
		.st_mode = k->mode,
		.st_nlink = k->nlink,
		.st_uid = k->uid,
		.st_gid = k->gid,
		.st_rdev = encode_dev(k->rdev),
		.st_size = k->size,
		.st_blksize = k->blksize,
		.st_blocks = k->blocks,
		.st_atime = k->atime / NSEC_PER_SEC,
		.st_atime_nsec = k->atime % NSEC_PER_SEC,
		.st_mtime = k->mtime / NSEC_PER_SEC,
		.st_mtime_nsec = k->mtime % NSEC_PER_SEC,
		.st_ctime = k->ctime / NSEC_PER_SEC,
		.st_ctime_nsec = k->ctime % NSEC_PER_SEC,
	};
}
