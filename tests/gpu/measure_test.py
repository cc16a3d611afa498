#!/usr/bin/env python3
"""Does bench/gpu/measure.py write a profile that the program predicts from?  measure_test.py SCRIPT PROGRAM

Runs it on the CPU, on small gradients. Ends with 77 (skipped) where no Python here has PyTorch.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77


def python_with_torch():
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode == 0:
            return python
    print("skipped: no PyTorch here (Debian: python3-torch)")
    sys.exit(SKIPPED)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def expect(holds, what):
    if not holds:
        sys.exit(f"failed: {what}")


def main():
    script, program = sys.argv[1:]
    measure = [python_with_torch(), script, "--device", "cpu"]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "costs.json"
        made = run(*measure, "--elements", "1024,8192", "--repeats", "3", "--name", "mine", "-o", str(path))
        expect(made.returncode == 0, made.stderr)
        rows = {row["scheme"]: row for row in json.loads(path.read_text())["costs"]}
        for scheme in ("fp16", "bf16", "topk", "powersgd", "powersgd:rank=4", "signsgd", "qsgd", "int8", "int4"):
            expect(scheme in rows, f"no row for {scheme}")
            expect([n for n, _ in rows[scheme]["encode"]] == [1024, 8192], f"the sizes of {scheme}")
        # 32 x 32 at rank 8 is not worth it to the hook: nothing to time.
        expect([n for n, _ in rows["powersgd:rank=8"]["encode"]] == [8192], "a size that is not coded")
        asked = run(program, "query", "--model", "resnet50", "--device", "cpu", "--forward", "1s", "--backward", "2s",
                    "--workers", "4", "--bandwidth", "10Gbps", "--codec", str(path), "--format", "json",
                    *(f"--scheme={scheme}" for scheme in rows))
        expect(asked.returncode == 0, asked.stderr)
        for row in json.loads(asked.stdout)["schemes"]:
            expect(row["scheme"] not in rows or row["codec_origin"] == "measured", f"{row['scheme']} is not measured")

        for arguments, word in ((["--elements", "8,4"], "--elements"), (["--schemes", "nosuch"], "unknown scheme"),
                                (["--repeats", "1"], "--repeats"), (["--elements", "x"], "--elements")):
            refused = run(*measure, *arguments, "-o", str(path.with_name("none.json")))
            expect(refused.returncode == 2 and word in refused.stderr, f"{arguments} is not refused: {refused.stderr}")
        expect(not path.with_name("none.json").exists(), "a refused run left a file")


if __name__ == "__main__":
    main()
