/* Memory, uptime and load in one call. */
#ifndef VT_SYS_SYSINFO_H
#define VT_SYS_SYSINFO_H

struct sysinfo {
	long uptime;		/* seconds */
	unsigned long loads[3]; /* 1, 5 and 15 minutes, in 1/65536 */
	unsigned long totalram; /* this and what follows: in units of mem_unit bytes */
	unsigned long freeram, sharedram, bufferram, totalswap, freeswap;
	unsigned short procs, pad;
	unsigned long totalhigh, freehigh;
	unsigned int mem_unit;
};

/* Returns 0, or -1 with errno. */
int sysinfo(struct sysinfo *info);

#endif
