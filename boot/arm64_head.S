/*
 * From the boot loader to C on aarch64: Image header, down to EL1, page tables, MMU on. Also where other CPUs start.
 *
 * Boot protocol (Documentation/arch/arm64/booting of Linux, which loaders implement): the image lies at a multiple
 * of 2 MiB plus text_offset, x0 = physical address of the FDT, MMU off, EL2 or EL1, interrupts masked.
 *
 * Registers that live through the boot CPU's way:
 *
 *     x19  counter at entry            x21  physical address of the FDT
 *     x20  exception level at entry    x22  SCTLR_EL1 with the MMU on
 *     x23  image: virtual minus physical address
 *
 * Memory after the tables are made (all of it from the image; nothing is writable and executable):
 *
 *     TTBR0  idmap_pg_dir    the 2 MiB block with .idmap.text, at its physical address, r-x; gone once C runs
 *     TTBR1  swapper_pg_dir  the image at KIMAGE_VADDR in 4 KiB pages: text r-x, rodata r--, the rest rw-,
 *                            guard pages below the boot and interrupt stacks left out
 */
#include <asm/assembler.h>
#include <asm/pgtable_bits.h>
#include <asm/sysreg.h>
#include <generated/asm-offsets.h>

#define TABLE_ENTRIES	512
#define KIMAGE_L3_TABLES (KIMAGE_MAX_SIZE >> PMD_SHIFT)

	.section .head.text, "ax"
/* The 64-byte header of an arm64 Image. */
	b	primary_entry			/* code0 */
	.long	0				/* code1 */
	.quad	0				/* text_offset: the image wants a multiple of 2 MiB itself */
	.quad	_end - KIMAGE_VADDR		/* image_size, bss included: the loader keeps this free */
	.quad	0xa				/* flags: little endian, 4 KiB pages, anywhere in memory */
	.quad	0, 0, 0
	.ascii	"ARM\x64"
	.long	0

/*
 * The boot CPU. x0 = FDT; at physical addresses, without a stack: nothing may be pushed, and a function called from
 * here keeps its return address in a register. Order: down to EL1 first, since all that follows sets registers of EL1;
 * tables before cpu_setup, since that one only prepares the registers that use them.
 */
FUNC primary_entry
	mrs	x19, cntvct_el0			/* before anything else: boot time counts from here */
	mov	x21, x0				/* x0 to x9 are free for what is called */
	bl	init_kernel_el
	mov	x20, x0				/* what level we came from, for the message at boot */
	bl	create_page_tables
	bl	cpu_setup
	mov	x22, x0
	adr_l	x0, idmap_pg_dir
	adr_l	x1, swapper_pg_dir
	adrp	x23, _text			/* page aligned: adrp alone is exact */
	ldr	x2, =_text			/* absolute: the link address */
	sub	x23, x2, x23
	mov	x2, x22				/* SCTLR_EL1, which lives on in x22 */
	ldr	x3, =primary_switched		/* where C's world begins, at its link address */
	b	enable_mmu
FUNC_END primary_entry

/*
 * Another CPU, started by PSCI CPU_ON: x0 = link address of its struct secondary_data, which cannot be read before the
 * MMU is on. The tables are the boot CPU's, so they are right and clean to the point of coherency already.
 */
FUNC secondary_entry
	mov	x21, x0
	bl	init_kernel_el
	bl	cpu_setup
	mov	x2, x0				/* SCTLR_EL1 */
	adr_l	x0, idmap_pg_dir
	adr_l	x1, swapper_pg_dir
	ldr	x3, =secondary_switched
	b	enable_mmu
FUNC_END secondary_entry

/*
 * u64 init_kernel_el(void): continue at EL1h with everything masked; returns the level (CurrentEL format) we came from.
 * The MMU of EL1 is off afterwards in both cases. Spoils x1-x3. Also does not trust SCTLR_EL1's reset value.
 *
 * ERET is the only way down, and serves at EL1 as well: it sets PSTATE as a whole, so SP_EL1 is selected and all is
 * masked whatever the loader left.
 */
FUNC init_kernel_el
	mrs	x0, CurrentEL
	ldr	x1, =INIT_SCTLR_EL1_MMU_OFF
	msr	sctlr_el1, x1
	isb
	cmp	x0, #(2 << 2)			/* CurrentEL has the level in bits 3:2 */
	b.eq	1f
	mov	x1, #(PSR_D_BIT | PSR_A_BIT | PSR_I_BIT | PSR_F_BIT | PSR_MODE_EL1h)
	msr	spsr_el1, x1
	msr	elr_el1, x30			/* back to the caller, by ERET in place of RET */
	eret
1:
	/* EL2: hand all that there is to EL1, trap nothing. */
	mov	x1, #HCR_RW			/* D19.2.48: EL1 runs AArch64 */
	msr	hcr_el2, x1
	isb					/* before the registers of EL1 are set up for that width */
	msr	vttbr_el2, xzr			/* VMID 0: EL1's TLB entries are tagged with it */
	msr	hstr_el2, xzr			/* no trap of what EL1 does with coprocessor registers */
	mov	x1, #0x33ff			/* CPTR_EL2: RES1 bits; FP, SIMD not trapped */
	msr	cptr_el2, x1
	mrs	x1, mdcr_el2			/* keep HPMN, the number of event counters; no debug traps */
	and	x1, x1, #0x1f
	msr	mdcr_el2, x1
	mrs	x1, midr_el1			/* what EL1 reads as its own identity */
	msr	vpidr_el2, x1
	mrs	x1, mpidr_el1
	msr	vmpidr_el2, x1
	mrs	x1, cnthctl_el2			/* D19.8.12: physical counter and timer open to EL1 */
	orr	x1, x1, #3
	msr	cnthctl_el2, x1
	msr	cntvoff_el2, xzr		/* virtual time is physical time */

	/* The interrupt controller's system registers, if it has them: EL1 may use them only if EL2 says so. */
	mrs	x1, id_aa64pfr0_el1		/* GIC, bits 27:24: are there system registers for it? */
	ubfx	x1, x1, #24, #4
	cbz	x1, 2f
	mrs	x1, S3_4_C12_C9_5		/* ICC_SRE_EL2 */
	orr	x1, x1, #1			/* SRE: use them at EL2 */
	orr	x1, x1, #8			/* Enable: EL1 may turn them on for itself */
	msr	S3_4_C12_C9_5, x1
	isb
	mrs	x1, S3_4_C12_C9_5		/* reads 0 where the interrupt controller does not do it (GICv2) */
	tbz	x1, #0, 2f
	msr	S3_4_C12_C11_0, xzr		/* ICH_HCR_EL2: no virtual interrupts */
2:
	/* As at EL1 above: masked, SP_EL1, and on at the caller. */
	mov	x1, #(PSR_D_BIT | PSR_A_BIT | PSR_I_BIT | PSR_F_BIT | PSR_MODE_EL1h)
	msr	spsr_el2, x1
	msr	elr_el2, x30
	eret
FUNC_END init_kernel_el

/*
 * void create_page_tables(void): MMU off, so by physical addresses, and around the caches: what a cache may hold of the
 * tables is stale and is invalidated, before (it must not be written back over them) and after (nor hit).
 * Spoils x0-x9.
 */
FUNC create_page_tables
	mov	x9, x30				/* kept here: the last call below is a tail call */
	adr_l	x0, early_tables
	adr_l	x1, early_tables_end
	bl	inval_dcache_range

	/* With the MMU off these stores go to memory itself, past the caches. */
	adr_l	x0, early_tables
	adr_l	x1, early_tables_end
1:	stp	xzr, xzr, [x0], #16
	cmp	x0, x1
	b.lo	1b

	/* Identity map: level 1 -> level 2 -> one block, read-only and executable at EL1. */
	adr_l	x0, idmap_pg_dir
	adr_l	x1, idmap_pmd
	adr_l	x2, __idmap_text_start
	orr	x3, x1, #PTE_TABLE
	ubfx	x4, x2, #PUD_SHIFT, #9		/* which entry of level 1: bits 38:30 of the address */
	str	x3, [x0, x4, lsl #3]
	ubfx	x4, x2, #PMD_SHIFT, #9		/* of level 2: bits 29:21 */
	and	x2, x2, #~((1 << PMD_SHIFT) - 1) /* a block's own address ends in 21 zeroes */
	ldr	x3, =(PROT_KERNEL_ROX & ~PTE_PAGE) | PTE_BLOCK /* a block differs from a page in one bit of its type */
	orr	x3, x3, x2
	str	x3, [x1, x4, lsl #3]

	/* The image: level 1 -> level 2 -> an array of level-3 tables that its pages index without gaps. */
	adr_l	x0, swapper_pg_dir
	adr_l	x1, kimage_pmd
	orr	x3, x1, #PTE_TABLE
	mov	x4, #((KIMAGE_VADDR >> PUD_SHIFT) & (TABLE_ENTRIES - 1))
	str	x3, [x0, x4, lsl #3]
	mov	x4, #((KIMAGE_VADDR >> PMD_SHIFT) & (TABLE_ENTRIES - 1))
	add	x1, x1, x4, lsl #3		/* the first slot that the image uses */
	adr_l	x2, kimage_pte
	orr	x3, x2, #PTE_TABLE
	mov	x4, #KIMAGE_L3_TABLES
2:	str	x3, [x1], #8			/* tables that lie side by side: one page further each */
	add	x3, x3, #PAGE_SIZE
	subs	x4, x4, #1
	b.ne	2b

	/* Three stretches, one after the other: each map_pages goes on where the last one stopped, in x0 and x2. */
	adrp	x0, _text			/* x0: page being mapped, x2: its slot */
	adrp	x1, __start_rodata
	ldr	x3, =PROT_KERNEL_ROX
	bl	map_pages
	adrp	x1, __end_rodata
	ldr	x3, =PROT_KERNEL_RO
	bl	map_pages
	adrp	x1, _end
	ldr	x3, =PROT_KERNEL
	bl	map_pages

	/* Pages that nothing may touch: below the boot CPU's stacks. */
	adr_l	x2, kimage_pte			/* map_pages has moved x2 to its end */
	adrp	x0, _text
	adrp	x1, init_stack_guard
	sub	x1, x1, x0
	lsr	x1, x1, #PAGE_SHIFT		/* number of the page within the image: its slot */
	str	xzr, [x2, x1, lsl #3]
	adrp	x1, boot_irq_stack_guard
	sub	x1, x1, x0
	lsr	x1, x1, #PAGE_SHIFT
	str	xzr, [x2, x1, lsl #3]

	dmb	sy				/* the stores above before the invalidation below */
	adr_l	x0, early_tables
	adr_l	x1, early_tables_end
	mov	x30, x9
	/* falls through */
/*
 * void inval_dcache_range(x0 start, x1 end): to the point of coherency. Spoils x0, x2, x3. Both ends are at page
 * boundaries, so no line is shared with anything else, whose dirty bytes would be lost.
 */
inval_dcache_range:
	mrs	x2, ctr_el0			/* DminLine: log2 of words in the smallest line */
	ubfx	x2, x2, #16, #4
	mov	x3, #4
	lsl	x2, x3, x2			/* bytes in a line: 4 << DminLine */
3:	dc	ivac, x0
	add	x0, x0, x2
	cmp	x0, x1
	b.lo	3b
	dsb	sy				/* complete before the MMU's walker may look */
	ret
FUNC_END create_page_tables

/*
 * Level-3 entries for pages x0 up to x1 (not included) with bits x3, from slot x2; x0 and x2 move on. Spoils x4. An
 * empty stretch writes nothing.
 */
map_pages:
	cmp	x0, x1
	b.hs	2f
1:	orr	x4, x0, x3
	str	x4, [x2], #8
	add	x0, x0, #PAGE_SIZE
	cmp	x0, x1
	b.lo	1b
2:	ret

/*
 * u64 cpu_setup(void): translation regime and what EL0 may do, on each CPU, MMU off. Returns SCTLR_EL1 for enable_mmu.
 * Spoils x1-x3. All CPUs must agree on TCR_EL1 and MAIR_EL1: they share the tables.
 */
FUNC cpu_setup
	tlbi	vmalle1				/* this CPU's TLB holds nothing of ours yet, whatever is in it */
	dsb	nsh				/* this CPU's TLB alone: no wait for others */
	mov	x1, #CPACR_FPEN_EL1		/* FP registers: ours; user mode traps until it asks */
	msr	cpacr_el1, x1
	msr	mdscr_el1, xzr			/* no self-hosted debug */
	mov	x1, #CNTKCTL_EL0VCTEN		/* EL0 may read the virtual counter: clocks without a call */
	msr	cntkctl_el1, x1
	msr	tpidr_el0, xzr			/* the program's thread pointer, no secret of a loader in it */
	msr	tpidrro_el0, xzr		/* entry.S leaves it 0 whenever EL0 runs */
	ldr	x1, =MAIR_EL1_SET		/* what the attribute numbers in table entries mean */
	msr	mair_el1, x1
	/* Sizes of both halves; table walks go through the caches; pages of 4 KiB. */
	ldr	x1, =(TCR_T0SZ | TCR_T1SZ | TCR_IRGN_WB | TCR_ORGN_WB | TCR_SH_INNER | TCR_TG0_4K | TCR_TG1_4K)
	mrs	x2, id_aa64mmfr0_el1
	and	x3, x2, #0xf			/* PARange: how many physical address bits */
	cmp	x3, #5				/* 48: more needs another format of entries */
	mov	x0, #5
	csel	x3, x0, x3, hi			/* the smaller of the two */
	orr	x1, x1, x3, lsl #TCR_IPS_SHIFT
	ubfx	x3, x2, #4, #4			/* ASIDBits: 0 is 8, 2 is 16 */
	lsr	x3, x3, #1
	orr	x1, x1, x3, lsl #TCR_AS_SHIFT
	msr	tcr_el1, x1
	isb
	ldr	x0, =INIT_SCTLR_EL1_MMU_ON
	ret
FUNC_END cpu_setup

	.section .idmap.text, "ax"
/*
 * enable_mmu(x0 TTBR0, x1 TTBR1, x2 SCTLR, x3 link address to go on at): runs at its physical address, twice mapped.
 * The instruction behind the one that turns the MMU on is fetched through TTBR0's identity map; the branch leaves it.
 */
FUNC enable_mmu
	msr	ttbr0_el1, x0
	msr	ttbr1_el1, x1
	isb					/* the tables are in place before they are used */
	msr	sctlr_el1, x2
	isb					/* from here on addresses are translated */
	ic	iallu				/* what was fetched with the MMU off may be cached under other rules */
	dsb	nsh
	isb
	br	x3				/* to the link address, through TTBR1 */
FUNC_END enable_mmu

	.section .entry.text, "ax"
/*
 * The boot CPU at link addresses. x19 to x23 as in the head of the file. Vectors first: from then on an exception is
 * told and not lost. `current` and a stack next: C needs both, memset the stack.
 */
FUNC primary_switched
	adr_l	x0, vectors
	msr	vbar_el1, x0
	adr_l	x0, init_task
	msr	sp_el0, x0			/* current */
	msr	tpidr_el1, xzr			/* per-CPU variables: the template itself, for now */
	adr_l	x1, init_stack + THREAD_SIZE_ASM - 16 /* the task pointer's place, as fork leaves it for others */
	mov	sp, x1
	str	x0, [sp]			/* entry from EL0 reads it there (entry.S) */
	stp	xzr, xzr, [sp, #-16]!		/* the last frame record of a walk */
	mov	x29, sp
	msr	daifclr, #9			/* debug exceptions, FIQs: nothing raises one before a driver says so */

	/* bss, but for the page tables and the stack in use and the guard pages. */
	adr_l	x0, __bss_start
	mov	w1, #0
	adr_l	x2, early_tables
	sub	x2, x2, x0
	bl	memset
	adr_l	x0, early_area_end
	mov	w1, #0
	adr_l	x2, __bss_stop
	sub	x2, x2, x0
	bl	memset

	adr_l	x0, kimage_voffset		/* link minus physical address, for the linear map */
	str	x23, [x0]
	mov	x0, x21				/* arm64_boot(fdt, counter, level) */
	mov	x1, x19
	mov	x2, x20
	bl	arm64_boot
	bl	start_kernel
	brk	#1				/* start_kernel does not return */
FUNC_END primary_switched

/*
 * Another CPU at link addresses. x21 = its struct secondary_data, filled by the CPU that starts it and free to be
 * reused once this one is online. The same order as above; there is no bss to clear.
 */
FUNC secondary_switched
	adr_l	x0, vectors
	msr	vbar_el1, x0
	ldp	x0, x1, [x21, #SECONDARY_TASK]	/* idle task, its per-CPU offset */
	msr	sp_el0, x0
	msr	tpidr_el1, x1
	ldr	x1, [x21, #SECONDARY_STACK]	/* end of its stack */
	sub	sp, x1, #16
	str	x0, [sp]			/* as in primary_switched: the task pointer, then */
	stp	xzr, xzr, [sp, #-16]!		/* the last frame record of a walk */
	mov	x29, sp
	msr	daifclr, #9
	bl	secondary_cpu_init
	bl	secondary_start_kernel
	brk	#1				/* secondary_start_kernel does not return */
FUNC_END secondary_switched

/*
 * Page tables that the image brings along, in use before bss is cleared. idmap_pg_dir stays for the CPUs that start
 * later. reserved_pg_dir is the user half for tasks without one.
 */
	.section .bss..page_aligned, "aw", %nobits
	.balign	PAGE_SIZE
	.globl	early_tables, early_tables_end
early_tables:
	.globl	swapper_pg_dir
swapper_pg_dir:		.skip PAGE_SIZE
	.globl	idmap_pg_dir
idmap_pg_dir:		.skip PAGE_SIZE
idmap_pmd:		.skip PAGE_SIZE
	.globl	reserved_pg_dir
reserved_pg_dir:	.skip PAGE_SIZE
kimage_pmd:		.skip PAGE_SIZE
kimage_pte:		.skip PAGE_SIZE * KIMAGE_L3_TABLES
early_tables_end:

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
early_area_end:
