/* Registers of the 16550 UART (National Semiconductor PC16550D, section 8). Numbers of registers, not
 * offsets. */
#pragma once

#define UART_RBR 0 /* read: received character */
#define UART_THR 0 /* write: character to send */
#define UART_IER 1 /* interrupt enable */
#define UART_IIR 2 /* read: which interrupt; reading it ends the transmitter's */
#define UART_FCR 2 /* write: FIFO control */
#define UART_LCR 3 /* line control */
#define UART_MCR 4 /* modem control */
#define UART_LSR 5 /* line status; reading it clears OE and BI */
#define UART_DLL 0 /* with LCR_DLAB: divisor, low byte, */
#define UART_DLM 1 /* and high byte */
#define UART_SCR 7 /* scratch: keeps what is written */

#define IER_RDI	 (1 << 0) /* received data, by level or by time */
#define IER_THRI (1 << 1) /* transmitter holding register (or FIFO) empty */

#define IIR_NONE  (1 << 0) /* no interrupt pending */
#define IIR_ID	  (7 << 1) /* which; input comes before the transmitter */
#define IIR_THRI  (1 << 1)
#define IIR_FIFOS (3 << 6) /* both set: FIFOs are there and on */

#define FCR_ENABLE   (1 << 0)
#define FCR_CLEAR_RX (1 << 1)
#define FCR_CLEAR_TX (1 << 2)
#define FCR_RX_8     (2 << 6) /* receive interrupt at 8 of 16, or when less has waited for four character times */

#define LCR_8N1	 3
#define LCR_DLAB (1 << 7)

#define MCR_DTR	 (1 << 0)
#define MCR_RTS	 (1 << 1)
#define MCR_OUT2 (1 << 3) /* on a PC: the interrupt line is connected */
#define MCR_LOOP (1 << 4) /* what is sent is received, and nothing from the line */

#define LSR_DR	 (1 << 0) /* a character waits */
#define LSR_OE	 (1 << 1) /* overrun: characters were lost */
#define LSR_BI	 (1 << 4) /* break */
#define LSR_THRE (1 << 5) /* all that was given to send has at least begun to leave: room for a FIFO full */

#define NS16550_FIFO  16
#define NS16550_CLOCK 1843200 /* Hz on a PC: 115200 baud with divisor 1 */
