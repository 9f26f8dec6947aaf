"""Makes linkable copies of the pyarrow wheel's libraries, in .deps/arrow.

The wheel's libparquet exports the symbols of the OpenSSL it bundles. Beside another OpenSSL in one
process (librdkafka, libcurl) the dynamic linker mixes the two, and the process crashes. The copies mark
those symbols as hidden: every defined dynamic symbol that is no C++ name of Arrow's and that no other
library of the set needs. ELF64 little endian only.
"""

import pathlib
import re
import struct
import sys
import sysconfig

# C names other than Arrow's own entry points, and the C++ namespaces that the wheel bundles.
LEAKED = re.compile(
    rb"^(?!_Z|arrow_|_init$|_fini$)"
    rb"|^_Z(N[VKRO]*|T[VTIS]N?|GVZ?N[VKRO]*)?(8simdjson|19simdjson_fast_float|3re2|4absl)"
)
SHT_DYNSYM = 11
STV_HIDDEN = 2
SYMBOL_SIZE = 24


def global_symbols(image):
    """Yields (offset, name, visibility byte, section index) of each non-local dynamic symbol."""
    if image[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a little-endian ELF64 file")
    (section_table,) = struct.unpack_from("<Q", image, 40)
    entry_size, count = struct.unpack_from("<HH", image, 58)
    sections = [
        struct.unpack_from("<IIQQQQIIQQ", image, section_table + i * entry_size)
        for i in range(count)
    ]
    symbols = next(s for s in sections if s[1] == SHT_DYNSYM)
    names = sections[symbols[6]][4]
    # Entry 0 of a symbol table is reserved.
    for offset in range(symbols[4] + SYMBOL_SIZE, symbols[4] + symbols[5], SYMBOL_SIZE):
        name, info, other, section = struct.unpack_from("<IBBH", image, offset)
        if info >> 4:
            end = image.index(0, names + name)
            yield offset, bytes(image[names + name : end]), other, section


def hide_leaked_symbols(libraries, out_dir):
    images = {path: bytearray(path.read_bytes()) for path in libraries}
    needed = {
        name
        for image in images.values()
        for _, name, _, section in global_symbols(image)
        if section == 0
    }
    out_dir.mkdir(parents=True, exist_ok=True)
    for path, image in images.items():
        for offset, name, other, section in list(global_symbols(image)):
            if section and LEAKED.search(name) and name not in needed:
                image[offset + 5] = (other & ~3) | STV_HIDDEN
        # Put in place as a whole: a program that has the one before mapped goes on with that.
        written = out_dir / f"{path.name}.new"
        written.write_bytes(image)
        written.replace(out_dir / path.name)


def main():
    wheel = pathlib.Path(sysconfig.get_path("purelib")) / "pyarrow"
    libraries = sorted(
        path
        for stem in ("libarrow", "libparquet", "libarrow_compute", "libarrow_s3")
        for path in wheel.glob(f"{stem}.so.*")
    )
    if not libraries:
        sys.exit(f"hide_symbols: no Arrow libraries in {wheel}")
    hide_leaked_symbols(libraries, pathlib.Path(".deps/arrow"))


if __name__ == "__main__":
    main()
