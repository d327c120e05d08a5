/* /proc/net/{dev,route,snmp,udp,raw,icmp}, in Linux's formats, and /proc/sys/net/ipv4. */
#include "inet.h"

#include <fs/libfs.h>
#include <fs/vfs.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>

atomic64_t inet_counters[NR_INET_COUNTERS];
u64 ping_group_range = 1; /* 1 to 0: nobody */
u64 local_port_range = 32768 | 60999UL << 32;

/* ---- Counters. A line of names and one of numbers for each group; what has no counter is 0 here */

struct snmp_row {
	const char *name;
	int counter;  /* NR_INET_COUNTERS: none */
	u64 constant; /* then it is this */
};
#define COUNTED(name, counter)   \
	{                        \
		name, counter, 0 \
	}
#define ALWAYS(name, value)                   \
	{                                     \
		name, NR_INET_COUNTERS, value \
	}

static const struct snmp_row ip_rows[] = {ALWAYS("Forwarding", 2),
					  ALWAYS("DefaultTTL", IP_DEFAULT_TTL),
					  COUNTED("InReceives", IP_INRECEIVES),
					  ALWAYS("InHdrErrors", 0),
					  ALWAYS("InAddrErrors", 0),
					  ALWAYS("ForwDatagrams", 0),
					  COUNTED("InUnknownProtos", IP_INUNKNOWNPROTOS),
					  ALWAYS("InDiscards", 0),
					  COUNTED("InDelivers", IP_INDELIVERS),
					  COUNTED("OutRequests", IP_OUTREQUESTS),
					  ALWAYS("OutDiscards", 0),
					  COUNTED("OutNoRoutes", IP_OUTNOROUTES),
					  ALWAYS("ReasmTimeout", 0),
					  ALWAYS("ReasmReqds", 0),
					  ALWAYS("ReasmOKs", 0),
					  ALWAYS("ReasmFails", 0),
					  ALWAYS("FragOKs", 0),
					  ALWAYS("FragFails", 0),
					  ALWAYS("FragCreates", 0),
					  {}};
static const struct snmp_row icmp_rows[] = {COUNTED("InMsgs", ICMP_INMSGS),
					    COUNTED("InErrors", ICMP_INERRORS),
					    COUNTED("InCsumErrors", ICMP_INCSUMERRORS),
					    COUNTED("InDestUnreachs", ICMP_INDESTUNREACHS),
					    COUNTED("InEchos", ICMP_INECHOS),
					    COUNTED("InEchoReps", ICMP_INECHOREPS),
					    COUNTED("OutMsgs", ICMP_OUTMSGS),
					    ALWAYS("OutErrors", 0),
					    COUNTED("OutDestUnreachs", ICMP_OUTDESTUNREACHS),
					    COUNTED("OutEchos", ICMP_OUTECHOS),
					    COUNTED("OutEchoReps", ICMP_OUTECHOREPS),
					    {}};
static const struct snmp_row udp_rows[] = {
	COUNTED("InDatagrams", UDP_INDATAGRAMS),   COUNTED("NoPorts", UDP_NOPORTS),
	COUNTED("InErrors", UDP_INERRORS),	   COUNTED("OutDatagrams", UDP_OUTDATAGRAMS),
	COUNTED("RcvbufErrors", UDP_RCVBUFERRORS), ALWAYS("SndbufErrors", 0),
	COUNTED("InCsumErrors", UDP_INCSUMERRORS), {}};

static void inet_show_rows(struct seq_file *m, const char *group, const struct snmp_row *rows)
{
	seq_printf(m, "%s:", group);
	for (const struct snmp_row *row = rows; row->name; row++)
		seq_printf(m, " %s", row->name);
	seq_printf(m, "\n%s:", group);
	for (const struct snmp_row *row = rows; row->name; row++)
		seq_printf(m, " %llu",
			   (unsigned long long)(row->counter == NR_INET_COUNTERS
							? row->constant
							: (u64)atomic64_read(&inet_counters[row->counter])));
	seq_putc(m, '\n');
}

static int snmp_show(struct seq_file *m, void *data)
{
	inet_show_rows(m, "Ip", ip_rows);
	inet_show_rows(m, "Icmp", icmp_rows);
	inet_show_rows(m, "Udp", udp_rows);
	return 0;
}

static int dev_show(struct seq_file *m, void *data)
{
	struct net_device *dev = &loopback_dev;
	unsigned long packets = atomic64_read(&dev->packets), bytes = atomic64_read(&dev->bytes);

	seq_puts(m, "Inter-|   Receive                                                |  Transmit\n"
		    " face |bytes    packets errs drop fifo frame compressed multicast|"
		    "bytes    packets errs drop fifo colls carrier compressed\n");
	seq_printf(m, "%6s: %7lu %7lu    0 %4lu    0     0          0         0 ", dev->name, bytes, packets,
		   (unsigned long)atomic64_read(&dev->dropped));
	seq_printf(m, "%8lu %7lu    0    0    0     0       0          0\n", bytes, packets);
	return 0;
}

/* The table of addresses that are not this machine's: there are none. */
static int route_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%-127s\n",
		   "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT");
	return 0;
}

/* ---- Sockets */

/* [t] Addresses of kernel memory are 0, as to users other than root on Linux. */
static void show_socket(struct seq_file *m, unsigned slot, const struct inet_sock *inet)
{
	const struct file *f = smp_load_acquire(&inet->sk.file);
	char line[160];

	snprintf(line, sizeof(line),
		 "%5u: %08X:%04X %08X:%04X %02X %08X:%08X 00:00000000 00000000 %5u        0 %llu %d %016x %d", slot,
		 inet->rcv_saddr, inet->num, inet->daddr, ntohs(inet->dport), inet->connected ? 1 : 7,
		 (unsigned)atomic_read(&inet->wmem), (unsigned)READ_ONCE(inet->rmem), f ? f->f_inode->i_uid : 0,
		 (unsigned long long)sock_ino(&inet->sk), (int)atomic_read(&inet->sk.refs), 0,
		 (int)atomic_read(&inet->drops));
	seq_printf(m, "%-127s\n", line);
}

/* A socket leaves the table before its file goes, so the file is there as long as the lock is held. */
static int sockets_show(struct seq_file *m, void *data)
{
	const struct inet_proto *proto = data;
	const struct inet_sock *inet;

	seq_printf(m, "%-127s\n",
		   "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode "
		   "ref pointer drops");
	spin_lock_bh(&inet_lock);
	for (unsigned slot = 0; slot < HASH_SIZE; slot++)
		hlist_for_each_entry(inet, &proto->table[slot], node)
			show_socket(m, slot, inet);
	spin_unlock_bh(&inet_lock);
	return 0;
}

/* ---- Two numbers */

static int range_show(struct seq_file *m, void *data)
{
	u64 range = READ_ONCE(*(u64 *)data);

	seq_printf(m, "%u\t%u\n", (u32)range, (u32)(range >> 32));
	return 0;
}

static int two_numbers(char *text, u64 *low, u64 *high)
{
	char *end, *from;

	*low = simple_strtoull(text, &end, 0);
	from = end;
	while (isspace(*end))
		end++;
	if (end == from || from == text)
		return -EINVAL;
	from = end;
	*high = simple_strtoull(from, &end, 0);
	return end == from || *end || *low > INT_MAX || *high > INT_MAX ? -EINVAL : 0;
}

/* Groups in the wrong order are none, as on Linux. */
static int groups_store(char *text, void *data)
{
	u64 low, high;
	int err = two_numbers(text, &low, &high);

	if (!err)
		WRITE_ONCE(ping_group_range, low > high ? 1 : low | high << 32);
	return err;
}

static int ports_store(char *text, void *data)
{
	u64 low, high;
	int err = two_numbers(text, &low, &high);

	if (err || low > high || !low || high > 0xffff)
		return -EINVAL;
	WRITE_ONCE(local_port_range, low | high << 32);
	return 0;
}

static const struct text_file snmp_entry = {.path = "net/snmp", .mode = 0444, .show = snmp_show};
static const struct text_file dev_entry = {.path = "net/dev", .mode = 0444, .show = dev_show};
static const struct text_file route_entry = {.path = "net/route", .mode = 0444, .show = route_show};
static const struct text_file udp_entry = {
	.path = "net/udp", .mode = 0444, .show = sockets_show, .data = (void *)&udp_proto};
static const struct text_file raw_entry = {
	.path = "net/raw", .mode = 0444, .show = sockets_show, .data = (void *)&raw_proto};
static const struct text_file icmp_entry = {
	.path = "net/icmp", .mode = 0444, .show = sockets_show, .data = (void *)&ping_proto};
static const struct text_file groups_entry = {.path = "sys/net/ipv4/ping_group_range",
					      .mode = 0644,
					      .show = range_show,
					      .store = groups_store,
					      .data = &ping_group_range};
static const struct text_file ports_entry = {.path = "sys/net/ipv4/ip_local_port_range",
					     .mode = 0644,
					     .show = range_show,
					     .store = ports_store,
					     .data = &local_port_range};
REGISTER_PROC(snmp_entry);
REGISTER_PROC(dev_entry);
REGISTER_PROC(route_entry);
REGISTER_PROC(udp_entry);
REGISTER_PROC(raw_entry);
REGISTER_PROC(icmp_entry);
REGISTER_PROC(groups_entry);
REGISTER_PROC(ports_entry);
