// What an idle process need not keep in memory.
#define _GNU_SOURCE
#include "CLinuxMemory.h"

#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

/// Whether the dynamic linker wrote to segments that are read-only in the file: what it wrote would be lost.
static bool has_text_relocations(const struct dl_phdr_info *object) {
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        if (header->p_type != PT_DYNAMIC) continue;
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + header->p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_TEXTREL) return true;
            if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL)) return true;
        }
    }
    return false;
}

static int release(struct dl_phdr_info *object, size_t size, void *page_size) {
    (void)size;
    if (has_text_relocations(object)) return 0;
    ElfW(Addr) page = *(const ElfW(Addr) *)page_size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        // Relocated constants lie in a segment that is writable here, and read-only only in memory.
        if (header->p_type != PT_LOAD || header->p_flags & PF_W) continue;
        ElfW(Addr) begin = (object->dlpi_addr + header->p_vaddr + page - 1) & ~(page - 1);
        ElfW(Addr) end = (object->dlpi_addr + header->p_vaddr + header->p_filesz) & ~(page - 1);
        // The kernel's own object, where it has a whole page, comes back as it was.
        if (begin < end) madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
    return 0;
}

void dm_release_idle_memory(void) {
    ElfW(Addr) page = (ElfW(Addr))sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(release, &page);
    malloc_trim(0);
}
