#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ci/inherit_rpath.py FILE: makes the RUNPATH of a 64-bit ELF program an RPATH, in place.

The loader searches for indirect libraries in the program's RPATH, but not in its RUNPATH. With an
RPATH one folder of libraries suffices, whatever their own paths are."""

import struct
import sys

PT_DYNAMIC = 2
DT_NULL, DT_RPATH, DT_RUNPATH = 0, 15, 29


def dynamic_section(data):
    """Returns offset and size in the file."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("is not a little-endian 64-bit ELF file")
    start, size, count = (*struct.unpack_from("<Q", data, 32), *struct.unpack_from("<HH", data, 54))[:3]
    for header in range(start, start + size * count, size):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, header)
        if kind == PT_DYNAMIC:
            return offset, length
    raise ValueError("is not dynamically linked")


def main():
    path = sys.argv[1]
    with open(path, "r+b") as file:
        data = file.read()
        offset, length = dynamic_section(data)
        for entry in range(offset, offset + length, 16):
            tag = struct.unpack_from("<q", data, entry)[0]
            if tag == DT_NULL:
                break
            if tag == DT_RUNPATH:
                file.seek(entry)
                file.write(struct.pack("<q", DT_RPATH))
                return 0
            if tag == DT_RPATH:
                return 0
    raise ValueError("has no RUNPATH")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        sys.exit(main())
    except (OSError, ValueError, struct.error) as error:
        sys.exit(f"ci/inherit_rpath.py: {sys.argv[1]}: {error}")
