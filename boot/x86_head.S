/*
 * From the boot loader to C on x86_64: multiboot2 header, PVH note, CPU check, page tables, long
 * mode.
 *
 * Two boot protocols come in at two places, both in 32-bit protected mode with flat segments,
 * paging and interrupts off:
 *
 *     multiboot2 (specification 2.0, 3.3)  x86_start  eax = MULTIBOOT2_MAGIC  ebx = address of its tags
 *     PVH (Xen, docs/misc/pvh)             pvh_start  eax = undefined         ebx = struct hvm_start_info
 *
 * The ELF header's e_entry is a link address (0xffffffff80200040), which no loader could jump to
 * with paging off. GRUB looks for the segment whose virtual addresses hold e_entry, refuses the
 * file when there is none, and then enters at the same offset in that segment's physical address. A
 * physical e_entry would be refused, as no segment has it. QEMU and Xen do not look at e_entry:
 * they take the physical address in the PVH note. Both leave bss zero, as ELF demands of a loader.
 * Nothing else is relied on: no stack, no GDT, no high halves of registers.
 *
 * Registers through the 32-bit part:
 *
 *     esp         boot stack (init_stack), by its physical address
 *     esi         what boot_fail would say
 *     all others  free: eax and ebx at entry, and the time, are kept in entry_magic, entry_info, entry_time
 *
 * Memory once paging is on (all tables are in the image; nothing is writable and executable):
 *
 *     0 .. 4 GiB       by 2 MiB pages at their physical addresses, for the loader's and firmware's structures:
 *                      rw-, but r-x the first 2 MiB of the image, which this code is in. Goes with paging_init.
 *     KIMAGE_VADDR ..  the image in 4 KiB pages: text r-x, rodata r--, the rest rw-, guard pages below the boot
 *                      and interrupt stacks left out
 */
#include <asm/assembler.h>
#include <asm/linker.h>
#include <asm/msr.h>
#include <asm/pgtable_bits.h>
#include <asm/segment.h>
#include <boot/x86_boot.h>
#include <generated/asm-offsets.h>

/* Physical address of something in the image: what all of the 32-bit code uses. */
#define PHYS(sym)	(sym - LOAD_OFFSET)
#define LOW(x)		((x) & 0xffffffff)	/* halves of a table entry: 32-bit code writes one at a time */
#define HIGH(x)		(((x) >> 32) & 0xffffffff)
/* Offset of the entry for va in a table of the level that the shift says. */
#define SLOT(va, shift)	((((va) >> (shift)) & (TABLE_ENTRIES - 1)) * 8)

#define TABLE_ENTRIES	512
#define IDENT_GIB	4			/* one level-2 table each */
#define KIMAGE_PHYS	(KIMAGE_VADDR - LOAD_OFFSET)
#define KIMAGE_L1_TABLES (KIMAGE_MAX_SIZE >> PMD_SHIFT)

#define COM1		0x3f8
#define DEBUG_EXIT	0xf4			/* QEMU's isa-debug-exit, where tools put it */
#define CPUID_LEAF_EXT	0x80000001
#define CPUID_EDX_NX	(1 << 20)
#define CPUID_EDX_LM	(1 << 29)
#define EFLAGS_ID	(1 << 21)

/* ---- Headers. The loader looks for the first in the first 32 KiB of the file, at a multiple of 8. */
#define MB2_HEADER_MAGIC 0xe85250d6
#define MB2_I386	0			/* architecture: enter in 32-bit protected mode */

	.section .head.text, "ax"
	.balign	8
multiboot2_header:
	.long	MB2_HEADER_MAGIC
	.long	MB2_I386
	.long	multiboot2_header_end - multiboot2_header
	.long	-(MB2_HEADER_MAGIC + MB2_I386 + (multiboot2_header_end - multiboot2_header))
	/* Tag 1, not optional: a loader that cannot give the memory map (6) must say so. */
	.short	1, 0
	.long	12
	.long	6
	.balign	8
	/* Tag 6: modules at page boundaries. No tag 7: EFI's boot services are to be over when we start. */
	.short	6, 0
	.long	8
	.short	0, 0				/* the end */
	.long	8
multiboot2_header_end:

/* The PVH note: name, type XEN_ELFNOTE_PHYS32_ENTRY, and where to enter. 8 bytes of it, for QEMU reads so many. */
	.pushsection .note.Xen, "a", @note
	.balign	4
	.long	4, 8, 18			/* sizes of name and value, type */
	.asciz	"Xen"
	.quad	PHYS(pvh_start)
	.popsection

/* ---- 32-bit code, at physical addresses. */
	.code32
FUNC pvh_start
	movl	$PVH_MAGIC, %eax		/* no register has it: the structure has, which is looked at below */
	/* falls through */
FUNC x86_start
	cli					/* both protocols say so already; it costs nothing */
	cld					/* for lodsb in boot_fail, and C wants it */
	movl	$PHYS(init_stack) + THREAD_SIZE_ASM, %esp /* the loaders give none */
	movl	%eax, PHYS(entry_magic)		/* CPUID will overwrite both */
	movl	%ebx, PHYS(entry_info)
	cmpl	$MULTIBOOT2_MAGIC, %eax
	je	1f
	movl	$PHYS(no_protocol), %esi
	cmpl	$PVH_MAGIC, %eax		/* else we came in by e_entry, from a loader of another kind */
	jne	boot_fail
	cmpl	%eax, (%ebx)			/* hvm_start_info.magic */
	jne	boot_fail
1:	call	check_cpu
	rdtsc					/* every CPU with long mode has it: boot time counts from here */
	movl	%eax, PHYS(entry_time)
	movl	%edx, PHYS(entry_time) + 4
	call	create_page_tables		/* in the image's own bss, which nothing else lies in */

	/* Paging (SDM vol. 3, 10.8.5): PAE, root, long mode enabled, then PG makes it active. */
	movl	$(X86_CR4_PAE | X86_CR4_PGE), %eax
	movl	%eax, %cr4
	movl	$PHYS(swapper_pg_dir), %eax
	movl	%eax, %cr3
	movl	$MSR_EFER, %ecx
	rdmsr
	orl	$(EFER_LME | EFER_NX), %eax	/* NX now: else the bit is reserved, and each use of an entry faults */
	wrmsr
	/* WP: the kernel too keeps to read-only pages. */
	movl	$(X86_CR0_PE | X86_CR0_MP | X86_CR0_ET | X86_CR0_NE | X86_CR0_WP | X86_CR0_PG), %eax
	movl	%eax, %cr0			/* compatibility mode: still 32-bit code, by the old segment */
	lgdt	PHYS(boot_gdt_pointer)
	ljmp	$__KERNEL_CS, $PHYS(long_mode)	/* and by the new one it is 64-bit code */
FUNC_END x86_start
FUNC_END pvh_start

/* void check_cpu(void): returns if the CPU can run this kernel, else does not. Spoils all registers but esp. */
check_cpu:
	movl	$PHYS(no_cpuid), %esi		/* the text, should the next jump be taken */
	pushfl					/* CPUID is there if its flag can be changed (SDM vol. 1, 20.1) */
	popl	%eax
	movl	%eax, %ecx
	xorl	$EFLAGS_ID, %eax
	pushl	%eax
	popfl
	pushfl
	popl	%eax
	xorl	%ecx, %eax			/* the bits that did change */
	testl	$EFLAGS_ID, %eax
	jz	boot_fail
	movl	$PHYS(no_long_mode), %esi
	movl	$0x80000000, %eax		/* the highest extended leaf, or something small without such leaves */
	cpuid
	cmpl	$CPUID_LEAF_EXT, %eax
	jb	boot_fail
	movl	$CPUID_LEAF_EXT, %eax
	cpuid					/* edx: features that AMD brought, long mode and NX among them */
	testl	$CPUID_EDX_LM, %edx
	jz	boot_fail
	movl	$PHYS(no_nx), %esi
	testl	$CPUID_EDX_NX, %edx
	jz	boot_fail
	ret

/*
 * void create_page_tables(void): fill the tables below, which are all zero. Spoils all registers
 * but esp.
 *
 * Long mode begins with paging, so the instruction after the one that sets CR0.PG is fetched
 * through page tables from a physical address. So the first 4 GiB are mapped there, also for what
 * loader and firmware left (ACPI tables lie right below the end of RAM), as rw- without execution,
 * but for the one 2 MiB block in which this code stands: that is r-x. The image's own mapping has
 * its final protections at the same moment, in 4 KiB pages. So at no time can text be written
 * through the address that executes it, and nothing is both writable and executable. The low map
 * also shows rodata and data at a second address; paging_init() takes it away.
 */
create_page_tables:
	/* Identity map: level 4 -> level 3 -> a level-2 table for each GiB, all of them blocks. */
	movl	$PHYS(ident_pud) + PTE_KERNEL_TABLE, PHYS(swapper_pg_dir)
	movl	$PHYS(ident_pud), %edi
	movl	$PHYS(ident_pmd) + PTE_KERNEL_TABLE, %eax
	movl	$IDENT_GIB, %ecx
1:	movl	%eax, (%edi)			/* high halves of entries for tables stay 0: the image is below 4 GiB */
	addl	$8, %edi
	addl	$PAGE_SIZE, %eax
	decl	%ecx
	jnz	1b
	/* Not global: the load of CR3 that ends it must leave nothing of it in the TLB. */
	movl	$PHYS(ident_pmd), %edi
	movl	$LOW((PROT_KERNEL & ~PTE_GLOBAL) | PTE_PSE), %eax
	movl	$(IDENT_GIB * TABLE_ENTRIES), %ecx
2:	movl	%eax, (%edi)
	movl	$HIGH(PROT_KERNEL), 4(%edi)	/* NX */
	addl	$8, %edi
	addl	$(1 << PMD_SHIFT), %eax		/* the next block; wraps after the last one */
	decl	%ecx
	jnz	2b
	/* The block that this code runs from when paging comes on. */
	movl	$PHYS(ident_pmd) + (KIMAGE_PHYS >> PMD_SHIFT) * 8, %edi
	movl	$LOW((PROT_KERNEL_ROX & ~PTE_GLOBAL) | PTE_PSE | KIMAGE_PHYS), (%edi)
	movl	$HIGH(PROT_KERNEL_ROX), 4(%edi)

	/* The image: level 4 -> level 3 -> level 2 -> an array of level-1 tables that its pages index without gaps. */
	movl	$PHYS(kimage_pud) + PTE_KERNEL_TABLE, PHYS(swapper_pg_dir) + SLOT(KIMAGE_VADDR, PGDIR_SHIFT)
	movl	$PHYS(kimage_pmd) + PTE_KERNEL_TABLE, PHYS(kimage_pud) + SLOT(KIMAGE_VADDR, PUD_SHIFT)
	movl	$PHYS(kimage_pmd) + SLOT(KIMAGE_VADDR, PMD_SHIFT), %edi /* linker.ld checks that the tables do */
	movl	$PHYS(kimage_pte) + PTE_KERNEL_TABLE, %eax
	movl	$KIMAGE_L1_TABLES, %ecx
3:	movl	%eax, (%edi)
	addl	$8, %edi
	addl	$PAGE_SIZE, %eax
	decl	%ecx
	jnz	3b

	movl	$PHYS(kimage_pte), %edi		/* edi: slot, esi: page that it maps */
	movl	$PHYS(_text), %esi
	movl	$PHYS(__start_rodata), %ecx
	movl	$LOW(PROT_KERNEL_ROX), %eax
	movl	$HIGH(PROT_KERNEL_ROX), %edx
	call	map_pages
	movl	$PHYS(__end_rodata), %ecx	/* esi has come to __start_rodata */
	movl	$LOW(PROT_KERNEL_RO), %eax
	movl	$HIGH(PROT_KERNEL_RO), %edx
	call	map_pages
	movl	$PHYS(_end), %ecx		/* and to __end_rodata, which is a page's end */
	movl	$LOW(PROT_KERNEL), %eax
	movl	$HIGH(PROT_KERNEL), %edx
	call	map_pages

	/* Pages that nothing may touch: below the boot CPU's stacks. */
	movl	$(init_stack_guard - KIMAGE_VADDR), %eax
	call	unmap_page
	movl	$(boot_irq_stack_guard - KIMAGE_VADDR), %eax
	/* falls through */

/* void unmap_page(eax offset in the image): no entry for it. Spoils eax. */
unmap_page:
	shrl	$PAGE_SHIFT, %eax
	movl	$0, PHYS(kimage_pte)(, %eax, 8)
	movl	$0, PHYS(kimage_pte) + 4(, %eax, 8)
	ret

/*
 * Level-1 entries for pages esi up to ecx (not included) with bits edx:eax, from slot edi; esi and edi move
 * on. Spoils ebx.
 */
map_pages:
	cmpl	%ecx, %esi
	jae	2f
1:	movl	%esi, %ebx
	orl	%eax, %ebx			/* address and low half of the bits */
	movl	%ebx, (%edi)
	movl	%edx, 4(%edi)			/* high half: no address bits, the image is below 4 GiB */
	addl	$8, %edi
	addl	$PAGE_SIZE, %esi
	cmpl	%ecx, %esi
	jb	1b
2:	ret

/*
 * boot_fail(esi = text): say it on the first serial port and end. Whatever is in that port's registers:
 * 115200 baud, 8 bits, no parity (16550 data sheet). A port that is not there reads all ones, so it is always
 * ready.
 */
boot_fail:
	movl	$PHYS(serial_setup), %ebx
1:	movzbl	(%ebx), %edx			/* pairs of register and value */
	addl	$COM1, %edx
	movb	1(%ebx), %al
	outb	%al, %dx
	addl	$2, %ebx
	cmpl	$PHYS(serial_setup_end), %ebx
	jb	1b
2:	lodsb					/* the text, up to its zero */
	testb	%al, %al
	jz	5f
	movb	%al, %ah
	movl	$100000, %ecx			/* no port keeps us waiting longer for one byte */
	movl	$(COM1 + 5), %edx		/* line status */
3:	inb	%dx, %al
	testb	$0x20, %al			/* room for a byte? */
	jnz	4f
	decl	%ecx
	jnz	3b
4:	movl	$COM1, %edx
	movb	%ah, %al
	outb	%al, %dx
	jmp	2b
5:	movb	$PANIC_EXIT_STATUS_ASM, %al
	outb	%al, $DEBUG_EXIT		/* ends QEMU where it has the device; else there is no such port */
6:	hlt					/* NMIs wake us up */
	jmp	6b

serial_setup:
	.byte	1, 0				/* no interrupts */
	.byte	3, 0x80				/* registers 0 and 1 are the divisor: */
	.byte	0, 1
	.byte	1, 0
	.byte	3, 3				/* no longer; 8 bits, no parity, one stop bit */
	.byte	2, 7				/* FIFOs on and empty */
	.byte	4, 3				/* DTR and RTS on */
serial_setup_end:
no_protocol:	.asciz	"Vitrine: entered by neither multiboot2 nor PVH: use GRUB's multiboot2 or QEMU's -kernel\r\n"
no_cpuid:	.asciz	"Vitrine: this CPU has no CPUID instruction: a 64-bit x86 is needed\r\n"
no_long_mode:	.asciz	"Vitrine: this CPU has no long mode: a 64-bit x86 is needed\r\n"
no_nx:		.asciz	"Vitrine: this CPU has no no-execute pages (NX), or firmware hides them\r\n"

/*
 * Enough segments for the way up; cpu_desc_init() brings the real ones. They stand in a read-only
 * page although loading a segment register writes to its descriptor: the CPU sets the accessed bit
 * only where it is clear, and here it is set (SDM vol. 3, 3.4.5.1).
 */
	.balign	8
boot_gdt:
	.quad	0
	.quad	0x00af9b000000ffff		/* __KERNEL_CS: 64-bit code */
	.quad	0x00cf93000000ffff		/* __KERNEL_DS */
boot_gdt_end:
boot_gdt_pointer:
	.short	boot_gdt_end - boot_gdt - 1
	.long	PHYS(boot_gdt), 0		/* read with 4 bytes of base here, 8 in long mode */

/* ---- 64-bit code. Still at a physical address, and off to the link address. */
	.code64
long_mode:
	movq	$primary_switched, %rax		/* absolute: a relative jump would stay down here */
	jmp	*%rax

	.section .entry.text, "ax"
/* The boot CPU, at link addresses from here on. */
FUNC primary_switched
	movl	$__KERNEL_DS, %eax		/* the loader's selectors mean nothing in our table */
	movl	%eax, %ss
	movl	%eax, %ds
	movl	%eax, %es
	xorl	%eax, %eax
	movl	%eax, %fs
	movl	%eax, %gs
	/* Per-CPU variables: the template itself, for now. current_task in it is init_task. */
	xorl	%edx, %edx
	movl	$MSR_GS_BASE, %ecx		/* loading a selector of 0 need not have done it */
	wrmsr
	movq	$init_stack + THREAD_SIZE_ASM, %rsp
	pushq	$0				/* the last frame record of a walk */
	pushq	$0
	movq	%rsp, %rbp
	pushq	$2				/* flags: all of them known (bit 1 is always set), interrupts off */
	popfq
	movl	entry_magic(%rip), %edi		/* x86_boot(u32 magic, phys_addr_t info, u64 entry_time) */
	movl	entry_info(%rip), %esi
	movq	entry_time(%rip), %rdx
	call	x86_boot
	call	start_kernel
	ud2					/* start_kernel does not return */
FUNC_END primary_switched

/*
 * Another CPU, from boot/x86_trampoline.S: paging on by the trampoline's tables, GS base right.
 * rsp = end of its idle task's stack, r12 = that task, r13 = per-CPU offset.
 */
FUNC secondary_switched
	movl	$PHYS(swapper_pg_dir), %eax	/* the trampoline's page is gone: we do not go back */
	movq	%rax, %cr3
	movq	%r12, %gs:current_task		/* in this CPU's own area, as setup_per_cpu_areas has copied it */
	movq	%r13, %gs:this_cpu_off
	pushq	$0				/* the last frame record of a walk */
	pushq	$0
	movq	%rsp, %rbp
	call	secondary_cpu_init
	call	secondary_start_kernel
	ud2					/* nor does that */
FUNC_END secondary_switched

/*
 * Page tables that the image brings along. swapper_pg_dir is the kernel's for good, and so are kimage_*; the
 * identity map's are not needed any more after paging_init.
 */
	.section .bss..page_aligned, "aw", %nobits
	.balign	PAGE_SIZE
	.globl	swapper_pg_dir, kimage_pud, kimage_pmd, kimage_pte
swapper_pg_dir:		.skip PAGE_SIZE	/* level 4 */
kimage_pud:		.skip PAGE_SIZE	/* the last 512 GiB: also the fixmap hangs off it */
kimage_pmd:		.skip PAGE_SIZE	/* the GiB that begins at -2 GiB */
kimage_pte:		.skip PAGE_SIZE * KIMAGE_L1_TABLES
ident_pud:		.skip PAGE_SIZE	/* the first 512 GiB */
ident_pmd:		.skip PAGE_SIZE * IDENT_GIB

/* The boot CPU's stacks, each above a page that stays unmapped. */
init_stack_guard:	.skip PAGE_SIZE
	.globl	init_stack
	.type	init_stack, %object
init_stack:		.skip THREAD_SIZE_ASM
	.size	init_stack, THREAD_SIZE_ASM
boot_irq_stack_guard:	.skip PAGE_SIZE
	.globl	boot_irq_stack
	.type	boot_irq_stack, %object
boot_irq_stack:		.skip THREAD_SIZE_ASM
	.size	boot_irq_stack, THREAD_SIZE_ASM

	.bss
	.balign	8
entry_time:		.quad 0			/* TSC at entry */
entry_magic:		.long 0			/* eax at entry, of PVH its magic */
entry_info:		.long 0			/* ebx at entry */
