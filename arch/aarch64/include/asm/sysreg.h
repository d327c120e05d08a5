/* System registers: access, and the fields that this kernel sets or reads. Names and bits as in the Arm ARM, D19.2. */
#pragma once

/* SCTLR_EL1, D19.2.118 */
#define SCTLR_M	     (1 << 0)  /* MMU on */
#define SCTLR_C	     (1 << 2)  /* data cacheable */
#define SCTLR_SA     (1 << 3)  /* SP alignment check at EL1 */
#define SCTLR_SA0    (1 << 4)  /* and at EL0 */
#define SCTLR_EOS    (1 << 11) /* exception exit synchronises context (RES1 before FEAT_ExS) */
#define SCTLR_I	     (1 << 12) /* instructions cacheable */
#define SCTLR_DZE    (1 << 14) /* EL0 may DC ZVA */
#define SCTLR_UCT    (1 << 15) /* EL0 may read CTR_EL0 */
#define SCTLR_NTWI   (1 << 16) /* EL0 may WFI */
#define SCTLR_NTWE   (1 << 18) /* EL0 may WFE */
#define SCTLR_TSCXT  (1 << 20) /* RES1 before FEAT_CSV2_2 */
#define SCTLR_EIS    (1 << 22) /* exception entry synchronises context (RES1 before FEAT_ExS) */
#define SCTLR_SPAN   (1 << 23) /* PSTATE.PAN is left alone on entry to EL1 (RES1 before FEAT_PAN) */
#define SCTLR_UCI    (1 << 26) /* EL0 may use cache maintenance by address */
#define SCTLR_NTLSMD (1 << 28) /* RES1 before FEAT_LSMAOC */
#define SCTLR_LSMAOE (1 << 29) /* RES1 before FEAT_LSMAOC */
/* What an MMU-off CPU must have: all RES1 bits, everything else off, little endian. */
#define INIT_SCTLR_EL1_MMU_OFF (SCTLR_EOS | SCTLR_TSCXT | SCTLR_EIS | SCTLR_SPAN | SCTLR_NTLSMD | SCTLR_LSMAOE)
/* EL0 may see the cache line size, clean and invalidate by address, zero blocks, and wait: compilers' run time does. */
#define INIT_SCTLR_EL1_MMU_ON                                                                                  \
	(INIT_SCTLR_EL1_MMU_OFF | SCTLR_M | SCTLR_C | SCTLR_SA | SCTLR_SA0 | SCTLR_I | SCTLR_DZE | SCTLR_UCT | \
	 SCTLR_NTWI | SCTLR_NTWE | SCTLR_UCI)

/* HCR_EL2, D19.2.48: EL1 is AArch64; nothing is trapped. E2H off. */
#define HCR_RW 0x80000000

/* TCR_EL1, D19.2.139 */
#define VA_BITS	      39
#define TCR_T0SZ      (64 - VA_BITS)
#define TCR_T1SZ      ((64 - VA_BITS) << 16)
#define TCR_IRGN_WB   ((1 << 8) | (1 << 24))  /* walks: inner write-back, write-allocate, both halves */
#define TCR_ORGN_WB   ((1 << 10) | (1 << 26)) /* outer likewise */
#define TCR_SH_INNER  ((3 << 12) | (3 << 28))
#define TCR_TG0_4K    (0 << 14)
#define TCR_TG1_4K    (2 << 30)
#define TCR_IPS_SHIFT 32
#define TCR_AS_SHIFT  36 /* 1: 16-bit ASIDs */

/* MAIR_EL1, D19.2.97: memory types by the AttrIndx of a page table entry. */
#define MT_NORMAL	 0 /* write-back, allocating */
#define MT_DEVICE_nGnRE	 1
#define MT_NORMAL_NC	 2
#define MT_DEVICE_nGnRnE 3
#define MAIR_EL1_SET	 0x004404ff /* a byte each: 0xff, 0x04, 0x44, 0x00 */

/* SPSR_EL1, C5.2.18 */
#define PSR_MODE_EL0t  0x0
#define PSR_MODE_EL1t  0x4
#define PSR_MODE_EL1h  0x5
#define PSR_MODE_EL2t  0x8
#define PSR_MODE_EL2h  0x9
#define PSR_MODE_MASK  0xf
#define PSR_MODE32     0x10
#define PSR_F_BIT      0x040
#define PSR_I_BIT      0x080
#define PSR_A_BIT      0x100
#define PSR_D_BIT      0x200
#define PSR_DAIF_MASK  0x3c0
#define PSR_SS_BIT     0x200000
#define PSR_BTYPE_MASK 0xc00
#define PSR_SSBS_BIT   0x1000
#define PSR_PAN_BIT    0x400000
#define PSR_UAO_BIT    0x800000
#define PSR_DIT_BIT    0x1000000
#define PSR_TCO_BIT    0x2000000
#define PSR_NZCV_MASK  0xf0000000

/* ESR_EL1, D19.2.37 */
#define ESR_EC_SHIFT	    26
#define ESR_EC(esr)	    (((esr) >> ESR_EC_SHIFT) & 0x3f)
#define ESR_EC_UNKNOWN	    0x00
#define ESR_EC_WFX	    0x01
#define ESR_EC_FP_ASIMD	    0x07
#define ESR_EC_BTI	    0x0d
#define ESR_EC_ILL	    0x0e
#define ESR_EC_SVC64	    0x15
#define ESR_EC_SYS64	    0x18
#define ESR_EC_SVE	    0x19
#define ESR_EC_IABT_LOW	    0x20
#define ESR_EC_IABT_CUR	    0x21
#define ESR_EC_PC_ALIGN	    0x22
#define ESR_EC_DABT_LOW	    0x24
#define ESR_EC_DABT_CUR	    0x25
#define ESR_EC_SP_ALIGN	    0x26
#define ESR_EC_FP_EXC64	    0x2c
#define ESR_EC_SERROR	    0x2f
#define ESR_EC_BREAKPT_LOW  0x30
#define ESR_EC_BREAKPT_CUR  0x31
#define ESR_EC_SOFTSTP_LOW  0x32
#define ESR_EC_SOFTSTP_CUR  0x33
#define ESR_EC_WATCHPT_LOW  0x34
#define ESR_EC_WATCHPT_CUR  0x35
#define ESR_EC_BRK64	    0x3c
#define ESR_ISS_MASK	    0x1ffffff
#define ESR_WNR		    (1 << 6) /* data abort: by a write */
#define ESR_CM		    (1 << 8) /* by cache maintenance, which reports WnR but only needs to read */
#define ESR_FSC_MASK	    0x3f
#define ESR_FSC_TYPE	    0x3c /* without the level */
#define ESR_FSC_ADDRSIZE    0x00
#define ESR_FSC_TRANSLATION 0x04
#define ESR_FSC_ACCESS	    0x08
#define ESR_FSC_PERMISSION  0x0c
#define ESR_FSC_ALIGNMENT   0x21
#define ESR_BRK_COMMENT	    0xffff

/* MDSCR_EL1, D19.3.20: self-hosted debug exceptions */
#define MDSCR_SS  (1 << 0)  /* software step, at the exception level that SPSR goes to */
#define MDSCR_KDE (1 << 13) /* from the kernel too, while PSTATE.D is clear */
#define MDSCR_MDE (1 << 15) /* breakpoints and watchpoints */

/* CPACR_EL1.FPEN, D19.2.31: who may use the FP and Advanced SIMD registers. */
#define CPACR_FPEN_EL1	(1 << 20) /* EL1; EL0 traps */
#define CPACR_FPEN_BOTH (3 << 20)

/* CNTKCTL_EL1, D19.8.16: EL0 reads the virtual counter, nothing else. */
#define CNTKCTL_EL0VCTEN (1 << 1)

#ifndef __ASSEMBLY__
#include <lib/types.h>

#define read_sysreg(r)                                                  \
	({                                                              \
		u64 _v;                                                 \
		__asm__ volatile("mrs %0, " __stringify(r) : "=r"(_v)); \
		_v;                                                     \
	})
#define write_sysreg(v, r)                                                               \
	do {                                                                             \
		u64 _v = (u64)(v);                                                       \
		__asm__ volatile("msr " __stringify(r) ", %x0" : : "rZ"(_v) : "memory"); \
	} while (0)
#endif
