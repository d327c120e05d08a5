/*
 * What both machines' non-maskable interrupts share: keeping them away from text that is being changed, and waiting
 * for those that are being served. On x86_64 these are NMIs, on aarch64 FIQs (arch/<machine>/nmi.c).
 */
#pragma once

#include <lib/types.h>

/*
 * Around each NMI, by the machine's entry; in_nmi() is true in between. False: text is being changed, so nothing may
 * run but what lies in .noinstr.text. NMIs do not nest. Not traced.
 */
bool nmi_begin(void);
void nmi_end(void);
/*
 * While kernel text is changed (arch_patch_begin and _end): NMIs do no more than count themselves. nmi_hold_off()
 * returns when no other one is being served in full. Interrupts off.
 */
void nmi_hold_off(void);
void nmi_allow(void);
/* All NMIs that are being served on any CPU at this moment have ended when it returns. Any context but an NMI. */
void nmi_synchronize(void);
