#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ci/search_beside.py FILE: makes a 64-bit ELF library search its own folder for the libraries that it needs.

Adds a RUNPATH `$ORIGIN` in place. Its text replaces the build id, which nothing reads when a program runs, and its
entry replaces a spare entry of the dynamic section. The loader does not use a program's RUNPATH for what its
libraries need. An RPATH of the program would do, but it would precede LD_LIBRARY_PATH, which selects another oneDNN."""

import struct
import sys

PT_DYNAMIC, PT_NOTE = 2, 4
DT_NULL, DT_STRTAB, DT_RPATH, DT_RUNPATH = 0, 5, 15, 29
NT_GNU_BUILD_ID = 3
ENTRY = struct.Struct("<qQ")
NOTE = struct.Struct("<III")
SEARCHED = b"$ORIGIN\0"


def segments(data):
    """Yields (kind, offset, address, size) of each program header."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("is not a little-endian 64-bit ELF file")
    start = struct.unpack_from("<Q", data, 32)[0]
    size, count = struct.unpack_from("<HH", data, 54)
    for header in range(start, start + size * count, size):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", data, header)
        yield kind, offset, address, length


def build_id(data):
    """Returns offset, address and size of the build id."""
    for kind, start, address, size in segments(data):
        note = start
        while kind == PT_NOTE and note + NOTE.size <= start + size:
            name_size, text_size, note_kind = NOTE.unpack_from(data, note)
            text = note + NOTE.size + (name_size + 3) // 4 * 4
            if note_kind == NT_GNU_BUILD_ID and data[note + NOTE.size : text] == b"GNU\0":
                return text, address + text - start, text_size
            note = text + (text_size + 3) // 4 * 4
    raise ValueError("has no build id")


def dynamic_entries(data):
    """Returns the list of (offset, tag, value), with the spare entries at its end."""
    for kind, start, _, size in segments(data):
        if kind == PT_DYNAMIC:
            return [(at, *ENTRY.unpack_from(data, at)) for at in range(start, start + size, ENTRY.size)]
    raise ValueError("is not dynamically linked")


def main():
    with open(sys.argv[1], "r+b") as file:
        data = file.read()
        entries = dynamic_entries(data)
        if any(tag in (DT_RPATH, DT_RUNPATH) for _, tag, _ in entries):
            return 0
        spare = [at for at, tag, _ in entries if tag == DT_NULL]
        if len(spare) < 2:  # one entry ends the section
            raise ValueError("has no spare entry in its dynamic section")
        offset, address, size = build_id(data)
        if size < len(SEARCHED):
            raise ValueError("has a build id that is too short")
        names = next(value for _, tag, value in entries if tag == DT_STRTAB)
        file.seek(offset)
        file.write(SEARCHED)
        file.seek(spare[0])
        # The loader adds the distance to the address of the names, modulo 2^64.
        file.write(ENTRY.pack(DT_RUNPATH, (address - names) % 2**64))
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        sys.exit(main())
    except (OSError, ValueError, struct.error, StopIteration) as error:
        sys.exit(f"ci/search_beside.py: {sys.argv[1]}: {error}")
