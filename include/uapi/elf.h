/* ELF64 as far as execve reads it, and the auxiliary vector (System V gABI; Linux's AT_ numbers). */
#pragma once

#include <uapi/types.h>

#define EI_NIDENT   16
#define ELFMAG	    "\177ELF"
#define SELFMAG	    4
#define EI_CLASS    4
#define EI_DATA	    5
#define EI_VERSION  6
#define ELFCLASS64  2
#define ELFDATA2LSB 1
#define EV_CURRENT  1
#define ET_EXEC	    2
#define ET_DYN	    3

struct elf64_hdr {
	__u8 e_ident[EI_NIDENT];
	__u16 e_type, e_machine;
	__u32 e_version;
	__u64 e_entry, e_phoff, e_shoff;
	__u32 e_flags;
	__u16 e_ehsize, e_phentsize, e_phnum, e_shentsize, e_shnum, e_shstrndx;
};
struct elf64_phdr {
	__u32 p_type, p_flags;
	__u64 p_offset, p_vaddr, p_paddr, p_filesz, p_memsz, p_align;
};
#define PT_LOAD	     1
#define PT_INTERP    3
#define PT_PHDR	     6
#define PT_GNU_STACK 0x6474e551
#define PF_X	     1
#define PF_W	     2
#define PF_R	     4

#define AT_NULL	    0
#define AT_PHDR	    3
#define AT_PHENT    4
#define AT_PHNUM    5
#define AT_PAGESZ   6
#define AT_BASE	    7
#define AT_FLAGS    8
#define AT_ENTRY    9
#define AT_UID	    11
#define AT_EUID	    12
#define AT_GID	    13
#define AT_EGID	    14
#define AT_PLATFORM 15
#define AT_HWCAP    16
#define AT_CLKTCK   17
#define AT_SECURE   23
#define AT_RANDOM   25
#define AT_EXECFN   31
