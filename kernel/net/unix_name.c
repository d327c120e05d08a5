/*
 * Names of AF_UNIX sockets: a path, whose inode leads to the socket, or an abstract name, which begins with a zero
 * byte and lives no longer than the socket. Both kinds are in one table, by the number of the inode or by a hash of the
 * name. /proc/net/unix shows the sockets.
 *
 * A path is made without unix_mutex, since that sleeps; bind_mutex, outside it, keeps a socket from getting two names.
 */
#include "unix.h"

#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <fs/text_file.h>
#include <lib/errno.h>
#include <lib/hash.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <uapi/fcntl.h>

#define HASH_BITS 6
#define NAME_AT	  offsetof(struct sockaddr_un, sun_path)

static DEFINE_MUTEX(bind_mutex);
static struct hlist_head names[1 << HASH_BITS]; /* [u] */

void unix_addr_put(struct unix_addr *addr)
{
	if (addr && atomic_dec_and_test(&addr->refs))
		kfree(addr);
}

static bool is_abstract(const struct sockaddr_un *name)
{
	return !name->sun_path[0];
}

static struct hlist_head *bucket_of_inode(const struct inode *inode)
{
	return &names[hash_64(inode->i_ino, HASH_BITS)];
}

static struct hlist_head *bucket_of_name(const struct sockaddr_un *name, int len)
{
	u64 hash = len;

	for (int i = 0; i < len - (int)NAME_AT; i++)
		hash = hash * 31 + (unsigned char)name->sun_path[i];
	return &names[hash_64(hash, HASH_BITS)];
}

/* [u] With a reference; NULL: there is none. */
static struct unix_sock *find_abstract(const struct sockaddr_un *name, int len, int type)
{
	struct unix_sock *u;

	hlist_for_each_entry(u, bucket_of_name(name, len), name_node)
		if (!u->path.dentry && u->sk.type == type && u->addr->len == len &&
		    !memcmp(u->addr->name.sun_path, name->sun_path, len - NAME_AT))
			return unix_get(u);
	return NULL;
}

/* [u] */
static struct unix_sock *find_inode(const struct inode *inode)
{
	struct unix_sock *u;

	hlist_for_each_entry(u, bucket_of_inode(inode), name_node)
		if (u->path.dentry && u->path.dentry->d_inode == inode)
			return unix_get(u);
	return NULL;
}

/*
 * An address of a program as a name: its length, where a path ends with its zero. -EINVAL: it is none, or (it has only
 * the family) it is empty.
 */
static int name_length(const struct sockaddr_storage *addr, int len, struct sockaddr_un *name)
{
	if (len <= (int)NAME_AT || len > (int)sizeof(*name) || addr->ss_family != AF_UNIX)
		return -EINVAL;
	memset(name, 0, sizeof(*name));
	memcpy(name, addr, len);
	if (is_abstract(name))
		return len;
	return NAME_AT + strnlen(name->sun_path, len - NAME_AT) + 1;
}

bool unix_valid_addr(const struct sockaddr_storage *addr, int len)
{
	struct sockaddr_un name;

	return name_length(addr, len, &name) >= 0;
}

/* A path of 108 bytes has no zero of its own. */
static void path_of(const struct sockaddr_un *name, char path[UNIX_PATH_MAX + 1])
{
	memcpy(path, name->sun_path, UNIX_PATH_MAX);
	path[UNIX_PATH_MAX] = '\0';
}

/* To send to a socket of the file system one must be allowed to write it. */
static struct unix_sock *find_path(const struct sockaddr_un *name, int type)
{
	char text[UNIX_PATH_MAX + 1];
	struct unix_sock *u = NULL;
	struct inode *inode;
	struct path path;
	int err;

	path_of(name, text);
	err = kern_path_at(AT_FDCWD, text, LOOKUP_FOLLOW, &path);
	if (err)
		return ERR_PTR(err);
	inode = path.dentry->d_inode;
	err = inode_permission(inode, MAY_WRITE);
	if (!err) {
		mutex_lock(&unix_mutex);
		u = find_inode(inode);
		mutex_unlock(&unix_mutex);
		err = u ? 0 : -ECONNREFUSED;
	}
	path_put(&path);
	if (!err && u->sk.type == type)
		return u;
	unix_put(u);
	return ERR_PTR(err ? err : -EPROTOTYPE);
}

struct unix_sock *unix_find(const struct sockaddr_storage *addr, int len, int type)
{
	struct sockaddr_un name;
	struct unix_sock *u;

	len = name_length(addr, len, &name);
	if (len < 0)
		return ERR_PTR(len);
	if (!is_abstract(&name))
		return find_path(&name, type);
	mutex_lock(&unix_mutex);
	u = find_abstract(&name, len, type);
	mutex_unlock(&unix_mutex);
	return u ? u : ERR_PTR(-ECONNREFUSED);
}

static struct unix_addr *addr_new(const struct sockaddr_un *name, int len)
{
	struct unix_addr *addr = kzalloc(sizeof(*addr), GFP_KERNEL);

	if (!addr)
		return NULL;
	atomic_set(&addr->refs, 1);
	addr->name = *name;
	addr->len = min(len, (int)sizeof(*name));
	return addr;
}

void unix_unhash(struct unix_sock *u)
{
	if (u->name_node.pprev)
		hlist_del(&u->name_node);
	u->name_node.pprev = NULL;
}

/* [b] The name is the socket's own from now on. `addr` is taken over. -EADDRINUSE: another one has it. */
static int take_abstract(struct unix_sock *u, struct unix_addr *addr)
{
	struct unix_sock *other;

	mutex_lock(&unix_mutex);
	other = find_abstract(&addr->name, addr->len, u->sk.type);
	if (!other) {
		u->addr = addr;
		hlist_add_head(&u->name_node, bucket_of_name(&addr->name, addr->len));
	}
	mutex_unlock(&unix_mutex);
	if (!other)
		return 0;
	unix_put(other);
	unix_addr_put(addr);
	return -EADDRINUSE;
}

/* [b] Make the name in the file system. `addr` is taken over. */
static int take_path(struct unix_sock *u, struct unix_addr *addr)
{
	char text[UNIX_PATH_MAX + 1];
	struct path path;
	int err;

	path_of(&addr->name, text);
	err = vfs_make_socket(text, &path);
	if (err) {
		unix_addr_put(addr);
		return err == -EEXIST ? -EADDRINUSE : err;
	}
	mutex_lock(&unix_mutex);
	u->addr = addr;
	u->path = path;
	hlist_add_head(&u->name_node, bucket_of_inode(path.dentry->d_inode));
	mutex_unlock(&unix_mutex);
	return 0;
}

/* Abstract names of five digits, tried from where the last one was found. */
int unix_autobind(struct unix_sock *u)
{
	static unsigned last; /* [b] */
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	struct unix_addr *addr;
	int err = -EADDRINUSE;

	mutex_lock(&bind_mutex);
	for (unsigned i = 0; i <= 0xfffff && err == -EADDRINUSE; i++) {
		if (u->addr) {
			err = 0;
			break;
		}
		last = (last + 1) & 0xfffff;
		snprintf(name.sun_path + 1, 6, "%05x", last);
		addr = addr_new(&name, NAME_AT + 6);
		err = addr ? take_abstract(u, addr) : -ENOMEM;
	}
	mutex_unlock(&bind_mutex);
	return err == -EADDRINUSE ? -ENOSPC : err;
}

/*
 * An address with nothing but its family asks for any free name. The name is made before bind_mutex is taken, and
 * whether the socket has one already is decided under it, so of two binds at once one is refused.
 */
int unix_bind(struct sock *sk, struct sockaddr_storage *addr, int len)
{
	struct unix_sock *u = unix_sk(sk);
	struct sockaddr_un name;
	struct unix_addr *own;
	int err;

	if (len == (int)NAME_AT && addr->ss_family == AF_UNIX)
		return unix_autobind(u);
	len = name_length(addr, len, &name);
	if (len < 0)
		return len;
	own = addr_new(&name, len);
	if (!own)
		return -ENOMEM;
	mutex_lock(&bind_mutex);
	if (u->addr) {
		unix_addr_put(own);
		err = -EINVAL;
	} else {
		err = is_abstract(&name) ? take_abstract(u, own) : take_path(u, own);
	}
	mutex_unlock(&bind_mutex);
	return err;
}

/* A socket without a name has only its family. */
int unix_getname(struct sock *sk, struct sockaddr_storage *addr, bool peer)
{
	struct unix_sock *u;
	int len = NAME_AT;

	memset(addr, 0, sizeof(*addr));
	addr->ss_family = AF_UNIX;
	mutex_lock(&unix_mutex);
	u = peer ? unix_sk(sk)->peer : unix_sk(sk);
	if (!u) {
		len = -ENOTCONN;
	} else if (u->addr) {
		len = u->addr->len;
		memcpy(addr, &u->addr->name, len);
	}
	mutex_unlock(&unix_mutex);
	return len;
}

/* [u] As Linux shows it: an abstract name begins with @, and its zeros become @. */
static void show_name(struct seq_file *m, const struct unix_addr *addr)
{
	const struct sockaddr_un *name = &addr->name;
	int n = addr->len - NAME_AT;

	seq_putc(m, ' ');
	if (!is_abstract(name))
		n--;
	for (int i = 0; i < n; i++)
		seq_putc(m, name->sun_path[i] ? name->sun_path[i] : '@');
}

/* Addresses of the kernel are not told: 0 stands in their place, as for users other than root on Linux. */
static int net_unix_show(struct seq_file *m, void *data)
{
	const struct unix_sock *u;

	seq_puts(m, "Num       RefCount Protocol Flags    Type St Inode Path\n");
	mutex_lock(&unix_mutex);
	list_for_each_entry(u, &unix_all, all) {
		seq_printf(m, "%016x: %08X %08X %08X %04X %02X %5llu", 0, atomic_read(&u->sk.refs), 0,
			   u->listening ? 0x10000 : 0, u->sk.type, u->connected ? 3 : 1,
			   (unsigned long long)sock_ino(&u->sk));
		if (u->addr)
			show_name(m, u->addr);
		seq_putc(m, '\n');
	}
	mutex_unlock(&unix_mutex);
	return 0;
}

static const struct text_file net_unix_entry = {.path = "net/unix", .mode = 0444, .show = net_unix_show};
REGISTER_PROC(net_unix_entry);
