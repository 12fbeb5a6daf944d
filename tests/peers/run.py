#!/usr/bin/env python3
"""Satchel beside its peers and a bare relay, in one run: the same stdio server behind each, the same clients in front.

`make bench PEERS=1` builds and installs what this needs. Rounds take the hubs in another order each; figures are medians
over the rounds, ratios are medians of the ratios within a round. Processor time is user and system time of the hub's own
processes, without the servers; memory is their PSS. On a busy machine, trust processor time and ratios, not milliseconds.
"""

import argparse
import json
import os
import statistics
import sys
import time

import hubs
from hubs import INSTALLED, UPSTREAM, McpHub, McpProxyPython, Relay, Satchel, SatchelExecute

ROWS = []


def note(hub, row, value, unit):
    ROWS.append({"hub": hub, "row": row, "value": value, "unit": unit, "round": OPTIONS.round})
    print(f"  {hub}: {row} {value:.3g} {unit}", flush=True)


def server(name="echo", tools=2):
    return [UPSTREAM, "--name", name, "--tools", str(tools)]


def fleet(many, tools):
    return {f"s{at:03}": server(f"s{at:03}", tools) for at in range(many)}


def per_call(hub, work):
    """What the hub spent on each of the calls, in microseconds, and what the client printed."""
    before = hub.cpu()
    got = work()
    return (hub.cpu() - before) * 1e6 / max(1, got["n"]), got


def calls(kind):
    with kind() as hub:
        hub.start({"echo": server()})
        hub.load("echo", calls=500)
        spent, got = per_call(hub, lambda: hub.load("echo", calls=2000))
        note(kind.name, "p50, 1 client", got["p50"], "ms")
        spent, got = per_call(hub, lambda: hub.load("echo", clients=32, seconds=OPTIONS.seconds, warm=5))
        note(kind.name, "CPU a call, 32 clients", spent, "µs")
        note(kind.name, "calls a second, 32 clients", got["rps"], "/s")


def big(kind):
    with kind() as hub:
        hub.start({"echo": server()})
        for size, many in ((1, 20), (8, 6)):
            hub.forget_peak()
            spent, got = per_call(hub, lambda: hub.load("echo", tool="big", arguments={"bytes": size << 20}, calls=many, warm=1))
            if got["n"] < many:
                continue
            note(kind.name, f"CPU of a result of {size} MiB", spent * many / (many + 1) / 1e3, "ms")
            note(kind.name, f"peak memory, results of {size} MiB", hub.peak(), "MB")


def start(kind):
    with kind() as hub:
        hub.start({"echo": server()})
        hub.stop()
        ports = []
        for _ in range(5):
            ports.append(hub.start({"echo": server()}, answers=False))
            hub.stop()
        note(kind.name, "start to open port", statistics.median(ports) * 1e3, "ms")


def listed(hub, server, **options):
    return hub.load(server, method="tools/list", pages=True, **options)


def until_listed(hub, wanted):
    end = time.time() + 240
    while time.time() < end:
        if sum(listed(hub, name, calls=1)["many"] for name in ([next(iter(hub.servers))] if hub.joins else hub.servers)) >= wanted:
            return
        time.sleep(0.3)
    raise RuntimeError(f"{hub.name} does not list {wanted} tools")


# Satchel gives its sentence model back when it was not needed for a minute.
REST = 75


def settle(hub):
    """Waits until it does nothing, for a minute at most: what discovery leaves to count is counted then."""
    end, before = time.time() + 60, -1.0
    while time.time() < end and hub.cpu() - before > 0.02:
        before = hub.cpu()
        time.sleep(3)


def wake(hub):
    for name in hub.servers:
        hub.load(name, calls=1)
    settle(hub)


def lists(kind):
    """20 servers of 50 tools: the list, and memory asleep and awake."""
    if kind in (Relay, SatchelExecute) or not (kind.joins or kind is McpProxyPython):
        return
    with kind() as hub:
        servers = fleet(20, 50)
        hub.start(servers)
        until_listed(hub, 1000)
        settle(hub)
        if kind.joins:
            got = listed(hub, "s000", calls=30, warm=2)
            note(kind.name, "list of 20 × 50 tools, p50", got["p50"], "ms")
        wake(hub)
        time.sleep(REST)
        note(kind.name, "memory, 20 servers awake", hub.memory(), "MB")
        if issubclass(kind, Satchel):
            hub.stop()
            hub.start(servers, answers=False)
            settle(hub)
            time.sleep(REST)
            note(kind.name, "memory, 20 servers asleep", hub.memory(), "MB")


def grow(kind):
    """Only Satchel: what grows with the number of servers, tools, lists and clients."""
    if kind is not Satchel:
        return
    spent = {}
    for many in (1, 100):
        with kind() as hub:
            hub.start(fleet(many, 2))
            until_listed(hub, many * 2)
            settle(hub)
            spent[many], _ = per_call(hub, lambda: hub.load("s000", clients=32, seconds=OPTIONS.seconds, warm=5))
    note(kind.name, "CPU a call, 100 servers ÷ 1", spent[100] / spent[1], "×")
    with kind() as hub:
        hub.start(fleet(200, 2))
        until_listed(hub, 400)
        wake(hub)
        time.sleep(REST)
        note(kind.name, "memory, 200 servers awake", hub.memory(), "MB")
    with kind() as hub:
        servers = fleet(20, 500)
        hub.start(servers)
        until_listed(hub, 10_000)
        settle(hub)
        before = hub.memory()
        listed(hub, "s000", calls=10)
        settle(hub)
        note(kind.name, "memory kept after ten lists of 10,000 tools", hub.memory() - before, "MB")
        hub.stop()
        note(kind.name, "start to open port, 10,000 tools", hub.start(servers, answers=False) * 1e3, "ms")
    with kind() as hub:
        hub.start({"echo": server()})
        auths = [hub.token(f"bench{at}") for at in range(10)]
        got = hub.load("echo", clients=500, seconds=4, warm=2, auths=auths, timeout=20)
        note(kind.name, "errors, 500 connections of 10 clients", got["errors"] / max(1, got["n"] + got["errors"]) * 100, "%")


MEASURES = {"calls": calls, "big": big, "start": start, "lists": lists, "grow": grow}
# Row, what it is divided by (nothing: as it is), goal.
GOALS = [
    (Satchel, "CPU a call, 32 clients", Relay, 2.0),
    (SatchelExecute, "CPU a call, 32 clients", Relay, 2.8),
    (Satchel, "calls a second, 32 clients", Relay, 0.6),
    (Satchel, "p50, 1 client", Relay, 1.5),
    (Satchel, "CPU of a result of 1 MiB", Relay, 2),
    (Satchel, "CPU of a result of 8 MiB", Relay, 2),
    (Satchel, "peak memory, results of 8 MiB", Relay, 2),
    (SatchelExecute, "peak memory, results of 8 MiB", Relay, 2),
    (Satchel, "list of 20 × 50 tools, p50", McpHub, 0.5),
    (Satchel, "memory, 20 servers asleep", None, 25),
    (Satchel, "memory, 20 servers awake", None, 40),
    (Satchel, "memory, 200 servers awake", None, 90),
    (Satchel, "memory kept after ten lists of 10,000 tools", None, 10),
    (Satchel, "CPU a call, 100 servers ÷ 1", None, 1.05),
    (Satchel, "start to open port", Relay, 3),
    (Satchel, "start to open port, 10,000 tools", None, 50),
    (Satchel, "errors, 500 connections of 10 clients", None, 0),
]


def by_round(hub, row):
    return {each["round"]: each["value"] for each in ROWS if each["hub"] == hub.name and each["row"] == row and each["value"] is not None}


def figure(hub, row, base):
    ours = by_round(hub, row)
    if base is None:
        return statistics.median(ours.values()) if ours else None
    theirs = by_round(base, row)
    ratios = [ours[at] / theirs[at] for at in ours if theirs.get(at)]
    return statistics.median(ratios) if ratios else None


def table():
    print("\n| | measured | goal |\n|---|---|---|")
    for hub, row, base, goal in GOALS:
        found = figure(hub, row, base)
        if found is None and OPTIONS.measures:
            continue
        unit = next((each["unit"] for each in ROWS if each["row"] == row), "")
        measured = "not measured" if found is None else f"{found:.2f}" if base else f"{found:.3g} {unit}"
        divided = f" ÷ {base.name}" if base else ""
        print(f"| {hub.name}: {row}{divided} | {measured} | {'≥' if 'a second' in row else '≤'} {goal} |")
    print("\n| hub | " + " | ".join(rows := list(dict.fromkeys(each["row"] for each in ROWS))) + " |\n|---|" + "---|" * len(rows))
    for kind in INSTALLED:
        cells = (figure(kind, row, None) for row in rows)
        print(f"| {kind.name} | " + " | ".join("" if cell is None else f"{cell:.3g}" for cell in cells) + " |")


def main():
    chosen = [kind for kind in INSTALLED if not OPTIONS.hubs or any(word in kind.name for word in OPTIONS.hubs.split(","))]
    for OPTIONS.round in range(OPTIONS.rounds):
        for name in OPTIONS.measures or MEASURES:
            print(f"{name}, round {OPTIONS.round + 1} of {OPTIONS.rounds}, load {os.getloadavg()[0]:.1f}", flush=True)
            turn = OPTIONS.round * 3 % len(chosen)
            for kind in chosen[turn:] + chosen[:turn]:
                try:
                    MEASURES[name](kind)
                except Exception as error:  # A peer that fails must not end the run.
                    print(f"  {kind.name}: not measured: {str(error)[-300:]}", file=sys.stderr, flush=True)
    table()
    if OPTIONS.out:
        with open(OPTIONS.out, "w") as out:
            json.dump(ROWS, out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measures", nargs="*", help=", ".join(MEASURES) + "; all of them without")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10, help="of each measure with many clients")
    parser.add_argument("--hubs", default="", help="parts of names, with commas between")
    parser.add_argument("--out", help="a file for all figures, as JSON")
    OPTIONS = parser.parse_args()
    unknown = set(OPTIONS.measures) - set(MEASURES)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    main()
