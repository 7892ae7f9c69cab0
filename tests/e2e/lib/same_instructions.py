#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare instructions as objdump and as preport annotate write them.

Usage: same_instructions.py ARCH OBJDUMP OURS

OBJDUMP has lines of "objdump -dw", OURS of disasm_probe, for the same addresses. ARCH is x86_64, x86_64-intel or aarch64. Lengths must be equal. What the two spell in ways of
their own is explained by one of the classes below, after which texts must be equal too. Prints how many instructions each class
explains, and those that none does; exits with 1 if there are any.
"""
import collections
import re
import sys

PREFIXES = {"rep", "repz", "repe", "repne", "repnz", "lock", "bnd", "notrack", "data16", "cs", "ds", "es", "ss", "fs", "gs", "rex.W", "addr32"}
SILENT_PREFIXES = {"cs", "ds", "data16", "rex.W", "addr32"}
X86_SYNONYMS = {  # ours: objdump's
    "movabsq": "movabs", "wait": "fwait", "movd": "movq",
}


REGISTERS = "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15".split()


def blanks(text):
    return re.sub(r"\s*,\s*", ",", re.sub(r"\s+", " ", text.strip()))


def value(text):
    return int(text, 16 if "0x" in text else 10) & 0xFFFFFFFFFFFFFFFF


def numbers(text, bits=64):
    return re.sub(r"(?<![\w.])-?(?:0x[0-9a-f]+|\d+)(?![\w.])", lambda m: hex(value(m[0]) & ((1 << bits) - 1)), text)


def split(text):
    """Prefixes, mnemonic, operands."""
    words = text.split(" ")
    at = 0
    while at + 1 < len(words) and words[at] in PREFIXES:
        at += 1
    return words[:at], words[at], " ".join(words[at + 1:])


def same_numbers(ours, theirs, classes):
    if ours == theirs:
        return True
    if numbers(ours) == numbers(theirs):
        classes.append("numbers up to 9 are decimal, as is what objdump writes as 0xffffffffffffffff")
        return True
    for bits in (32, 16, 8):
        if numbers(ours, bits) == numbers(theirs, bits):
            classes.append("negative numbers: -1 for 0xffffffff")
            return True
    return False


def att_rules(name_t):
    return (("an index times 1 and a displacement of 0 are left out", lambda t: re.sub(r"(?<![\w])0x0\((?=[%,])", "(", t.replace(",1)", ")"))),
            ("segments of string instructions are left out", lambda t: re.sub(r"%[de]s:(?=\()", "", t)),
            ("capstone 4 calls the index of some AVX-512 operands xmm9 instead of r9", lambda t: re.sub(r"(\([^()]*,%)xmm(\d+)(?=[,)])", lambda m: m[1] + REGISTERS[int(m[2])], t)),
            ("masks stand behind a blank", lambda t: t.replace(" {", "{")),
            ("shifts by 1 say so", lambda t: re.sub(r"^\$1,", "", t) if re.match(r"sh[lr]|sa[lr]|ro[lr]|rc[lr]", name_t) else t),
            ("%st is implied", lambda t: re.sub(r",%st$|^%st,|\(0\)", "", t) if name_t.startswith("f") else t))


def intel_rules(name_t):
    return (("sizes are in lower case", lambda t: re.sub(r"\b([A-Z]+) PTR\b", lambda m: m[1].lower() + " ptr", t)),
            ("addresses in a segment are in brackets", lambda t: re.sub(r"\b([fg]s):\[(\w+)\]", r"\1:\2", t)),
            ("blanks around + and -", lambda t: re.sub(r"\s*([-+*])\s*", r"\1", t)),
            ("an index times 1 and a displacement of 0 are left out", lambda t: re.sub(r"[-+]0x0(?=\])", "", t.replace("*1", ""))),
            ("segments of string instructions are left out", lambda t: re.sub(r"\b[de]s:(?=\[)", "", t)),
            ("the size of an operand of lea or of a prefetch is left out", lambda t: re.sub(r"\w+ ptr ", "", t) if re.match(r"lea|prefetch|nop", name_t) else t))


def same_prefixes(theirs, ours, classes):
    if theirs != ours and [p for p in theirs if p not in SILENT_PREFIXES] == ours:
        classes.append("prefixes without effect are left out")
        return True
    return theirs == ours


def apply(rules, theirs, ours, classes):
    """Operands after @rules, of which those that made a difference are named."""
    for what, rule in rules:
        if (rule(theirs) != theirs or rule(ours) != ours) and what not in classes:
            classes.append(what)
        theirs, ours = rule(theirs), rule(ours)
    return theirs, ours


def compare_x86(theirs, ours, att=True):
    prefixes_t, name_t, operands_t = split(theirs)
    prefixes_o, name_o, operands_o = split(ours)
    if name_o == ".byte":
        return re.match(r"v|k|\(bad\)", name_t) is not None, ["unknown to capstone 4: AVX-512 and newer, shown as bytes"]
    if re.fullmatch(r"[0-9a-f]+", operands_t) and re.match(r"j|call|loop|xbegin", name_t):
        operands_t = "0x" + operands_t  # of every branch
    if name_o.startswith("nop") and (name_t.startswith("nop") or re.search(r"xchg (%ax,%ax|ax,ax)$", theirs)):
        return True, ["paddings differ in prefixes"]
    classes = []
    if "ds" in prefixes_t and "%ds:" in operands_o:
        classes.append("the ds that lock becomes on one CPU stands at the operand")
        operands_o = operands_o.replace("%ds:", "")
    if X86_SYNONYMS.get(name_o) == name_t:
        classes.append(f"synonym: {name_o} for {name_t}")
        name_o = name_t
    elif att and name_o[:-1] == name_t and name_o[-1] in "bwlqst":
        classes.append("the operand's size is always written: movq for mov")
        name_o = name_t
    elif not att and prefixes_t and name_o[:-1] == name_t and name_o[-1] in "bdwq":
        classes.append("string instructions say their size: rep stosq for rep stos")
        name_o = name_t
    operands_t, operands_o = apply((att_rules if att else intel_rules)(name_t), operands_t, operands_o, classes)
    if att and name_t == "xchg" and operands_o != operands_t and operands_o.split(",")[::-1] == operands_t.split(","):
        classes.append("operands of xchg in the other order")
        operands_o = operands_t
    if not att:  # "a-1" is "a+-1"
        operands_t, operands_o = (re.sub(r"-(0x[0-9a-f]+|\d+)(?=[\]+])", r"+-\1", t) for t in (operands_t, operands_o))
    same = same_prefixes(prefixes_t, prefixes_o, classes) and name_t == name_o
    return same and same_numbers(operands_o, operands_t, classes), classes


def moved(name, operands):
    """What movz, movn and orr put into a register, as mov says it."""
    if name == "ins":
        return operands
    if name == "orr":
        return re.sub(r",[wx]zr,", ",", operands)
    register, number, *shift = operands.split(",")
    what = value(number) << (int(shift[0].split()[-1]) if shift else 0)
    if name == "movn":
        what = ~what & (0xFFFFFFFF if register[0] == "w" else 0xFFFFFFFFFFFFFFFF)
    return f"{register},{hex(what)}"


def compare_aarch64(theirs, ours):
    classes = []
    theirs, ours = theirs.replace("#", ""), ours.replace("#", "")
    theirs = re.sub(r"^((?:b|bl|b\.\w+|adrp?) (?:\w+,)?|cbn?z \w+,|tbn?z \w+,\w+,)([0-9a-f]+)$", r"\g<1>0x\2", theirs)
    name_t, _, operands_t = theirs.partition(" ")
    name_o, _, operands_o = ours.partition(" ")
    if name_o == ".byte":
        return True, ["unknown to capstone 4, shown as bytes"]
    if name_t == "mov" and name_o in ("movz", "movn", "orr", "ins"):
        classes.append(f"{name_o} for mov, which is the same")
        name_o, operands_o = name_t, moved(name_o, operands_o)
    if name_o == "hint":
        return True, ["hints have numbers instead of names"]
    if name_o in ("sshll", "ushll") and name_t in ("sxtl", "uxtl"):
        return operands_o == operands_t + ",0", [f"{name_o} by 0 for {name_t}, which is the same"]
    if name_t == name_o == "fmov" and re.search(r",-?\d+\.\d+$", operands_o):
        return float(operands_o.split(",")[1]) == float(operands_t.split(",")[1]), ["floating-point numbers have fewer digits"]
    if name_o == "sys":
        return name_t in ("dc", "ic", "at", "tlbi"), ["system instructions have numbers instead of names"]
    for a, b in (("hs", "cs"), ("lo", "cc")):
        if re.search(rf"\b{a}$", name_o + "," + operands_o) or name_o == "b." + a:
            classes.append(f"condition {a} for {b}, which is the same")
            name_o, operands_o = re.sub(rf"\b{a}$", b, name_o), re.sub(rf"\b{a}$", b, operands_o)
    if operands_o != operands_t and operands_o.replace(" ", "") == operands_t.replace(" ", ""):
        classes.append("blanks")
        operands_o = operands_t
    return name_t == name_o and same_numbers(operands_o, operands_t, classes), classes


def parse_objdump(line, arch):
    address, code, *text = line.rstrip("\n").split("\t")
    text = " ".join(text)
    text = re.sub(r"\s+//.*$" if arch == "aarch64" else r"\s+#.*$", "", text)  # values of addresses
    text = re.sub(r"\s*<.*>\s*$", "", text)  # names of targets
    length = len(code.split()) * (4 if arch == "aarch64" else 1)
    return int(address.strip(" :"), 16), length, blanks(text)


COMPARE = {"x86_64": compare_x86, "x86_64-intel": lambda theirs, ours: compare_x86(theirs, ours, att=False), "aarch64": compare_aarch64}


def main():
    arch, theirs, ours = sys.argv[1:]
    used, different, shown, total = collections.Counter(), collections.Counter(), {}, 0
    for x, y in zip(open(theirs), open(ours)):
        address, length, a = parse_objdump(x, arch)
        our_address, our_length, b = y.rstrip("\n").split("\t")
        b = blanks(b)
        assert address == int(our_address, 16)
        total += 1
        same, classes = COMPARE[arch](a, b)
        if same and int(our_length) == length:
            used.update(classes or ["equal"])
            continue
        key = a.split(" ")[0] + " / " + b.split(" ")[0]
        different[key] += 1
        shown.setdefault(key, f"{address:x}: {a} ({length})   |   {b} ({our_length})")
    for one, count in used.most_common():
        print(f"{count:6} {one}")
    for key, count in different.most_common(40):
        print(f"{count:6} NOT EXPLAINED {shown[key]}")
    print(f"{total} instructions, {sum(different.values())} not explained")
    return 1 if different or not total else 0


sys.exit(main())
