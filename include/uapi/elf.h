/*
 * ELF64 as far as execve and the loader of modules read it, and the auxiliary vector (System V gABI; Linux's AT_
 * numbers).
 */
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
#define ET_REL	    1
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
/* Sections, symbols and relocations of relocatable files (gABI, chapter 4). */
struct elf64_shdr {
	__u32 sh_name, sh_type;
	__u64 sh_flags, sh_addr, sh_offset, sh_size;
	__u32 sh_link, sh_info;
	__u64 sh_addralign, sh_entsize;
};
#define SHT_NULL      0
#define SHT_PROGBITS  1
#define SHT_SYMTAB    2
#define SHT_STRTAB    3
#define SHT_RELA      4
#define SHT_NOBITS    8
#define SHT_REL	      9
#define SHF_WRITE     1
#define SHF_ALLOC     2
#define SHF_EXECINSTR 4
struct elf64_sym {
	__u32 st_name;
	__u8 st_info, st_other;
	__u16 st_shndx;
	__u64 st_value, st_size;
};
#define SHN_UNDEF     0
#define SHN_LORESERVE 0xff00
#define SHN_ABS	      0xfff1
#define STB_LOCAL     0
#define STB_GLOBAL    1
#define STB_WEAK      2
#define STT_OBJECT    1
#define STT_FUNC      2
#define STT_SECTION   3
#define STT_FILE      4
struct elf64_rela {
	__u64 r_offset, r_info;
	__s64 r_addend;
};
/* The parts of r_info and st_info. */
#define ELF64_R_SYM(info)   ((__u32)((info) >> 32))
#define ELF64_R_TYPE(info)  ((__u32)(info))
#define ELF64_ST_BIND(info) ((info) >> 4)
#define ELF64_ST_TYPE(info) ((info)&15)

#define PT_LOAD	     1
#define PT_INTERP    3
#define PT_PHDR	     6
#define PT_GNU_STACK 0x6474e551
#define PF_X	     1
#define PF_W	     2
#define PF_R	     4

#define AT_NULL		     0
#define AT_PHDR		     3
#define AT_PHENT	     4
#define AT_PHNUM	     5
#define AT_PAGESZ	     6
#define AT_BASE		     7
#define AT_FLAGS	     8
#define AT_ENTRY	     9
#define AT_UID		     11
#define AT_EUID		     12
#define AT_GID		     13
#define AT_EGID		     14
#define AT_PLATFORM	     15
#define AT_HWCAP	     16
#define AT_CLKTCK	     17
#define AT_SECURE	     23
#define AT_RANDOM	     25
#define AT_HWCAP2	     26
#define AT_RSEQ_FEATURE_SIZE 27
#define AT_RSEQ_ALIGN	     28
#define AT_EXECFN	     31
#define AT_SYSINFO_EHDR	     33
#define AT_MINSIGSTKSZ	     51
