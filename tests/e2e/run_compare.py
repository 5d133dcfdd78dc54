#!/usr/bin/python3
"""`streamsan compare`: verdicts, distances and rules against exact arithmetic (Python's fractions), .npy files, errors.

The oracle decodes the bits of every element itself and decides |a - b| <= abs + rel * max(|a|, |b|) with rational
numbers. Random arrays hold neighbours, extremes, subnormals, zeros of both signs, infinities and NaNs, and tolerances
that are hit exactly or missed by one bit. Prints its seed; STREAMSAN_SEED sets it.
"""
import fractions
import json
import math
import os
import pathlib
import random
import shutil
import struct
import sys

import harness
from harness import ROOT, TOOL, Skip, Tally, check, execute, only_argument, wants_all, work_folder

SCHEMA = json.loads((ROOT / "docs/compare.schema.json").read_text(encoding="utf-8"))
# name: (bytes, fraction bits, exponent bits) of a float, (bytes, signed) of an integer
FLOATS = {"float16": (2, 10, 5), "bfloat16": (2, 7, 8), "float32": (4, 23, 8), "float64": (8, 52, 11)}
INTEGERS = {f"{kind}int{8 * size}": (size, kind == "") for size in (1, 2, 4, 8) for kind in ("", "u")}
NPY = {"float16": "<f2", "float32": "<f4", "float64": "<f8", "int8": "|i1", "uint8": "|u1", "int16": "<i2", "uint16": "<u2",
       "int32": "<i4", "uint32": "<u4", "int64": "<i8", "uint64": "<u8"}
SEED = int(os.environ.get("STREAMSAN_SEED", random.SystemRandom().randrange(1 << 32)))


def size_of(kind):
    return (FLOATS.get(kind) or INTEGERS[kind])[0]


def value_of(kind, bits):
    """A Fraction with its sign for zeros aside, or 'nan', 'inf', '-inf'."""
    size = size_of(kind)
    if kind in INTEGERS:
        signed = INTEGERS[kind][1]
        return fractions.Fraction(bits - (1 << 8 * size) if signed and bits >> (8 * size - 1) else bits)
    _, fraction_bits, exponent_bits = FLOATS[kind]
    top = (1 << exponent_bits) - 1
    sign, exponent, fraction = bits >> (8 * size - 1), bits >> fraction_bits & top, bits & (1 << fraction_bits) - 1
    if exponent == top:
        return "nan" if fraction else ("-inf" if sign else "inf")
    whole = fraction + (1 << fraction_bits if exponent else 0)
    power = max(exponent, 1) - (top >> 1) - fraction_bits
    return (-1) ** sign * fractions.Fraction(whole) * fractions.Fraction(2) ** power


def steps(kind, a, b):
    if kind in INTEGERS:
        return abs(value_of(kind, a) - value_of(kind, b))
    sign = 1 << (8 * size_of(kind) - 1)
    return abs((-(a ^ sign) if a & sign else a) - (-(b ^ sign) if b & sign else b))


def nearest(value):
    """A fraction as the nearest double, or None above the largest."""
    try:
        return float(value)
    except OverflowError:
        return None


def equal(kind, a, b, rules):
    x, y = value_of(kind, a), value_of(kind, b)
    if isinstance(x, str) or isinstance(y, str):
        if "nan" in (x, y):
            return x == y and (rules["nan"] == "equal" or (rules["nan"] == "bits" and a == b))
        return x == y and rules["inf"] == "equal"
    if x == y == 0 and kind in FLOATS and a != b and rules["zero"] == "distinct":
        return False
    allowed = fractions.Fraction(rules["abs"]) + fractions.Fraction(rules["rel"]) * max(abs(x), abs(y))
    return abs(x - y) <= allowed or steps(kind, a, b) <= rules["ulp"]


def some_bits(rng, kind):
    size = size_of(kind)
    every = (1 << 8 * size) - 1
    if kind in INTEGERS or rng.random() < 0.5:
        return rng.choice([rng.getrandbits(8 * size), rng.randrange(4), every - rng.randrange(3), (every >> 1) + rng.randrange(3)])
    _, fraction_bits, exponent_bits = FLOATS[kind]
    top = (1 << exponent_bits) - 1
    exponent = rng.choice([0, 1, top >> 1, top - 1, top, rng.randrange(top + 1)])
    fraction = rng.choice([0, 1, (1 << fraction_bits) - 1, rng.getrandbits(fraction_bits)])
    return rng.getrandbits(1) << (8 * size - 1) | exponent << fraction_bits | fraction


def some_pair(rng, kind):
    every = (1 << 8 * size_of(kind)) - 1
    a = some_bits(rng, kind)
    near = [a, (a + rng.randrange(1, 4)) & every, (a - rng.randrange(1, 4)) & every, a ^ (every // 2 + 1)]
    return a, rng.choice([*near, some_bits(rng, kind)])


def finite_pairs(kind, pairs):
    return [(x, y) for x, y in ((value_of(kind, a), value_of(kind, b)) for a, b in pairs) if not isinstance(x, str) and not isinstance(y, str)]


def some_tolerance(rng, candidates):
    """0, a plain one, or the double next to one that is hit exactly."""
    exact = nearest(rng.choice(candidates)) if candidates else None
    if exact is None or exact < 0 or math.isinf(exact):
        exact = 0.25
    return rng.choice([0.0, 1e-3, rng.random(), exact, math.nextafter(exact, 0), math.nextafter(exact, 1e300), 5e-324, 1e308])


def some_rules(rng, kind, pairs):
    measured = finite_pairs(kind, pairs)
    return {"abs": some_tolerance(rng, [abs(x - y) for x, y in measured]),
            "rel": some_tolerance(rng, [abs(x - y) / max(abs(x), abs(y)) for x, y in measured if x or y]),
            "ulp": rng.choice([0, 0, 1, 2, rng.getrandbits(8), 2**64 - 1 if rng.random() < 0.1 else 3]),
            "nan": rng.choice(["never", "equal", "bits"]), "inf": rng.choice(["equal", "never"]), "zero": rng.choice(["equal", "distinct"])}


def words_of(rules):
    return [word for key, value in rules.items() for word in (f"--{key}", repr(value) if isinstance(value, float) else str(value))]


def compare(*words):
    done = execute([TOOL, "compare", "--format", "json", *words])
    report = json.loads(done.stdout) if done.returncode in (0, 1) else None
    if report:
        harness.keeps_to(SCHEMA, report, "docs/compare.schema.json")
        check((done.returncode == 0) == report["equal"], f"exit {done.returncode}, equal {report['equal']}")
    return done, report


def raw(path, kind, numbers):
    path.write_bytes(b"".join(n.to_bytes(size_of(kind), "little") for n in numbers))
    return path


def check_value(kind, bits, told):
    """The text of an element leads back to it, halves going to the even one."""
    value, text = value_of(kind, bits), told["value"]
    check(int(told["bits"], 16) == bits, f"{kind} {bits:#x}: bits {told['bits']}")
    if isinstance(value, str):
        check(text.lstrip("-") == value.lstrip("-"), f"{kind} {bits:#x}: '{text}' for {value}")
        return
    if kind in INTEGERS:
        check(fractions.Fraction(text) == value, f"{kind} {bits:#x}: '{text}' for {value}")
        return
    error = abs(fractions.Fraction(text) - value)
    for other in (bits - 1, bits + 1):
        there = value_of(kind, other & (1 << 8 * size_of(kind)) - 1)
        near = error if isinstance(there, str) or there == value else abs(fractions.Fraction(text) - there)
        check(near is error or error < near or (error == near and bits % 2 == 0), f"{kind} {bits:#x}: '{text}' is read as another element")


def about_largest(kind, pairs, summary):
    measured = [(i, a, b) for i, (a, b) in enumerate(pairs) if not isinstance(value_of(kind, a), str) and not isinstance(value_of(kind, b), str)]
    check(summary["measured"] == len(measured), f"{summary['measured']} measured, not {len(measured)}")
    distances = [steps(kind, a, b) for _, a, b in measured]
    largest = max(distances, default=0)
    told = summary["max_ulp"]["value"]
    check(told == largest or (largest >= 2**63 and math.isclose(told, largest)), f"max ulp {told}, not {largest}")
    if largest:
        check(summary["max_ulp"]["index"] == measured[distances.index(largest)][0], "max ulp is elsewhere")
    exact = [abs(value_of(kind, a) - value_of(kind, b)) for _, a, b in measured]
    biggest = nearest(max(exact, default=0))
    check(summary["max_abs"]["value"] == biggest, f"max abs {summary['max_abs']['value']}, not {biggest}")


def against_fractions(work, kind, rounds):
    rng = random.Random(f"{SEED} {kind}")
    seen = {True: 0, False: 0}
    for number in range(rounds):
        pairs = [some_pair(rng, kind) for _ in range(rng.choice([1, 7, 60]))]
        rules = some_rules(rng, kind, pairs)
        a, b = (raw(work / f"{kind}.{side}", kind, column) for side, column in zip("ab", zip(*pairs)))
        wrong = [i for i, (x, y) in enumerate(pairs) if not equal(kind, x, y, rules)]
        about = f"seed {SEED}, {kind}, round {number}: {rules}"
        done, report = compare("--type", kind, *words_of(rules), a, b)
        check(report, f"{about}: exit {done.returncode}: {done.stderr}")
        check(report["summary"]["different"] == len(wrong) and report["summary"]["count"] == len(pairs), f"{about}: {report['summary']} for {wrong}")
        check([m["index"] for m in report["mismatches"]] == wrong[:10], f"{about}: mismatches {report['mismatches']} for {wrong}")
        for told in report["mismatches"]:
            x, y = pairs[told["index"]]
            check_value(kind, x, told["a"])
            check_value(kind, y, told["b"])
        about_largest(kind, pairs, report["summary"])
        seen[True] += len(pairs) - len(wrong)
        seen[False] += len(wrong)
    check(min(seen.values()) > rounds // 8, f"{kind}: too few of one kind: {seen}")


def npy(path, descr, shape, data, version=1, order=False):
    header = repr({"descr": descr, "fortran_order": order, "shape": shape}).encode()
    fixed = 10 if version == 1 else 12
    header += b" " * (-(fixed + len(header) + 1) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header)) + header + data)
    return path


def npy_files(work):
    for kind, descr in NPY.items():
        size = size_of(kind)
        data = bytes(range(6 * size))
        for version in (1, 2, 3):
            a = npy(work / "npy.a.npy", descr, (2, 3), data, version)
            b = npy(work / "npy.b.npy", descr, (2, 3), data[:-1] + b"\x01", version)
            done, report = compare(a, b)
            check(report and report["type"] == kind and [m["index"] for m in report["mismatches"]] == [5], f"{kind}, version {version}: {done}")
            check(compare(a, a)[1]["equal"], f"{kind}: not equal to itself")
    done = execute([TOOL, "compare", a, b])
    check(done.stdout.splitlines()[1].startswith("5 [1, 2]"), done.stdout)
    shapes = npy(work / "npy.b.npy", descr, (6,), data)
    done, report = compare(a, shapes)
    check(done.returncode == 65 and "shape (2, 3)" in done.stderr and "shape (6)" in done.stderr, str(done))
    bfloat = npy(work / "npy.c.npy", "<V2", (4,), bytes(8))
    check(compare("--type", "bf16", bfloat, bfloat)[1]["type"] == "bfloat16", "V2 as bfloat16")
    for descr, shape, order, words in (("<V2", (4,), False, "--type bfloat16"), (">f2", (4,), False, "big-endian"), ("<f2", (2, 2), True, "Fortran"),
                                       ("<c8", (1,), False, "'<c8'"), ([("x", "<f4"), ("y", "<f4")], (1,), False, "header")):
        path = npy(work / "npy.d.npy", descr, shape, bytes(8), 1, order)
        done, _ = compare(path, path)
        check(done.returncode == 65 and words in done.stderr, f"{descr}: {done}")


def parts(work):
    a = raw(work / "part.a", "uint16", range(100))
    b = raw(work / "part.b", "uint16", range(50, 150))
    for words, code in ((("--offset-a", "100", "--count", "50"), 0), (("--offset-a", "98", "--count", "50"), 1), ((), 1),
                        (("--offset-a", "100"), 65), (("--offset-b", "201"), 65), (("--count", "101"), 65), (("--offset-a", "1"), 65)):
        done, _ = compare("--type", "u16", *words, a, b)
        check(done.returncode == code, f"{words}: {done}")
    for words in (("--count", str(2**64 - 1)), ("--first", str(10**6 + 1))):
        done, _ = compare("--type", "u16", *words, a, a)
        check(done.returncode == 64 and words[0] in done.stderr, f"{words}: {done}")
    piped = execute(["bash", "-c", f"{TOOL} compare --type u16 <(cat {a}) {a}"])
    check(piped.returncode == 0, f"pipe: {piped}")


def large(work):
    """More than a block of the reader, wrong in the last element of each and at the very end."""
    data = bytearray(os.urandom(1 << 16) * 40 + bytes(8))
    a = work / "large.a"
    a.write_bytes(data)
    wrong = [(1 << 18) - 1, 1 << 18, (1 << 19) - 1, len(data) // 4 - 1]
    for index in wrong:
        data[4 * index] ^= 1
    b = work / "large.b"
    b.write_bytes(data)
    _, report = compare("--type", "u32", a, b)
    check([m["index"] for m in report["mismatches"]] == wrong and report["summary"]["different"] == 4, str(report["summary"]))
    check(report["summary"]["max_ulp"] == {"value": 1, "index": wrong[0]}, str(report["summary"]))


def from_c(work):
    """The archive that programs link: the header's own example, and no name but those of the header."""
    archive = TOOL.parents[1] / "lib/libstreamsan-compare.a"
    if not archive.exists():
        raise Skip("no archive beside the tool")
    lines = execute(["nm", "-g", "--defined-only", archive]).stdout.splitlines()
    names = [line.split()[2] for line in lines if len(line.split()) == 3]
    check(len(names) == 4 and all(name.startswith("ssan_compare_") for name in names), str(names))
    source = work / "from_c.c"
    source.write_text("""#include <streamsan/compare.h>
#include <stdio.h>
int main(void)
{
    const float a[] = {1, 2, 3}, b[] = {1, 2.0000002f, 4};
    struct ssan_compare_options options = {.size_bytes = sizeof options, .type = SSAN_COMPARE_FLOAT32, .rel = 1e-5};
    struct ssan_compare_result result = {0};
    const enum ssan_compare_verdict verdict = ssan_compare_add(&options, a, b, 3, &result);
    printf("%d %d %s\\n", verdict, (int)result.different, ssan_compare_type_name(options.type));
    return 0;
}
""", encoding="utf-8")
    done = execute(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", "-o", work / "from_c", source, archive, "-lm"])
    check(done.returncode == 0, done.stderr)
    check(execute([work / "from_c"]).stdout == "1 1 float32\n", "the example")


def errors(work):
    a = raw(work / "error.a", "float32", [0, 1, 2])
    longer = raw(work / "error.b", "float32", [0, 1, 2, 3])
    for words, code, text in (((a, longer, "--type", "f32"), 65, "3 elements"), ((a, longer, "--type", "f32"), 65, "4 elements"),
                              ((a, a), 64, "--type"), ((a,), 64, "two files"), ((a, work / "none", "--type", "f32"), 65, "No such file"),
                              ((a, work, "--type", "f32"), 65, "directory"), ((a, a, "--type", "f33"), 64, "float32"),
                              ((a, a, "--type", "f32", "--rel", "-1"), 64, "--rel"), ((a, a, "--type", "f32", "--abs", "nan"), 64, "--abs"),
                              ((a, a, "--type", "f64"), 65, "no whole number"), ((a, a, "--type", "f32", "--output", work / "no/such"), 65, "can't write"),
                              ((a, a, "--type", "f32", "--output", "/dev/full"), 67, "No space")):
        done = execute([TOOL, "compare", *words])
        check(done.returncode == code and text in done.stderr, f"{words}: {done}")


def told(work):
    """The line of the end never says that all is the same where something differs, or where nothing was compared."""
    def line(*words):
        return execute([TOOL, "compare", *words, "--type", "f32"]).stdout.splitlines()[-1]

    one, zero, minus, nan, none = (work / f"told.{n}" for n in range(5))
    for path, data in ((one, struct.pack("<2f", 1, 1)), (zero, bytes(8)), (minus, b"\0\0\0\x80" * 2), (nan, struct.pack("<f", 1) + b"\0\0\xc0\x7f"), (none, b"")):
        path.write_bytes(data)
    same = "all numbers are the same"
    check(same in line(one, one) and same in line(zero, minus), "the same")
    for words in ((nan, nan), (one, nan), (zero, minus, "--zero", "distinct"), (none, none)):
        check(same not in line(*words), line(*words))
    check("--nan equal" in line(nan, nan) and "--nan equal" not in line(one, nan) and line(nan, nan, "--nan", "equal").startswith("equal: 2"), line(nan, nan))
    check("nothing was compared" in line(none, none), line(none, none))
    check("empty" not in line(one, zero, "--count", "0"), "neither is empty")
    for other, shown in ((b"\1\0\xc0\x7f", ["nan", "0x7fc00000", "nan", "0x7fc00001"]), (b"\0\0\xc0\xff", ["nan", "-nan"])):
        none.write_bytes(b"\0\0\x80\x3f" + other)
        table = execute([TOOL, "compare", "--type", "f32", "--nan", "bits", nan, none]).stdout.splitlines()
        check(table[1].split()[1:-3] == shown, str(table))
    # Files of /proc claim to be empty.
    done = execute([TOOL, "compare", "--type", "u8", "/proc/version", "/proc/filesystems"])
    check(done.returncode in (1, 65) and not done.stdout.startswith("equal"), str(done))


def library(work):
    """`streamsan cc` finds the library as it finds the pipeline's."""
    done = execute([TOOL, "cc", "-o", work / "library", ROOT / "tests/pipeline/outside/compare.c", "-lstreamsan-compare"])
    check(done.returncode == 0 and execute([work / "library"]).stdout == "1 of 2 differs\n", str(done))


def help_fits(work):
    """No line of the help is wider than a terminal, and the manual has no line that groff can't set."""
    for verb in ("compare", "contract", "run", "explore"):
        done = execute([TOOL, verb, "--help"])
        check(max(map(len, done.stdout.splitlines())) < 81, done.stdout)
    check("stacks" not in execute([TOOL, "contract", "--help"]).stdout, "stacks are no matter of contracts")
    page = TOOL.parents[1] / "share/man/man1/streamsan.1"
    check("?." not in page.read_text(encoding="utf-8"), "a full stop behind a question mark")
    if shutil.which("groff"):
        done = execute(["groff", "-man", "-Tutf8", "-ww", "-z", page])
        check(done.returncode == 0 and not done.stderr, done.stderr)


def main():
    print(f"seed {SEED}")
    tally = Tally("compare")
    with work_folder("compare") as name:
        work = pathlib.Path(name)
        for kind in [*FLOATS, *INTEGERS]:
            tally.case(f"fractions {kind}", against_fractions, work, kind, 400 if wants_all() else 25)
        for function in (npy_files, parts, large, from_c, errors, told, library, help_fits):
            tally.case(function.__name__, function, work)
        return tally.finish(only_argument())


if __name__ == "__main__":
    sys.exit(main())
