/* Flags of every allocation. */
#pragma once

#define GFP_KERNEL 0x01u /* thread context; may sleep */
#define GFP_ATOMIC 0x02u /* any context but nmi */
#define __GFP_ZERO 0x10u
#define __GFP_NOWARN 0x20u /* the caller copes: no message on failure */
