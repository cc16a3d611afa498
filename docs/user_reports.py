#!/usr/bin/env python3
"""Asks breakeven about setups that people reported in public, and writes docs/user-reports.md.

usage: docs/user_reports.py PROGRAM [--check]

One command a row, made from what the report states by the same rules for every row: nothing is tuned. The scaling of N workers is
N times the step without a network over the step with it. --check only says whether the page is up to date.
"""
import json
import pathlib
import shlex
import subprocess
import sys

import page

PAGE = pathlib.Path(__file__).with_name("user-reports.md")
PYTORCH, HF, HOROVOD = ("https://github.com/" + name for name in
                        ("pytorch/pytorch", "huggingface/transformers", "horovod/horovod"))

# id, where, setup in words, options, workers, samples of one worker in a step, what was reported, how to read a prediction in the
# same unit, remark
HOOK = "--placement blocking --scheme powersgd"
ROWS = [
    ("B1a", PYTORCH + "/issues/74148", "ResNet-50, 2 x 2 V100, 3 Gbit/s, PowerSGD",
     "--model resnet50 --device v100 --workers 4 --workers-per-node 2 --bandwidth 3Gbps " + HOOK,
     4, None, 3.5, "scaling powersgd", "batch not stated: that of the measured step (32); rank not stated: PyTorch's 1. Its hook waits for every bucket"),
    ("B1b", PYTORCH + "/issues/74148", "the same, 3 nodes",
     "--model resnet50 --device v100 --workers 6 --workers-per-node 2 --bandwidth 3Gbps " + HOOK,
     6, None, 5.23, "scaling powersgd", ""),
    ("B1c", PYTORCH + "/issues/74148", "the same, 4 nodes",
     "--model resnet50 --device v100 --workers 8 --workers-per-node 2 --bandwidth 3Gbps " + HOOK,
     8, None, 5.46, "scaling powersgd", "the fourth node is not like the others: 8 GPUs that exchange no P and Q (B1d) lose more than 6 that do"),
    ("B34", HF + "/issues/3274", "BERT-base, 2 x 4 V100, 40 GbE; 0.5 s a step on one node",
     "--model bert-base --device v100 --forward 167ms --backward 333ms --workers 8 --workers-per-node 4 --fabric ethernet-40g "
     "--scheme fp16", 8, None, 4.0, "seconds", "the reporter's network carried 1 of its 40 Gbit/s"),
    ("B34", HF + "/issues/3274", "the same at the 1 Gbit/s that the report implies",
     "--model bert-base --device v100 --forward 167ms --backward 333ms --workers 8 --workers-per-node 4 --bandwidth 1Gbps "
     "--scheme fp16", 8, None, 4.0, "seconds", ""),
    ("B35", HOROVOD + "/issues/659", "ResNet-101, 2 x RTX 2080, 10 GbE; 172 img/s alone",
     "--model resnet101 --throughput 172/s --batch 64 --workers 2 --fabric ethernet-10g --scheme fp16",
     2, 64, 291, "samples", "batch 64 assumed by the report; its NIC carried 3.8 Gbit/s on average"),
    ("B48", "https://github.com/tensorflow/benchmarks/issues/29", "ResNet-50, 2 x 4 M40, 9.3 Gbit/s by iperf; 111 img/s alone",
     "--model resnet50 --throughput 111/s --batch 64 --workers 8 --workers-per-node 4 --bandwidth 9.3Gbps --intra-bandwidth 12GB/s "
     "--scheme fp16", 8, 64, 561, "samples", "432 img/s on one node of 4: most is lost inside the node"),
    *[(f"B55{letter}", HOROVOD + "/issues/396", f"ResNet-50, {nodes} x 8 V100, 25 Gbit/s; 2697 img/s on one node",
       f"--model resnet50 --throughput 337/s --batch 64 --device v100 --workers {8 * nodes} --workers-per-node 8 --bandwidth 25Gbps "
       "--scheme fp16", 8 * nodes, 64, reported, "samples", "batch not stated: 64" if nodes == 2 else "")
      for letter, nodes, reported in (("a", 2, 2632.95), ("b", 4, 4772.04), ("c", 8, 9745.38))],
    *[(f"B56{letter}", HOROVOD + f"/issues/{issue}", f"ResNet-50, {nodes} x 8 V100, 25 Gbit/s; {one} img/s on one node",
       f"--model resnet50 --throughput {one / 8:.0f}/s --batch 64 --device v100 --workers {8 * nodes} --workers-per-node 8 "
       "--bandwidth 25Gbps --scheme fp16", 8 * nodes, 64, reported, "samples", remark)
      for letter, issue, nodes, one, reported, remark in (("a", 779, 2, 6679, 12828, "batch not stated: 64"),
                                                          ("b", 779, 16, 6679, 89783, ""), ("c", 871, 4, 6001.19, 18695, "real data"))],
    *[(f"B58{letter}", HOROVOD + "/pull/44", f"{name}, 4 x 4 P100, 25 Gbit/s {kind}; {one} img/s alone",
       f"--model {model} --throughput {one}/s --batch 64 --workers 16 --workers-per-node 4 --fabric {fabric} --bandwidth 25Gbps "
       "--intra-bandwidth 12GB/s --scheme fp16", 16, 64, reported, "samples", "")
      for letter, name, model, one, kind, fabric, reported in (
          ("a", "ResNet-101", "resnet101", 119.4, "TCP", "ethernet-25g", 1685.1),
          ("b", "ResNet-101", "resnet101", 119.4, "RDMA", "infiniband-40g", 1746.2),
          ("e", "Inception v3", "inception_v3", 134.4, "TCP", "ethernet-25g", 1990.7),
          ("f", "Inception v3", "inception_v3", 134.4, "RDMA", "infiniband-40g", 2022.6))],
]

LEFT_OUT = [
    ("B1d", "a diagnostic run without PowerSGD's all-reduces: no setup that can be trained"),
    ("B12", "no model, no cluster"), ("B14a", "no number of GPUs, no compute time"), ("B17", "one worker; GPU and data set not stated"),
    ("B19", "no network"), ("B44", "no network; ZeRO-3"), ("B70", "no setup"),
]


def predict(program, options, workers, samples, how):
    command = [program, "query", "-q", "--format", "json", *shlex.split(options)]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    step = answer["plain"]["step_s"]
    if how == "scaling powersgd":
        step = next(row["step_s"] for row in answer["schemes"] if row["scheme"].startswith("powersgd"))
        return workers * answer["bound"]["step_s"] / step
    return step if how == "seconds" else workers * samples / step


def shown(value, how):
    unit = {"seconds": " s a step", "samples": " img/s", "scaling powersgd": "x"}[how]
    return (f"{value:.2f}" if value < 100 else f"{value:.0f}") + unit


def content(program):
    lines = ["# What people reported, and what is predicted", "",
             "Outcomes that people posted in public, each asked as one command. Options are what the report states; what it leaves out is filled by",
             "the same rules for every row (the remark says so), and nothing is tuned per row. The reports' links were shared, shaped, or",
             "misconfigured in ways no report states, so the misses are shown rather than explained away. Made by",
             "`docs/user_reports.py`; a test keeps it up to date.", "",
             "| report | setup | reported | predicted | ratio | remark |", "| --- | --- | --- | --- | --- | --- |"]
    commands = []
    for name, url, setup, options, workers, samples, reported, how, remark in ROWS:
        value = predict(program, options, workers, samples, how)
        lines.append(f"| [{name}]({url}) | {setup} | {shown(reported, how)} | {shown(value, how)} | {value / reported:.2f} | {remark} |")
        commands.append(f"# {name}: {setup}\nbreakeven query {options}")
    lines += ["", "## The commands", "", "```sh", *commands, "```", "", "## Reports that state too little", ""]
    lines += [f"- {name}: {why}" for name, why in LEFT_OUT]
    return "\n".join(lines) + "\n"


def main():
    page.write_or_check(PAGE, content(sys.argv[1]))


if __name__ == "__main__":
    main()
