/* The test defines what the drivers use of it: the registers of one kind that are no memory. */
