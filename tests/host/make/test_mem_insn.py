"""Every instruction of both kernels, decoded by arch/<machine>/debug and by objdump: they agree on what is a load or
store of a known form, on its width and direction, on the other operand, and on the address."""

import ctypes
import re
import subprocess

MASK = (1 << 64) - 1


class Decoder:
    """arch_mem_insn_decode() of one machine, built for the host."""

    def __init__(self, arch, tmp_path, layout):
        library = tmp_path / "mem_insn.so"
        subprocess.run(
            ["gcc", "-std=gnu11", "-O1", "-shared", "-fPIC", f"-Iarch/{arch}/include", "-idirafter", "include"]
            + ["-o", library, f"arch/{arch}/debug/mem_insn.c"],
            check=True,
        )
        self.decode = ctypes.CDLL(str(library)).arch_mem_insn_decode
        self.insn = type("MemInsn", (ctypes.Structure,), {"_fields_": layout})()

    def __call__(self, registers, code):
        """The decoded instruction; None: not known."""
        code = ctypes.create_string_buffer(code + bytes(16))
        if self.decode(ctypes.byref(self.insn), registers, code):
            return None
        return self.insn


def binutils(arch, tool, *options):
    """What objdump or nm says of the kernel."""
    prefix = {"aarch64": "aarch64-linux-gnu-", "x86_64": "x86_64-linux-gnu-"}[arch]
    command = [prefix + tool, *options, f"build/{arch}/vmlinux"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def instructions(arch, *options):
    """(address, bytes of code, text) of each line of objdump, from _stext on: the code before it is that of the first
    steps of a boot, among it data, and on x86_64 instructions of 32-bit mode, which objdump takes for others."""
    start = re.search(r"^(\w+) . _stext$", binutils(arch, "nm"), re.M)[1]
    text = binutils(arch, "objdump", "-d", "-w", f"--start-address=0x{start}", *options)
    for line in text.splitlines():
        match = re.fullmatch(r"([0-9a-f]+):\t((?:[0-9a-f]+ ?)+)\t(.*)", line.strip())
        if match:
            yield int(match[1], 16), match[2].split(), re.split(r" *(?:# |//|<)", match[3])[0].strip()


# ---- aarch64

ARM_LAYOUT = [("address", ctypes.c_ulong), ("bytes", ctypes.c_ubyte), ("width", ctypes.c_ubyte)]
ARM_LAYOUT += [(name, ctypes.c_ubyte) for name in ("rt", "rt2", "rn")]
ARM_LAYOUT += [(name, ctypes.c_bool) for name in ("load", "pair", "sign", "to_32", "writeback")]
ARM_LAYOUT += [("base", ctypes.c_ulong)]
ARM_SINGLE = re.compile(r"(ld|st)u?r(s?)([bhw]?)\t([wx])(\d+|zr), \[(.*)")
ARM_PAIR = re.compile(r"(ld|st)n?p(sw)?\t([wx])(\d+|zr), [wx](\d+|zr), \[(.*)")
ARM_PLACE = re.compile(r"(x\d+|sp)(?:, (#-?\d+|[wx](?:\d+|zr))(?:, (\w+)(?: #(\d))?)?)?\](!)?(?:, #(-?\d+))?")
# sp is the last one; each is far from the others, and none is a number that is shown.
ARM_REGISTERS = [0x0101010101010101 * (n + 1) & 0xFFFF0FFFFFFF for n in range(32)]


def arm_number(name):
    return 31 if name == "zr" else int(name)


def arm_index(word, extend, shift):
    """What is added to the base: a number, or a register that is extended and shifted."""
    if word.startswith("#"):
        return int(word[1:])
    value = 0 if word[1:] == "zr" else ARM_REGISTERS[int(word[1:])]
    if extend in ("uxtw", "sxtw"):
        value &= 0xFFFFFFFF
    if extend == "sxtw" and value >> 31:
        value -= 1 << 32
    return value << int(shift or 0)


def arm_place(text):
    """(base register, address, the base afterwards or None)."""
    match = ARM_PLACE.fullmatch(text)
    assert match, text
    number = 31 if match[1] == "sp" else int(match[1][1:])
    base = ARM_REGISTERS[number]
    offset = arm_index(match[2], match[3], match[4]) if match[2] else 0
    if match[6]:
        return number, base, (base + int(match[6])) & MASK
    address = (base + offset) & MASK
    return number, address, address if match[5] else None


def arm_expected(text):
    """What the decoder should say, as a dict; None: that it does not know the instruction."""
    single, pair = ARM_SINGLE.fullmatch(text), ARM_PAIR.fullmatch(text)
    if single:
        kind, sign, size, width, rt, place = single.groups()
        found = {"width": {"b": 1, "h": 2, "w": 4, "": 4 if width == "w" else 8}[size], "rt": arm_number(rt)}
        found.update(load=kind == "ld", pair=False, sign=bool(sign), to_32=bool(sign) and width == "w", rt2=0)
    elif pair:
        kind, sign, width, rt, rt2, place = pair.groups()
        found = {"width": 4 if width == "w" or sign else 8, "rt": arm_number(rt), "rt2": arm_number(rt2)}
        found.update(load=kind == "ld", pair=True, sign=bool(sign), to_32=False)
    else:
        return None
    found["bytes"] = found["width"] * (1 + found["pair"])
    found["rn"], found["address"], base = arm_place(place)
    found["writeback"] = base is not None
    if base is not None:
        found["base"] = base
    return found


def test_aarch64(tmp_path):
    decoder = Decoder("aarch64", tmp_path, ARM_LAYOUT)
    registers = (ctypes.c_ulong * 64)(*ARM_REGISTERS[:31], ARM_REGISTERS[31])
    known = 0
    for at, words, text in instructions("aarch64"):
        if len(words) != 1 or text.startswith(("udf", ".inst", ".word")):
            continue
        wanted = arm_expected(text)
        insn = decoder(registers, int(words[0], 16).to_bytes(4, "little"))
        assert (insn is None) == (wanted is None), f"{at:x}: {text}"
        if insn is not None:
            known += 1
            assert {name: getattr(insn, name) for name in wanted} == wanted, f"{at:x}: {text}"
    assert known > 5000


# ---- x86_64

PC_LAYOUT = [("address", ctypes.c_ulong)]
PC_LAYOUT += [(name, ctypes.c_ubyte) for name in ("bytes", "length", "op", "reg", "reg_bytes")]
PC_LAYOUT += [(name, ctypes.c_bool) for name in ("high", "to_memory", "has_imm", "sign")] + [("imm", ctypes.c_ulong)]
PC_NAMES = "ax cx dx bx sp bp si di".split()
PC_OPS = "add or adc sbb and sub xor cmp test mov".split()
PC_MOVES = {"mov": "mov", "movabs": "mov", "movzx": "mov", "movsx": "mov", "movsxd": "mov"}
PC_SIZES = {"BYTE": 1, "WORD": 2, "DWORD": 4, "QWORD": 8}
PC_MEMORY = re.compile(r"(?:(\w+) PTR )?(?:(\w\w):)?(?:\[(.*)\]|(0x[0-9a-f]+))")
# In the order of struct pt_regs, from its third word on.
PC_ORDER = "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi".split()


def pc_registers():
    """{name: (number, bytes, whether it is ah or the like)}."""
    found = {}
    for n, name in enumerate(PC_NAMES):
        low = name[0] + "l" if n < 4 else name + "l"
        found.update({"r" + name: (n, 8, False), "e" + name: (n, 4, False), name: (n, 2, False), low: (n, 1, False)})
        if n < 4:
            found[name[0] + "h"] = (n, 1, True)
    for n in range(8, 16):
        for end, size in (("", 8), ("d", 4), ("w", 2), ("b", 1)):
            found[f"r{n}{end}"] = (n, size, False)
    return found


PC_REGISTERS = pc_registers()
PC_VALUES = {name: 0x0101010101010 * (n + 3) for n, name in enumerate([*PC_ORDER, "rsp"])}


def pc_address(text, behind):
    """Of "rax+rcx*4+0x10"; None: with registers of 32 bits."""
    total = 0
    for sign, term in re.findall(r"([+-]?)([^+-]+)", text):
        name, _, scale = term.partition("*")
        if name == "rip":
            value = behind
        elif name == "riz":
            value = 0
        elif name.startswith("0x"):
            value = int(name, 16)
        elif name in PC_VALUES:
            value = PC_VALUES[name] * int(scale or 1)
        else:
            return None
        total += -value if sign == "-" else value
    return total & MASK


def pc_other(text, size):
    """The operand that is not in memory, as the decoder's fields; None: none that it knows."""
    if text in PC_REGISTERS:
        number, size, high = PC_REGISTERS[text]
        return {"has_imm": False, "reg": number, "reg_bytes": size, "high": high}
    if re.fullmatch(r"-?0x[0-9a-f]+", text):
        return {"has_imm": True, "imm": int(text, 16) & ((1 << 8 * size) - 1)}
    return None


def pc_expected(text, at, length):
    """As arm_expected()."""
    name, _, rest = text.partition(" ")
    op = PC_MOVES.get(name, name)
    operands = re.split(r",(?![^\[]*\])", rest.strip())
    places = [n for n, operand in enumerate(operands) if "[" in operand or re.search(r"\w\w:0x", operand)]
    if op not in PC_OPS or len(operands) != 2 or len(places) != 1:
        return None
    match = PC_MEMORY.fullmatch(operands[places[0]])
    assert match, text
    address = int(match[4], 16) if match[4] else pc_address(match[3], at + length)
    size = PC_SIZES.get(match[1]) or PC_REGISTERS.get(operands[1 - places[0]], (0, 0))[1]
    other = pc_other(operands[1 - places[0]], size)
    if match[2] in ("fs", "gs") or address is None or other is None or not size:
        return None
    found = {"op": PC_OPS.index(op), "bytes": size, "length": length, "address": address, **other}
    found["sign"] = name in ("movsx", "movsxd")
    if op != "test":  # which has no result, so its operands have no order
        found["to_memory"] = places[0] == 0
    return found


def test_x86_64(tmp_path):
    decoder = Decoder("x86_64", tmp_path, PC_LAYOUT)
    known = 0
    for at, code, text in instructions("x86_64", "-M", "intel"):
        if "(bad)" in text or text.startswith("."):
            continue
        registers = (ctypes.c_ulong * 24)(
            0, 0, *(PC_VALUES[name] for name in PC_ORDER), 0, 0, at, 0, 0, PC_VALUES["rsp"]
        )
        wanted = pc_expected(text, at, len(code))
        insn = decoder(registers, bytes.fromhex("".join(code)))
        assert (insn is None) == (wanted is None), f"{at:x}: {text}"
        if insn is not None:
            known += 1
            found = {name: getattr(insn, name) for name in wanted}
            if "imm" in wanted:
                found["imm"] &= (1 << 8 * insn.bytes) - 1
            assert found == wanted, f"{at:x}: {text}"
    assert known > 5000
