/* The vDSO as the build has linked it (mk/kernel.mk): a file of the ELF format, byte for byte. */
	.section .rodata, "a"
	.balign	8
	.global	vdso_image, vdso_image_end
vdso_image:
	.incbin	"vdso.so"
vdso_image_end:

	.section .note.GNU-stack, "", %progbits
