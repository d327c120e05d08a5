/*
 * Read by the assembler before what gcc -pg made of an instrumented file: drops an instruction from every site.
 *
 * To give _mcount the return address, gcc writes
 *
 *	hint	7		// XPACLRI: strip the authentication code from x30
 *	mov	x0, x30
 *	bl	_mcount
 *
 * The kernel signs no return addresses (no -mbranch-protection), so there is nothing to strip, and XPACLRI is a nop that
 * would be paid in every call. A macro comes before an instruction of the same name; all other hints are as ever.
 */
	.macro	hint nr
	.ifne	(\nr) - 7
	.inst	0xd503201f | (\nr) << 5		/* Arm ARM C6.2.126: HINT #imm7 */
	.endif
	.endm
