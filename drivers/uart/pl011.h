/* Registers of the PL011 UART (Arm DDI 0183G, chapter 3). */
#pragma once

#define UARTDR	 0x00 /* data; on reading, errors in 11:8 */
#define UARTFR	 0x18 /* flags */
#define UARTIBRD 0x24 /* baud rate divisor: integer part, */
#define UARTFBRD 0x28 /* and 64ths */
#define UARTLCR	 0x2c /* line control; writing it makes the divisors effective */
#define UARTCR	 0x30
#define UARTIFLS 0x34 /* interrupt FIFO levels */
#define UARTIMSC 0x38 /* interrupt mask: 1 lets it through */
#define UARTMIS	 0x40 /* masked interrupt status */
#define UARTICR	 0x44 /* interrupt clear */

#define DR_OE (1 << 11) /* overrun: characters before this one were lost */
#define DR_BE (1 << 10) /* break */

#define FR_BUSY (1 << 3)
#define FR_RXFE (1 << 4)
#define FR_TXFF (1 << 5)

#define LCR_FEN	  (1 << 4) /* FIFOs on */
#define LCR_WLEN8 (3 << 5)

#define CR_UARTEN (1 << 0)
#define CR_TXE	  (1 << 8)
#define CR_RXE	  (1 << 9)

#define IFLS_TX_1_8 (0 << 0) /* transmit interrupt when an eighth is left */
#define IFLS_RX_1_2 (2 << 3) /* receive interrupt when half full */

#define INT_RX	(1 << 4)
#define INT_TX	(1 << 5)
#define INT_RT	(1 << 6) /* characters wait and none has come for 32 bit times */
#define INT_ALL 0x7ff
