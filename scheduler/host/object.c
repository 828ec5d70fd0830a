/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* dlopen runs code of the file, and a Go plugin brings a whole runtime along; so the file's headers
 * are read first. The look is a courtesy to people, not a wall: a shared object is trusted code
 * once it is loaded.
 *
 * A copy lives in an anonymous memory file. Its descriptor stays open: the dynamic loader takes two
 * objects of one path for the same, and /proc/self/fd/N is a path of its own only while N is not
 * used again. */

#include "host/object.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define MAX_FILE_BYTES    ((off_t)1 << 30)
#define MAX_SECTIONS      65536u
#define GO_SECTION        ".go.buildinfo"
#define SECTION_NAME_SIZE 32

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#elif defined(__riscv)
#define OUR_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define OUR_MACHINE EM_PPC64
#elif defined(__s390x__)
#define OUR_MACHINE EM_S390
#else
#error "name this machine's ELF number"
#endif

int maar_object_refuse_go(struct maar_error *err)
{
    return maar_error_set(err, -EINVAL,
                          "this is a Go plugin, and those cannot be loaded; port it to the C "
                          "interface, see docs/plugin-guide.md");
}

/* ---- a look at the file -----------------------------------------------------------------------
 */

static bool read_at(int fd, void *out, size_t n, uint64_t offset)
{
    if (offset > (uint64_t)MAX_FILE_BYTES)
        return false;
    return pread(fd, out, n, (off_t)offset) == (ssize_t)n;
}

static int check_header(const ElfW(Ehdr) * header, struct maar_error *err)
{
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return maar_error_set(err, -EINVAL,
                              "this is not a shared object (no ELF file); compile it "
                              "with cc -shared -fPIC");
    unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    if (header->e_ident[EI_CLASS] != class || header->e_machine != OUR_MACHINE)
        return maar_error_set(err, -EINVAL,
                              "this was compiled for another machine (ELF number %u, here %u); "
                              "compile it for this one",
                              (unsigned)header->e_machine, (unsigned)OUR_MACHINE);
    if (header->e_type != ET_DYN)
        return maar_error_set(err, -EINVAL,
                              "this is an ELF file, but not a shared object; compile "
                              "it with cc -shared -fPIC");
    return 0;
}

static bool section_is(int fd, const ElfW(Shdr) * names, const ElfW(Shdr) * section,
                       const char *name)
{
    char text[SECTION_NAME_SIZE] = "";
    size_t n = strlen(name) + 1;
    if (section->sh_name >= names->sh_size || names->sh_size - section->sh_name < n)
        return false;
    return read_at(fd, text, n, (uint64_t)names->sh_offset + section->sh_name) &&
           memcmp(text, name, n) == 0;
}

/* Whether a section of the name is there. Headers that lead nowhere count as no. */
static bool has_section(int fd, const ElfW(Ehdr) * header, const char *name)
{
    ElfW(Shdr) names;
    ElfW(Shdr) section;
    if (header->e_shentsize != sizeof section || header->e_shstrndx >= header->e_shnum)
        return false;
    if (!read_at(fd, &names, sizeof names,
                 (uint64_t)header->e_shoff + (uint64_t)header->e_shstrndx * sizeof names))
        return false;
    for (unsigned i = 0; i < header->e_shnum && i < MAX_SECTIONS; i++) {
        if (!read_at(fd, &section, sizeof section,
                     (uint64_t)header->e_shoff + (uint64_t)i * sizeof section))
            return false;
        if (section_is(fd, &names, &section, name))
            return true;
    }
    return false;
}

static bool ends_within(uint64_t offset, uint64_t n, uint64_t size)
{
    return offset <= size && n <= size - offset;
}

/* The loader maps what the headers say; touching pages behind the file's end would be fatal. */
static int check_complete(int fd, const ElfW(Ehdr) * header, uint64_t size, struct maar_error *err)
{
    static const char text[] = "this file is cut off; copy it again";
    ElfW(Phdr) segment;
    if (header->e_phnum > 0 && header->e_phentsize != sizeof segment)
        return maar_error_set(err, -EINVAL, "its program headers have a strange size");
    uint64_t sections_bytes = (uint64_t)header->e_shnum * header->e_shentsize;
    if (!ends_within(header->e_shoff, sections_bytes, size))
        return maar_error_set(err, -EINVAL, "%s", text);
    for (unsigned i = 0; i < header->e_phnum; i++) {
        uint64_t at = (uint64_t)header->e_phoff + (uint64_t)i * sizeof segment;
        if (!ends_within(at, sizeof segment, size) || !read_at(fd, &segment, sizeof segment, at) ||
            !ends_within(segment.p_offset, segment.p_filesz, size))
            return maar_error_set(err, -EINVAL, "%s", text);
    }
    return 0;
}

static int check_content(int fd, struct maar_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return maar_error_set(err, -errno, "%s", strerror(errno));
    ElfW(Ehdr) header = {0};
    (void)read_at(fd, &header, sizeof header, 0); /* a short file has no magic number or type */
    int rc = check_header(&header, err);
    if (rc == 0)
        rc = check_complete(fd, &header, (uint64_t)st.st_size, err);
    if (rc == 0 && has_section(fd, &header, GO_SECTION))
        rc = maar_object_refuse_go(err);
    return rc;
}

static int check_file(int fd, struct maar_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return maar_error_set(err, -errno, "%s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return maar_error_set(err, -EINVAL, "this is not a file; give a shared object");
    if (st.st_mode & S_IWOTH)
        return maar_error_set(err, -EPERM, "everybody may write this file; chmod o-w it");
    if (st.st_size > MAX_FILE_BYTES)
        return maar_error_set(err, -EFBIG, "larger than 1 GiB");
    return 0;
}

/* ---- mapping ----------------------------------------------------------------------------------
 */

static int write_all(int fd, const char *data, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, data, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -errno;
        data += done;
        n -= (size_t)done;
    }
    return 0;
}

/* Copies at most MAX_FILE_BYTES, should the file grow meanwhile. */
static int copy_content(int from, int to)
{
    char buffer[65536];
    for (off_t at = 0; at <= MAX_FILE_BYTES;) {
        ssize_t n = pread(from, buffer, sizeof buffer, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            return 0;
        int rc = write_all(to, buffer, (size_t)n);
        if (rc < 0)
            return rc;
        at += n;
    }
    return -EFBIG;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A descriptor of the copy. */
static int make_copy(int fd, const char *path, struct maar_error *err)
{
    int copy = memfd_create(file_name(path), MFD_CLOEXEC);
    int rc = copy < 0 ? -errno : copy_content(fd, copy);
    if (rc == 0)
        return copy;
    if (copy >= 0)
        (void)close(copy);
    return maar_error_set(err, rc, "cannot be copied into memory: %s", strerror(-rc));
}

static int map_file(const char *path, struct maar_object *ret_object, struct maar_error *err)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle) {
        ret_object->handle = handle;
        return 0;
    }
    const char *text = dlerror();
    if (!text)
        text = "dlopen failed";
    if (strstr(text, "undefined symbol"))
        return maar_error_set(err, -EINVAL,
                              "%s; a plugin may only use the host table it is given (struct "
                              "maar_host), the C library and what it links itself",
                              text);
    return maar_error_set(err, -EINVAL, "%s; compile it for this system's C library", text);
}

static int map_in_place(int fd, const char *path, struct maar_object *ret_object,
                        struct maar_error *err)
{
    int rc = check_content(fd, err);
    if (rc < 0)
        return rc;
    /* dlopen searches its own folders for a name without a slash. */
    maar_autofree char *slashed = maar_asprintf("%s%s", strchr(path, '/') ? "" : "./", path);
    return map_file(slashed, ret_object, err);
}

/* Looks at the copy rather than the file, which may change meanwhile. */
static int map_copy(int fd, const char *path, struct maar_object *ret_object,
                    struct maar_error *err)
{
    int copy = make_copy(fd, path, err);
    if (copy < 0)
        return copy;
    char copy_path[64];
    (void)snprintf(copy_path, sizeof copy_path, "/proc/self/fd/%d", copy);
    int rc = check_content(copy, err);
    if (rc == 0)
        rc = map_file(copy_path, ret_object, err);
    if (rc < 0)
        (void)close(copy);
    return rc;
}

int maar_object_open(struct maar_object *ret_object, const char *path,
                     enum maar_object_mapping mapping, struct maar_error *err)
{
    maar_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return maar_error_set(err, -errno, "%s", strerror(errno));
    int rc = check_file(fd, err);
    if (rc < 0)
        return rc;
    if (mapping == MAAR_OBJECT_IN_PLACE)
        return map_in_place(fd, path, ret_object, err);
    return map_copy(fd, path, ret_object, err);
}

void *maar_object_symbol(const struct maar_object *object, const char *name, size_t *ret_n_bytes)
{
    void *address = dlsym(object->handle, name);
    if (!address || !ret_n_bytes)
        return address;
    Dl_info info;
    void *extra = NULL;
    *ret_n_bytes = 0;
    if (dladdr1(address, &info, &extra, RTLD_DL_SYMENT) && extra && info.dli_saddr == address)
        *ret_n_bytes = ((const ElfW(Sym) *)extra)->st_size;
    return address;
}
