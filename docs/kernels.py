#!/usr/bin/env python3
"""Times the kernels, and what else one could use, on this machine, and writes docs/kernels.md.

usage: docs/kernels.py [BENCH-FOLDER] [--quick] [-o FILE]

BENCH-FOLDER is where the benchmark was built (default: build/release/bench, as ./dev bench leaves it). Everything is taken in one run:
the C++ kernels and peers, each beside a read pass, then numpy and torch beside the same read pass (bench/peers.py; a library that is
not installed is left out, with a word). About five minutes; --quick takes one, for a look.
"""
import argparse
import collections
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[1]
LARGE = 25557032
SIZES = (1024, 65536, 1048576, LARGE)
NOISY = 0.1

# Which peers do the work of which row: (side, start of the spec) -> start of the peer's name; {} is the ratio or the rank.
PEERS = {
    ("encode", "topk"): ("std::nth_element entries:ratio={}", "torch.topk:ratio={}", "numpy argpartition:ratio={}"),
    ("decode", "topk"): ("torch zero+scatter:ratio={}",),
    ("decode_next", "topk"): ("torch index_add of one more:ratio={}",),
    ("encode", "randomk"): ("torch randint+gather:ratio={}",),
    ("encode", "signsgd"): ("numpy packbits",),
    ("encode", "signsgd:feedback"): ("torch sign with feedback",),
    ("decode", "signsgd"): ("numpy unpackbits",),
    ("majority", "8 votes"): ("numpy majority of 8",),
    ("encode", "fp16"): ("torch copy to float16", "numpy astype float16"),
    ("decode", "fp16"): ("torch copy from float16",),
    ("encode", "bf16"): ("torch copy to bfloat16",),
    ("decode", "bf16"): ("torch copy from bfloat16",),
    ("encode", "int8"): ("torch int8 blocks",),
    ("decode", "int8"): ("torch dequantize",),
    ("encode", "int8:block=1000000000"): ("torch quantize_per_tensor",),
    ("encode", "int4"): ("torch quint4x2",),
    ("encode", "qsgd:bucket=512"): ("torch qsgd:bucket=512",),
    ("encode", "terngrad"): ("torch terngrad",),
    ("both", "powersgd"): ("Eigen P+Q+decode:rank={}", "torch PowerSGD:rank={}"),
}

# Why targets are out of reach, as far as experiments tell.
OBSTACLES = """
Found by changing one thing at a time, in read passes of one core of an AMD EPYC of the Zen 4 kind with AVX-512 (12/2026). The
targets come from a Zen 5 core, which writes as fast as it reads and multiplies twice as wide.

- **decode**: a vector that is written whole takes 1.13 past the caches, however little is read: as long as setting memory to a
  byte that is not zero. Only zeros are written faster, 0.5, which is what makes top-k and terngrad quick.
- **int8, int4**: a tile is looked at, then coded while it is in the first cache, and memory waits for part of that. Coding alone
  takes 0.8 from the second cache. Tiles of 2 or 8 KiB in place of 4: 1.05 to 1.1 times as long; prefetching the next tile: 1.2
  times; looking at the next block while one is coded: 1.3 to 1.5 times, since the machine fetches ahead along addresses in order.
- **powersgd**: P and Q each read every matrix, and decoding writes it: 3 passes. At one column P takes 1.15, Q 1.3, decoding 1.13;
  two rows at once took twice as long. At 16 columns the arithmetic alone takes 6.4: one multiply-add of 512 bits a cycle.
- **topk at 10 %**: collecting takes 1.25, the exact cut 0.1, closing the gaps it leaves 0.35, sampling the rest. Storing half vectors
  where they suffice was slower: tensors differ too much for the branch to be foreseen.
- **randomk at 10 %**: positions 0.2, gathering 1.2: every line is read, one element at a time.
"""

Row = collections.namedtuple("Row", "seconds spread rate")


def say(text):
    print(f"kernels: {text}", file=sys.stderr)


def timed(folder, quick):
    """What the benchmark reports."""
    program = folder / "breakeven_bench"
    with tempfile.TemporaryDirectory() as work:
        out = pathlib.Path(work) / "rows.json"
        flags = ["--benchmark_filter=^(encode|decode|decode4|peer|majority)/", f"--benchmark_out={out}"]
        if quick:
            flags.append("--benchmark_repetitions=3")
        subprocess.run([program, *flags], check=True, stdout=subprocess.DEVNULL)
        return json.loads(out.read_text())


def rows_of(report):
    """(side, spec, elements, threads, kind) -> Row, `read` and `memcpy` by what they stand beside."""
    values = collections.defaultdict(dict)
    for row in report["benchmarks"]:
        clock = "real_time" if row["run_name"].endswith(("/real_time", "/manual_time")) else "cpu_time"
        values[row["run_name"]][row.get("aggregate_name", "median")] = row[clock]
        if row.get("aggregate_name", "median") == "median":
            values[row["run_name"]]["rate"] = row.get("bytes_per_second")
    rows = {}
    for name, value in values.items():
        match = re.match(r"(\w+?)(?:/(.*))?/(\d+)/threads:(\d+)/kind:([^/]+)(?:/beside:(.*?))?(?:/(?:real|manual)_time)?$", name)
        if match is None:
            continue  # the model's
        side, spec, elements, threads, kind, beside = match.groups()
        rows[side, beside or spec, int(elements), int(threads), kind] = Row(value["median"] * 1e-9, value.get("cv", 0), value["rate"])
    for (side, spec, *rest) in list(rows):
        one = rows.get(("decode", spec, *rest))
        if side == "encode" and one:
            encode = rows["encode", spec, *rest]
            rows["both", spec, *rest] = Row(encode.seconds + one.seconds, max(encode.spread, one.spread), None)
        elif side == "decode4" and one:
            four = rows["decode4", spec, *rest]
            if four.seconds > one.seconds:  # else the noise is larger than what is looked for
                rows["decode_next", spec, *rest] = Row((four.seconds - one.seconds) / 3, max(four.spread, one.spread), None)
    return rows


def wanted(folder):
    text = subprocess.run([folder / "breakeven_bench", "--targets"], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout
    return {(t["side"], t["scheme"], t["elements"]): t for t in map(json.loads, text.splitlines())}


def time_text(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def reads(rows, key):
    """How many read passes a row takes; nothing where either is missing."""
    side, spec, *rest = key
    read = rows.get(("read", spec, *rest))
    return rows[key].seconds / read.seconds if key in rows and read and read.seconds > 0 else None


def times(value):
    return "-" if value is None else f"{value:.3g}"


def best_peer(rows, python, side, spec):
    """Its name and its read passes."""
    keys = [key for key in PEERS if key[0] == side and spec.startswith(key[1])]
    if not keys:
        return None
    default = {"topk": "1%", "randomk": "1%", "powersgd": "1"}.get(spec.split(":")[0], "")
    given = re.search(r"(?:ratio|rank)=([^,]+)", spec)
    found = []
    for pattern in PEERS[max(keys, key=lambda key: len(key[1]))]:
        name = pattern.format(given.group(1) if given else default)
        value = python.get(name, reads(rows, ("peer", name, LARGE, 1, "normal")))
        if value is not None:
            found.append((value, name.split(":ratio")[0].split(":rank")[0]))
    return min(found) if found else None


def line(cells):
    return "| " + " | ".join(cells) + " |"


def target_table(rows, python, targets, threads):
    titles = ["side", "scheme", "time", "reads", "heavy-tailed", "target", "", f"{threads} threads", "best peer here", "best known"]
    lines, missed = [], []
    for (side, spec, elements), target in targets.items():
        key = (side, spec, elements, 1, "normal")
        value = reads(rows, key)
        if value is None:
            continue
        off = value / target["reads"] - 1
        more = rows.get((side, spec, elements, threads, "normal")) if threads > 1 else None
        peer = best_peer(rows, python, side, spec) if elements == LARGE else None
        known = f"{target['peer']} {times(target['peer_reads'])}" if target["peer"] else "-"
        name = spec if elements == LARGE else f"{spec}, {elements:,} elements"
        if off > 0:
            missed.append((off, f"{side} {name} by {100 * off:.0f} %"))
        noisy = " ~" if rows[key].spread > NOISY else ""
        lines.append((-off, line([side, f"`{name}`", time_text(rows[key].seconds) + noisy, times(value),
                                  times(reads(rows, (side, spec, elements, 1, "heavy-tailed"))), times(target["reads"]),
                                  f"+{100 * off:.0f} %" if off > 0 else "met",
                                  f"{rows[key].seconds / more.seconds:.2f}x" if more and more.seconds > 0 else "-",
                                  f"{peer[1]} {times(peer[0])}" if peer else "-", known])))
    head = [line(titles), line(["---"] * len(titles))]
    return head + [text for _, text in sorted(lines)], [text for _, text in sorted(missed, reverse=True)]


def size_table(rows, threads):
    titles = ["side", "scheme", *(f"{n:,}" for n in SIZES), "GB/s", f"{threads} threads"]
    lines = []
    for side, spec in sorted({key[:2] for key in rows if key[0] in ("encode", "decode", "decode_next")}):
        cells, largest = [], None
        for n in SIZES:
            key = (side, spec, n, 1, "normal")
            value = reads(rows, key)
            cells.append("-" if value is None else f"{time_text(rows[key].seconds)} ({times(value)})")
            largest = key if value is not None else largest
        if largest is None:
            continue
        more = rows.get((*largest[:3], threads, "normal")) if threads > 1 else None
        seconds = rows[largest].seconds
        rate = f"{rows[largest].rate / 1e9:.3g}" if rows[largest].rate else "-"
        lines.append(line([side, f"`{spec}`", *cells, rate,
                           f"{seconds / more.seconds:.2f}x" if more and more.seconds > 0 else "-"]))
    return [line(titles), line(["---"] * len(titles)), *lines]


def yardstick_table(rows):
    lines = [line(["yardstick", "threads", *(f"{n:,}" for n in SIZES)]), line(["---"] * (2 + len(SIZES)))]
    for side, threads in sorted({(key[0], key[3]) for key in rows if key[0] in ("read", "memcpy")}):
        cells = []
        for n in SIZES:
            seconds = sorted(row.seconds for key, row in rows.items() if key[0] == side and key[2:] == (n, threads, "normal"))
            middle = seconds[len(seconds) // 2] if seconds else None
            cells.append(f"{time_text(middle)} ({4e-9 * n / middle:.3g} GB/s)" if middle else "-")
        lines.append(line(["read pass" if side == "read" else side, str(threads), *cells]))
    return lines


def peer_table(rows, answer):
    found = [(key[1], rows[key].seconds, reads(rows, key)) for key in rows if key[0] == "peer"]
    found += [(peer["name"], peer["seconds"], peer["reads"]) for peer in answer["peers"]]
    return [line(["what else one could use", "time", "reads"]), line(["---"] * 3),
            *(line([name, time_text(seconds), times(value)]) for name, seconds, value in sorted(found))]


def page(rows, context, answer, targets):
    threads = max(key[3] for key in rows)
    python = {peer["name"]: peer["reads"] for peer in answer["peers"]}
    table, missed = target_table(rows, python, targets, threads)
    noisy = sum(row.spread > NOISY for row in rows.values())
    built = ", ".join(f"{name} {version}" for name, version in answer["versions"].items())
    lines = [
        "# How fast the kernels are", "",
        f"{context['machine']}, {context['num_cpus']} cores, {context['simd']} instructions, {context['compiler']}, "
        f"{datetime.date.today()}; {built}. Made by `docs/kernels.py`, which times all of it in one run; run it to see your own machine.",
        "",
        "Times are medians of the repetitions: CPU time of one thread, wall time of several. **reads** is the time in read passes: one",
        "pass over the same vector that only adds it up, timed in turn with the row. Read those: times move with the neighbours on a",
        "shared machine, their ratio hardly does. A kernel that reads a large vector once cannot be much faster than 1. Rows are",
        f"ResNet-50's gradient ({LARGE:,} floats in 161 tensors, 102 MB) unless they say another size; decode is of one worker's",
        "payload, decode_next what each further worker's adds (four payloads less one, by three), both an encode and a decode. **best peer",
        "here** was timed in this run, **best known** elsewhere (AMD Zen 5, one core, AVX-512) in its own read passes; `~` marks a spread",
        "above 10 %.", "",
        f"{noisy} of {len(rows)} rows spread by more than 10 %." if noisy else "No row spread by more than 10 %.", "",
        "## Against the targets", "", *table, "",
        "Missed: " + "; ".join(missed) + "." if missed else "No target is missed.", "",
        "## What stands in the way", *OBSTACLES.splitlines(), "",
        "## By size", "",
        f"One thread: time and, in parentheses, read passes; GB/s of gradient and the gain of {threads} threads at the largest size.", "",
        *size_table(rows, threads), "", "## Yardsticks", "", *yardstick_table(rows), "",
        "## Peers", "", *peer_table(rows, answer)]
    if answer["skipped"]:
        lines += ["", "Left out: " + "; ".join(f"{name} ({why})" for name, why in answer["skipped"].items()) + "."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Times the kernels on this machine and writes docs/kernels.md.")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=ROOT / "build" / "release" / "bench")
    parser.add_argument("--quick", action="store_true", help="three repetitions")
    parser.add_argument("-o", dest="out", type=pathlib.Path, default=pathlib.Path(__file__).with_suffix(".md"))
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    if not (folder / "breakeven_bench").exists():
        sys.exit(f"kernels: {folder} holds no benchmark: build it with ./dev bench --benchmark_list_tests")
    targets = wanted(folder)
    say("timing the kernels")
    report = timed(folder, arguments.quick)
    say("timing numpy and torch")
    answer = json.loads(subprocess.run([sys.executable, ROOT / "bench" / "peers.py", folder / "yardstick.so"], check=True,
                                       stdout=subprocess.PIPE, text=True).stdout)
    arguments.out.write_text(page(rows_of(report), report["context"], answer, targets), encoding="utf-8")
    say(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
