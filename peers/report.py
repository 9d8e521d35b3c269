#!/usr/bin/env python3
"""Tables from the initiator's JSON lines: medians over runs, and ratios to the floor that waits the same way."""
import json
import sys
from statistics import median

# A virtual machine's host moves the cores: together, a cache line goes there and back in some 60 ns;
# apart, in 300. Every round trip moves with that, so rows are grouped by it.
FAR_NS = 150
PERCENTILES = ["p50", "p90", "p99", "p99.9", "p99.99", "max"]
# What answers without an engine, by how it waits.
FLOORS = {"spins": "raw", "sleeps": "raw-block"}


def micros(nanos):
    return f"{nanos / 1e3:.1f}" if nanos < 1e6 else f"{nanos / 1e3:.0f}"


def load(paths):
    rows = []
    for path in paths:
        with open(path) as lines:
            rows.extend(json.loads(line) for line in lines)
    for row in rows:
        low, high = min(row["distance_ns"]), max(row["distance_ns"])
        row["cores"] = "" if low == 0 else "near" if high < FAR_NS else "far" if low >= FAR_NS else "moved"
    return rows


def live():
    for line in sys.stdin:
        row = json.loads(line)
        phase = f"{row['rate']}/s" if row["phase"] == "rate" else row["phase"]
        times = "  ".join(f"{name} {micros(row[name]):>7}" for name in PERCENTILES)
        print(
            f"{row['peer']:>16} {row['mode']:<11} {row['waits']:<6} {phase:>9} run {row['run']}  {times}"
            f"  {row['achieved']:>9.0f}/s  errors {row['errors']}",
            flush=True,
        )


def table(title, rows, throughput=False):
    """One table for spinning acceptors and one for sleeping ones."""
    rows = [row for row in rows if row["cores"] != "moved"]
    for waits, floor_name in FLOORS.items():
        groups = {}
        for row in rows:
            if row["waits"] == waits:
                groups.setdefault((row["peer"], row["mode"], row["cores"]), []).append(row)
        if not groups:
            continue
        print(f"\n### {title}: acceptors that {'spin' if waits == 'spins' else 'sleep'}\n")
        print("| acceptor | mode | cores | " + " | ".join(f"{name} µs" for name in PERCENTILES)
              + " | p50 to floor | p99 to floor | answers/s | runs | errors |")
        print("| --- | --- | --- |" + " ---: |" * (len(PERCENTILES) + 5))
        middle = {
            group: {name: median(row[name] for row in found) for name in PERCENTILES + ["achieved"]}
            for group, found in groups.items()
        }
        order = sorted(groups, key=lambda group: -middle[group]["achieved"] if throughput else middle[group]["p50"])
        for group in order:
            peer, mode, cores = group
            own, floor, found = middle[group], middle.get((floor_name, "memory", cores)), groups[group]
            ratios = ["", ""]
            if floor and throughput:
                ratios = [f"{own['achieved'] / floor['achieved']:.2f} of its answers/s", ""]
            elif floor:
                ratios = [f"{own[name] / floor[name]:.2f}" for name in ("p50", "p99")]
            rate = found[0]["rate"]
            late = " (cannot keep up)" if rate and own["achieved"] < 0.98 * rate else ""
            print(f"| {peer} | {mode} | {cores} | " + " | ".join(micros(own[name]) for name in PERCENTILES)
                  + f" | {ratios[0]} | {ratios[1]} | {own['achieved']:.0f}{late} | {len(found)}"
                  + f" | {sum(row['errors'] for row in found)} |")


def main():
    if sys.argv[1:] == ["--live"]:
        return live()
    rows = load(sys.argv[1:])
    table("One order outstanding", [row for row in rows if row["phase"] == "ping-pong"])
    for rate in sorted({row["rate"] for row in rows if row["phase"] == "rate"}):
        table(f"{rate}/s, from the time an order was due", [row for row in rows if row["rate"] == rate])
    table("256 orders outstanding, written 32 at a time", [row for row in rows if row["phase"] == "flood"], True)
    moved = sum(row["cores"] == "moved" for row in rows)
    if moved:
        print(f"\n{moved} of {len(rows)} runs are left out: the host moved the cores during them")


main()
