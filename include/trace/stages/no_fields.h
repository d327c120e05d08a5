/* Between passes: what a field means is about to change. */
#undef __field
#undef __field_ext
#undef __field_struct
#undef __array
#undef __dynamic_array
#undef __string
#undef __bitmask
#undef __cpumask
