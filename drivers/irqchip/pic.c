/*
 * The two 8259 interrupt controllers of the first PCs: put out of the way, their inputs also go to an IOAPIC.
 */
#include <asm/io.h>
#include <asm/irq_vectors.h>

#include "apic.h"

#define PIC1_COMMAND 0x20
#define PIC1_DATA    0x21
#define PIC2_COMMAND 0xa0
#define PIC2_DATA    0xa1
#define ICW1_INIT    0x11 /* edge-triggered, cascaded, ICW4 follows */
#define ICW4_8086    0x01
#define CASCADE_PIN  2 /* of the first, where the second is connected */

/* The second one works slowly on old boards: a write to an unused port gives it a microsecond. */
static void pic_out(u8 v, u16 port)
{
	outb(v, port);
	outb(0, 0x80);
}

/*
 * Firmware left them at vectors 8 to 15 and 0x70 to 0x77, where exceptions are. Masking does not stop the
 * spurious interrupt that an input raises by going away during the acknowledge, and that must not look like
 * one.
 */
void pic_disable(void)
{
	pic_out(0xff, PIC1_DATA);
	pic_out(0xff, PIC2_DATA);
	pic_out(ICW1_INIT, PIC1_COMMAND);
	pic_out(ICW1_INIT, PIC2_COMMAND);
	pic_out(LEGACY_VECTOR, PIC1_DATA); /* ICW2: first vector */
	pic_out(LEGACY_VECTOR + 8, PIC2_DATA);
	pic_out(1 << CASCADE_PIN, PIC1_DATA); /* ICW3: inputs with another behind, or where it is connected */
	pic_out(CASCADE_PIN, PIC2_DATA);
	pic_out(ICW4_8086, PIC1_DATA);
	pic_out(ICW4_8086, PIC2_DATA);
	pic_out(0xff, PIC1_DATA); /* the initialisation unmasked them */
	pic_out(0xff, PIC2_DATA);
}
