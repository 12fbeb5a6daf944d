/*
 * Settings of glibc's allocator, made before the program begins.
 *
 * By default, glibc raises the size from which it maps memory of its own to the size of the largest block freed so far, up
 * to 32 MiB, and makes up to eight arenas for each core. After a few large results, a hub keeps several times the memory that it
 * uses. Setting the size keeps it constant, so that each large block returns to the system when it is freed.
 */
#include <malloc.h>

enum { MAPPED_FROM = 256 * 1024, ARENAS = 4 };

__attribute__((constructor)) static void satchel_allocator(void) {
    mallopt(M_MMAP_THRESHOLD, MAPPED_FROM);
    mallopt(M_ARENA_MAX, ARENAS);
}
