/*
 * How the vDSO is laid out: one page that is read and executed, from the ELF header on, with all that a dynamic linker,
 * a debugger or an unwinder looks for. The kernel maps the page of data below it, at a distance that never changes, so
 * nothing has to be relocated.
 */
SECTIONS
{
	vvar = . - 4096;
	. = SIZEOF_HEADERS;

	.hash : { *(.hash) } :text
	.gnu.hash : { *(.gnu.hash) }
	.dynsym : { *(.dynsym) }
	.dynstr : { *(.dynstr) }
	.gnu.version : { *(.gnu.version) }
	.gnu.version_d : { *(.gnu.version_d) }
	.dynamic : { *(.dynamic) } :text :dynamic
	.rodata : { *(.rodata*) *(.got .got.plt) } :text
	.eh_frame_hdr : { *(.eh_frame_hdr) } :text :eh_frame_hdr
	.eh_frame : { KEEP(*(.eh_frame)) } :text
	. = ALIGN(16);
	.text : { KEEP(*sigreturn.o(.text)) *(.text*) } :text
	ASSERT(. <= 4096, "the vDSO must fit into one page")
	/DISCARD/ : { *(.data*) *(.bss*) *(.comment) *(.note*) *(.plt*) *(.rela*) }
}

PHDRS
{
	text PT_LOAD FILEHDR PHDRS FLAGS(5);
	dynamic PT_DYNAMIC FLAGS(4);
	eh_frame_hdr PT_GNU_EH_FRAME;
}

/* exec takes the address of the code that ends a signal handler from here. */
ENTRY(__kernel_rt_sigreturn)

VERSION
{
#include "versions.lds"
}
