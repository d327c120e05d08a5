/* What ioctl(2) of a socket tells about devices: netdevice(7). lo can be switched on and off; its address stays. */
#include "inet.h"

#include <asm/uaccess.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/current.h>

#define ARPHRD_LOOPBACK 772
#define TX_QUEUE_LEN	1000

static struct net_device *const devices[] = {&loopback_dev};

static struct net_device *find_device(const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(devices); i++)
		if (!strncmp(devices[i]->name, name, IFNAMSIZ))
			return devices[i];
	return NULL;
}

static long dev_name_of_index(struct ifreq *ifr)
{
	for (unsigned i = 0; i < ARRAY_SIZE(devices); i++) {
		if (devices[i]->ifindex == ifr->ifr_ifindex) {
			memcpy(ifr->ifr_name, devices[i]->name, IFNAMSIZ);
			return 0;
		}
	}
	return -ENODEV;
}

/* Addresses of all devices, as many as there is room for; without a buffer the room that they need. */
static long dev_list(unsigned long arg)
{
	struct ifreq ifr = {};
	struct ifconf conf;
	int done = 0;

	if (copy_from_user(&conf, (void __user *)arg, sizeof(conf)))
		return -EFAULT;
	for (unsigned i = 0; i < ARRAY_SIZE(devices); i++, done += sizeof(ifr)) {
		if (!conf.ifc_req)
			continue;
		if (conf.ifc_len - done < (int)sizeof(ifr))
			break;
		memcpy(ifr.ifr_name, devices[i]->name, IFNAMSIZ);
		ifr.ifr_addr = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = devices[i]->addr};
		if (copy_to_user((char __user *)conf.ifc_req + done, &ifr, sizeof(ifr)))
			return -EFAULT;
	}
	return put_user(done, (int __user *)arg);
}

static long dev_set_flags(struct net_device *dev, unsigned flags)
{
	if (current->euid)
		return -EPERM;
	if (flags & IFF_UP)
		__atomic_fetch_or(&dev->flags, IFF_UP | IFF_RUNNING, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&dev->flags, ~(unsigned)(IFF_UP | IFF_RUNNING), __ATOMIC_RELAXED);
	return 0;
}

static long ifreq_put_addr(struct ifreq *ifr, u32 addr)
{
	ifr->ifr_addr = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = addr};
	return 0;
}

/*
 * What one device has to say. lo has no metric, no hardware address and no memory of its own, and says 0. -ENOTTY: it
 * is no such question, which is_known() relies on.
 */
static long dev_question(struct net_device *dev, unsigned cmd, struct ifreq *ifr)
{
	switch (cmd) {
	case SIOCGIFFLAGS:
		ifr->ifr_flags = READ_ONCE(dev->flags);
		return 0;
	case SIOCGIFADDR:
	case SIOCGIFDSTADDR:
		return ifreq_put_addr(ifr, dev->addr);
	case SIOCGIFBRDADDR:
		return ifreq_put_addr(ifr, 0);
	case SIOCGIFNETMASK:
		return ifreq_put_addr(ifr, dev->netmask);
	case SIOCGIFMETRIC:
		ifr->ifr_metric = 0;
		return 0;
	case SIOCGIFMTU:
		ifr->ifr_mtu = dev->mtu;
		return 0;
	case SIOCGIFHWADDR:
		ifr->ifr_addr = (struct sockaddr_in){.sin_family = ARPHRD_LOOPBACK};
		return 0;
	case SIOCGIFINDEX:
		ifr->ifr_ifindex = dev->ifindex;
		return 0;
	case SIOCGIFTXQLEN:
		ifr->ifr_qlen = TX_QUEUE_LEN;
		return 0;
	case SIOCGIFMAP:
		memset(ifr->ifr_map, 0, sizeof(ifr->ifr_map));
		return 0;
	}
	return -ENOTTY;
}

static bool is_known(unsigned cmd)
{
	struct ifreq ifr;

	return cmd == SIOCGIFNAME || cmd == SIOCSIFFLAGS || !dev_question(&loopback_dev, cmd, &ifr);
}

/*
 * The number is looked at before the memory, so that an unknown one is -ENOTTY whatever the program passes beside it.
 * Programs ask by name; only SIOCGIFNAME asks by index.
 */
long dev_ioctl(unsigned cmd, unsigned long arg)
{
	struct net_device *dev;
	struct ifreq ifr;
	long err;

	if (cmd == SIOCGIFCONF)
		return dev_list(arg);
	if (!is_known(cmd))
		return -ENOTTY;
	if (copy_from_user(&ifr, (void __user *)arg, sizeof(ifr)))
		return -EFAULT;
	ifr.ifr_name[IFNAMSIZ - 1] = '\0';
	dev = cmd == SIOCGIFNAME ? NULL : find_device(ifr.ifr_name);
	if (cmd == SIOCGIFNAME)
		err = dev_name_of_index(&ifr);
	else if (!dev)
		err = -ENODEV;
	else
		err = cmd == SIOCSIFFLAGS ? dev_set_flags(dev, ifr.ifr_flags) : dev_question(dev, cmd, &ifr);
	if (!err && copy_to_user((void __user *)arg, &ifr, sizeof(ifr)))
		err = -EFAULT;
	return err;
}
