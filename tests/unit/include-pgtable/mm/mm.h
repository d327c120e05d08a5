/* Of address spaces the page-table code needs nothing. */
#pragma once
