#!/usr/bin/env python3
"""What gradient compression costs on this GPU (or CPU), as PyTorch users get it.

Times encode and decode of the schemes that breakeven knows, by gradient size, and writes a codec profile:

    python3 measure.py --name a100-torch --device-profile a100-80gb -o a100.json
    breakeven query ... --codec a100.json --scheme powersgd:rank=4

The casts and PowerSGD are DDP's own communication hooks; the all-reduce inside them is replaced by one that
returns at once, so that only their code is timed. The rest are the PyTorch operations that such codes are written
with (torch.topk, packed signs, quantisers). Needs nothing but PyTorch, 1.13 or newer.
"""
import argparse
import datetime
import json
import math
import os
import platform
import statistics
import sys
import tempfile
import time

import torch
import torch.distributed
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook

WORKERS = 4  # payloads of a gathered exchange whose decoding is timed; the first and each further one are told apart


class Clock:
    """Wall time between marks, the device idle at each."""

    def __init__(self, device):
        self.device = device
        self.marks = []

    def mark(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        self.marks.append(time.perf_counter())


# --- DDP's hooks -------------------------------------------------------------------------------------------------


class Group:
    """As much of a process group as the hooks ask for."""

    def size(self):
        return 1


class Bucket:
    """As much of a DDP bucket as the hooks ask for: one message of given shapes."""

    def __init__(self, shapes, device):
        self.flat = torch.randn(sum(math.prod(shape) for shape in shapes), device=device)
        self.views, begin = [], 0
        for shape in shapes:
            size = math.prod(shape)
            self.views.append(self.flat[begin:begin + size].view(shape))
            begin += size

    def buffer(self):
        return self.flat

    def gradients(self):
        return self.views

    def parameters(self):
        return self.views

    def index(self):
        return 0

    def is_last(self):
        return True


class Hook:
    """A DDP hook, its collectives marked and left out. Encode is all that comes before the last of them."""

    def __init__(self, hook, state, device):
        self.hook, self.state, self.device = hook, state, device

    def times(self, bucket):
        clock, device = Clock(self.device), self.device

        def all_reduce(tensor, *_, **__):
            clock.mark()
            future = torch.futures.Future(devices=[device]) if device.type == "cuda" else torch.futures.Future()
            future.set_result([tensor])

            class Done:
                def get_future(self):
                    return future

                def wait(self):
                    return True

            clock.mark()
            return Done()

        real, torch.distributed.all_reduce = torch.distributed.all_reduce, all_reduce
        try:
            clock.mark()
            self.hook(self.state, bucket).wait()
            clock.mark()
        finally:
            torch.distributed.all_reduce = real
        marks = clock.marks  # start, (before, after) each all-reduce, end
        work = [end - begin for begin, end in zip(marks[0::2], marks[1::2])]
        return sum(work[:-1]), work[-1]


def matrix(n):
    """About n elements as PowerSGD sees a layer: a matrix that is nearly square."""
    rows = 2 ** (int(math.log2(n)) // 2)
    return (rows, max(n // rows, 1))


class PowerSGD:
    gathered = False

    def __init__(self, rank):
        self.spec = "powersgd" if rank == 1 else f"powersgd:rank={rank}"
        self.rank = rank

    def codes(self, n):
        """Whether the hook takes a matrix of this size for worth it (its min_compression_rate is 2)."""
        rows, cols = matrix(n)
        return (rows + cols) * self.rank * 2 < rows * cols

    def prepare(self, n, device):
        self.bucket = Bucket([matrix(n)], device)
        state = powerSGD_hook.PowerSGDState(
            process_group=Group(), matrix_approximation_rank=self.rank, start_powerSGD_iter=2)
        self.hook = Hook(powerSGD_hook.powerSGD_hook, state, device)
        for _ in range(3):  # it starts with plain all-reduces
            self.hook.times(self.bucket)

    def step(self):
        encode, decode = self.hook.times(self.bucket)
        return encode, decode, None


class Cast:
    gathered = False

    def codes(self, _):
        return True

    def __init__(self, spec, hook):
        self.spec, self.hook_function = spec, hook

    def prepare(self, n, device):
        self.bucket = Bucket([(n,)], device)
        self.hook = Hook(self.hook_function, Group(), device)

    def step(self):
        encode, decode = self.hook.times(self.bucket)
        return encode, decode, None


# --- codes written with PyTorch's operations ----------------------------------------------------------------------


class Gathered:
    """encode() gives the payload; decode(payloads) gives the mean of all. Timed with one payload and with several."""

    gathered = True

    def codes(self, _):
        return True

    def prepare(self, n, device):
        self.device, self.n = device, n
        self.gradient = torch.randn(n, device=device)
        self.residual = torch.zeros(n, device=device)

    def step(self):
        clock = Clock(self.device)
        clock.mark()
        payload = self.encode()
        clock.mark()
        self.decode([payload])
        clock.mark()
        self.decode([payload] * WORKERS)
        clock.mark()
        start, encoded, one, several = clock.marks
        return encoded - start, one - encoded, max(0.0, ((several - one) - (one - encoded)) / (WORKERS - 1))

    def with_feedback(self):
        return self.gradient + self.residual


class TopK(Gathered):
    def __init__(self, ratio):
        self.ratio, self.spec = ratio, f"topk:ratio={ratio * 100:g}%" if ratio != 0.01 else "topk"

    def encode(self):
        corrected = self.with_feedback()
        k = max(1, int(self.ratio * self.n))
        _, positions = torch.topk(corrected.abs(), k, sorted=False)
        values = corrected[positions]
        self.residual = corrected
        self.residual[positions] = 0
        return values, positions

    def decode(self, payloads):
        total = torch.zeros(self.n, device=self.device)
        for values, positions in payloads:
            total.index_add_(0, positions, values)
        return total.div_(len(payloads))


class RandomK(Gathered):
    """All workers draw the same positions: one sum comes back, so that there is no second payload to decode."""

    gathered = False
    spec = "randomk"

    def encode(self):
        corrected = self.with_feedback()
        self.positions = torch.randint(0, self.n, (max(1, self.n // 100),), device=self.device)
        values = corrected[self.positions]
        self.residual = corrected
        self.residual[self.positions] = 0
        return values

    def decode(self, payloads):
        total = torch.zeros(self.n, device=self.device)
        total[self.positions] = payloads[0] / len(payloads)
        return total


def pack_signs(values):
    """32 signs a word, with PyTorch's own operations: it has no packing kernel."""
    bits = torch.nn.functional.pad((values >= 0).to(torch.int32), (0, -values.numel() % 32)).view(-1, 32)
    return (bits << torch.arange(32, dtype=torch.int32, device=values.device)).sum(dim=1, dtype=torch.int32)


def unpack_signs(words, n):
    bits = (words.unsqueeze(1) >> torch.arange(32, dtype=torch.int32, device=words.device)) & 1
    return bits.view(-1)[:n]


class SignSGD(Gathered):
    spec = "signsgd"

    def encode(self):
        return pack_signs(self.gradient)

    def decode(self, payloads):
        votes = torch.zeros(self.n, dtype=torch.int32, device=self.device)
        for words in payloads:
            votes += unpack_signs(words, self.n)
        return (2 * votes >= len(payloads)).to(torch.float32).mul_(2).sub_(1)


class Qsgd(Gathered):
    spec, bucket, levels = "qsgd", 128, 127

    def encode(self):
        blocks = torch.nn.functional.pad(self.gradient, (0, -self.n % self.bucket)).view(-1, self.bucket)
        norms = blocks.norm(dim=1, keepdim=True)
        scaled = blocks.abs() / norms.clamp_min(1e-30) * self.levels
        lower = scaled.floor()
        drawn = lower + (torch.rand_like(scaled) < scaled - lower)
        return (drawn * blocks.sign()).to(torch.int8), norms

    def decode(self, payloads):
        total = torch.zeros(self.n, device=self.device)
        for levels, norms in payloads:
            total += (levels.to(torch.float32) * (norms / self.levels)).view(-1)[:self.n]
        return total.div_(len(payloads))


class TernGrad(Gathered):
    spec = "terngrad"

    def encode(self):
        clip = 2.5 * self.gradient.std(unbiased=False)
        clipped = self.gradient.clamp(-clip, clip)
        scale = clipped.abs().max()
        kept = torch.rand_like(clipped) * scale < clipped.abs()
        return (clipped.sign() * kept).to(torch.int8), scale

    def decode(self, payloads):
        total = torch.zeros(self.n, device=self.device)
        for signs, scale in payloads:
            total += signs.to(torch.float32) * scale
        return total.div_(len(payloads))


class BlockScaled(Gathered):
    """Minimum and step for every block of 512; two 4-bit codes share a byte."""

    def __init__(self, bits):
        self.bits, self.spec = bits, f"int{bits}"

    gathered = False  # all-to-all of chunks: what is decoded is as much as one payload of the whole message

    def encode(self):
        blocks = torch.nn.functional.pad(self.gradient, (0, -self.n % 512)).view(-1, 512)
        low = blocks.amin(dim=1, keepdim=True)
        step = (blocks.amax(dim=1, keepdim=True) - low) / (2 ** self.bits - 1)
        codes = ((blocks - low) / step.clamp_min(1e-30)).round().to(torch.uint8)
        if self.bits == 4:
            codes = codes[:, 0::2] | (codes[:, 1::2] << 4)
        return codes, low, step

    def decode(self, payloads):
        codes, low, step = payloads[0]
        if self.bits == 4:
            codes = torch.stack((codes & 15, codes >> 4), dim=2).view(codes.shape[0], -1)
        return (codes.to(torch.float32) * step + low).view(-1)[:self.n]


def schemes():
    return [
        Cast("fp16", default_hooks.fp16_compress_hook), Cast("bf16", default_hooks.bf16_compress_hook),
        TopK(0.001), TopK(0.01), TopK(0.1), RandomK(), PowerSGD(1), PowerSGD(2), PowerSGD(4), PowerSGD(8),
        SignSGD(), Qsgd(), TernGrad(), BlockScaled(8), BlockScaled(4),
    ]


# --- measuring ----------------------------------------------------------------------------------------------------


def measure(scheme, n, device, repeats):
    """Medians of encode, decode and each further payload, and the relative spread of the steps."""
    scheme.prepare(n, device)
    for _ in range(3):
        scheme.step()
    steps = [scheme.step() for _ in range(repeats)]
    encode, decode = (statistics.median(step[side] for step in steps) for side in (0, 1))
    more = statistics.median(step[2] for step in steps) if scheme.gathered else None
    totals = sorted(step[0] + step[1] for step in steps)
    quartiles = statistics.quantiles(totals, n=4)
    return encode, decode, more, (quartiles[2] - quartiles[0]) / 2 / statistics.median(totals)


def seconds(value):
    return f"{value * 1e6:.4g} us"


def measure_all(args, device):
    rows = []
    for scheme in schemes():
        if args.schemes and scheme.spec not in args.schemes:
            continue
        row = {"scheme": scheme.spec, "encode": [], "decode": []}
        if scheme.gathered:
            row["decode_next"] = []
        spreads = []
        for n in filter(scheme.codes, args.elements):
            encode, decode, more, spread = measure(scheme, n, device, args.repeats)
            row["encode"].append([n, seconds(encode)])
            row["decode"].append([n, seconds(decode)])
            if more is not None:
                row["decode_next"].append([n, seconds(more)])
            spreads.append(spread)
            print(f"{scheme.spec:18} {n:>11,} elements  encode {seconds(encode):>12}  decode {seconds(decode):>12}"
                  f"  spread {spread:.1%}", file=sys.stderr)
        if spreads:
            row["spread"] = f"{min(max(spreads), 1) * 100:.2g}%"
            rows.append(row)
    return rows


def profile(args, device, rows):
    machine = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    return {
        "schema": 1,
        "name": args.name,
        "summary": f"PyTorch {torch.__version__} on {machine}: DDP's hooks and torch operations",
        "source": f"bench/gpu/measure.py, median of {args.repeats} steps, warm, the device idle before each part",
        "device": args.device_profile,
        "origin": "measured",
        "conditions": {
            "machine": machine,
            "date": datetime.date.today().isoformat(),
            "compiler": f"PyTorch {torch.__version__}" + (f", CUDA {torch.version.cuda}" if torch.version.cuda else ""),
            "threads": "1 stream" if device.type == "cuda" else str(torch.get_num_threads()),
            "caches": "warm",
        },
        "costs": rows,
    }


def text_of(profile_object):
    """JSON, a curve a line."""
    costs = profile_object.pop("costs")
    rows = ",\n".join("    {\n" + ",\n".join(f'      "{key}": {json.dumps(value)}' for key, value in row.items()) +
                      "\n    }" for row in costs)
    head = json.dumps(profile_object, indent=2, ensure_ascii=False)
    return head[:-2] + ',\n  "costs": [\n' + rows + "\n  ]\n}\n"


def write_whole(text, path):
    """The file appears whole or not at all."""
    if path == "-":
        sys.stdout.write(text)
        return
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu",
                        help="where to run: cuda, cuda:1, cpu (default: the GPU where there is one)")
    parser.add_argument("--device-profile", default=None,
                        help="the device as breakeven knows it (breakeven list devices); default: cpu on a CPU")
    parser.add_argument("--name", default="measured", help="name of the profile")
    parser.add_argument("--elements",
                        help="gradient sizes, rising, separated by commas (default: 16 Ki to 64 Mi, on a CPU to 4 Mi)")
    parser.add_argument("--schemes", nargs="+", metavar="SCHEME", help="only these, as the profile names them")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("-o", "--output", default="-", help="the profile (default: standard output)")
    args = parser.parse_args()
    known = [scheme.spec for scheme in schemes()]
    for spec in args.schemes or []:
        if spec not in known:
            parser.error(f"unknown scheme {spec}: expected one of {', '.join(known)}")
    if args.elements is None:
        args.elements = "16384,262144,4194304" + ("" if args.device.startswith("cpu") else ",67108864")
    try:
        args.elements = [int(text) for text in args.elements.split(",")]
    except ValueError:
        parser.error("--elements: expected whole numbers separated by commas")
    if args.elements != sorted(set(args.elements)) or args.elements[0] < 64:
        parser.error("--elements: expected rising numbers from 64")
    if args.repeats < 3:
        parser.error("--repeats: expected at least 3")
    if args.device_profile is None:
        if not args.device.startswith("cpu"):
            parser.error("--device-profile: expected the device's name in breakeven, such as a100-80gb")
        args.device_profile = "cpu"
    return args


def main():
    args = arguments()
    device = torch.device(args.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        sys.exit("measure.py: error: no GPU that PyTorch can use: expected --device cpu, or a machine with one")
    torch.manual_seed(1)
    with torch.no_grad():
        rows = measure_all(args, device)
    if not rows:
        sys.exit("measure.py: error: --elements: nothing to code at these sizes: expected larger ones")
    write_whole(text_of(profile(args, device, rows)), args.output)


if __name__ == "__main__":
    main()
