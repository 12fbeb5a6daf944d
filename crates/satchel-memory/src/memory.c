/*
 * Settings of glibc's allocator, made before the program begins; and a function that gives back the memory that an idle
 * process holds but does not use.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * By default, glibc raises the size from which it maps memory of its own to the size of the largest block freed so far, up
 * to 32 MiB, and makes up to eight arenas for each core. After a few large results, a hub keeps several times the memory that it
 * uses. Setting the size keeps it constant, so that each large block returns to the system when it is freed.
 */
enum { MAPPED_FROM = 256 * 1024, ARENAS = 4 };

__attribute__((constructor)) static void satchel_allocator(void) {
    mallopt(M_MMAP_THRESHOLD, MAPPED_FROM);
    mallopt(M_ARENA_MAX, ARENAS);
}

#ifdef __x86_64__
/*
 * Smaller blocks of Rust code are jemalloc's (two_allocators.rs): as many arenas as above, and what was freed returns to the
 * system a second later. jemalloc looks at the clock only while something allocates, so an idle process needs
 * satchel_give_back.
 */
const char *_rjem_malloc_conf = "narenas:4,dirty_decay_ms:1000,muzzy_decay_ms:0";

int _rjem_mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size);

/* Of all arenas (MALLCTL_ARENAS_ALL). */
static void purge(void) {
    _rjem_mallctl("arena.4096.purge", NULL, NULL, NULL, 0);
}
#else
static void purge(void) {}
#endif

/* Entries of /proc/self/pagemap read at once, and two of their bits (Documentation/admin-guide/mm/pagemap.rst). */
enum { ENTRIES = 512, FROM_FILE = 61, PRESENT = 63 };

struct unmapping {
    int pagemap;
    uintptr_t page;
    size_t pages;
};

/* A page that something wrote to (a debugger's breakpoint, a driver that patches itself) no longer comes from the file. */
static int is_clean(uint64_t entry) {
    return (entry >> PRESENT & 1) && (entry >> FROM_FILE & 1);
}

/* Unmaps the clean pages among those that `entries` describe, one run of them after the other. */
static void unmap_clean(struct unmapping *job, const uint64_t *entries, size_t many, uintptr_t from) {
    size_t at = 0;
    while (at < many) {
        size_t first = at;
        while (at < many && is_clean(entries[at])) {
            at++;
        }
        if (at == first) {
            at++;
        } else if (madvise((void *)(from + first * job->page), (at - first) * job->page, MADV_DONTNEED) == 0) {
            job->pages += at - first;
        }
    }
}

static void unmap_range(struct unmapping *job, uintptr_t from, uintptr_t to) {
    uint64_t entries[ENTRIES];
    while (from < to) {
        size_t left = (to - from) / job->page, wanted = left < ENTRIES ? left : ENTRIES;
        ssize_t got = pread(job->pagemap, entries, wanted * sizeof *entries, (off_t)(from / job->page * sizeof *entries));
        size_t many = got < 0 ? 0 : (size_t)got / sizeof *entries;
        if (many == 0) {
            return;
        }
        unmap_clean(job, entries, many, from);
        from += many * job->page;
    }
}

/* The segments of the program or of one library that cannot be written: code, constants, tables. Relocations are elsewhere. */
static int unmap_object(struct dl_phdr_info *object, size_t size, void *job_given) {
    struct unmapping *job = job_given;
    (void)size;
    for (size_t at = 0; at < object->dlpi_phnum; at++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[at];
        if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W)) {
            uintptr_t from = object->dlpi_addr + segment->p_vaddr;
            uintptr_t to = from + segment->p_filesz;
            unmap_range(job, from & ~(job->page - 1), (to + job->page - 1) & ~(job->page - 1));
        }
    }
    return 0;
}

/* Gives back free memory of the heap, and unmaps clean pages of program files. Returns the number of unmapped pages. */
size_t satchel_give_back(void) {
    malloc_trim(0);
    purge();
    struct unmapping job = {open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), (uintptr_t)sysconf(_SC_PAGESIZE), 0};
    if (job.pagemap >= 0) {
        dl_iterate_phdr(unmap_object, &job);
        close(job.pagemap);
    }
    return job.pages;
}
