#!/usr/bin/env python3
"""Measures the servers of the bundled list: starts each really, once, behind a hub of its own, and writes down its tools
and tokens as Satchel counts them, and its licence and page as its registry tells them.

    scripts/listing.py [--newest] [--check] [ID…]

Without ids: those that have not been measured at the version that stands there. --newest first moves each to the newest
version of its package. --check writes nothing and fails where a figure differs. What a person would be asked for is given
a value that opens nothing; a server that does not start with it keeps no figures.

Needs the command line (`cargo build`), and npx or uvx for what they start. Fetches packages from npm and PyPI into a
directory that is deleted after each server.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "crates/satchel-listings/src/registry/bundled.json"
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
SATCHEL = pathlib.Path(os.environ.get("SATCHEL", TARGET / "debug/satchel"))
# The first start fetches the package.
SECONDS = 300
# Of a tool's description the first sentence, and no more than this.
ABOUT = 120
# Values that open nothing, where a server looks at their form.
PRETENDED = {
    "DSN": "sqlite:///:memory:",
    "ES_URL": "http://127.0.0.1:1",
    "ARGOCD_BASE_URL": "http://127.0.0.1:1",
    "N8N_API_URL": "http://127.0.0.1:1",
    "QDRANT_URL": "http://127.0.0.1:1",
    "REDIS_HOST": "127.0.0.1",
    "SITE": "https://example.atlassian.net",
    "EMAIL": "nobody@example.com",
    "BACKLOG_DOMAIN": "example.backlog.com",
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_TEAM_ID": "T01",
    "GITLAB_API_URL": "https://gitlab.com/api/v4",
    "NOTION_TOKEN": "ntn_x",
    "TAVILY_API_KEY": "tvly-x",
    "FIRECRAWL_API_KEY": "fc-x",
    "AIRTABLE_API_KEY": "pat.x",
    "MAPBOX_ACCESS_TOKEN": "pk.eyJ1IjoieCJ9.x",
    "MDB_MCP_CONNECTION_STRING": "mongodb://127.0.0.1:1/x",
}


class Missing(Exception):
    """It cannot be measured, and why."""


def package(entry):
    """The place among the arguments that names the package, and the package without its version."""
    target = entry["target"]
    if target["kind"] != "command" or target["command"] not in ("npx", "uvx"):
        return None, None
    at = next(at for at, word in enumerate(target["args"]) if not word.startswith("-"))
    return at, re.sub(r"(?<=.)@[^@/]*$", "", target["args"][at])


def ran(command, cwd=None):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        raise Missing((done.stderr or done.stdout).strip().splitlines()[-1])
    return done.stdout


def told(entry, version):
    """What the registry says of the package: version, licence, page and what speaks against it."""
    _, name = package(entry)
    of = f"{name}@{version}" if version else name
    if entry["target"]["command"] == "npx":
        about = json.loads(ran(["npm", "view", of, "--json", "name", "version", "license", "repository.url", "deprecated"]))
        return {"version": about["version"], "license": about.get("license"), "page": about.get("repository.url"), "against": about.get("deprecated")}
    report = ["--quiet", "--dry-run", "--no-deps", "--ignore-installed", "--disable-pip-version-check", "--report", "-"]
    pinned = f"{name}=={version}" if version else name
    about = json.loads(ran([sys.executable, "-m", "pip", "install", *report, pinned]))["install"][0]["metadata"]
    pages = dict(url.split(", ", 1) for url in about.get("project_url", []))
    pages = {name.lower(): page for name, page in pages.items()}
    page = next((pages[name] for name in ("repository", "source", "source code", "github", "homepage") if name in pages), about.get("home_page"))
    license = about.get("license_expression") or classified(about) or first_line(about.get("license"))
    return {"version": about["version"], "license": license, "page": page, "against": None}


def classified(about):
    known = [text.rsplit(" :: ", 1)[-1] for text in about.get("classifier", []) if text.startswith("License :: OSI")]
    return known[0] if known else None


def first_line(text):
    line = (text or "").strip().splitlines()[:1]
    return line[0] if line and len(line[0]) < 40 else None


def licence(text):
    """A name of one, or nothing: some only say which file to read."""
    return None if not text or text.upper().startswith("SEE ") else text


def page_of(address):
    """An address that a browser opens, or nothing."""
    address = re.sub(r"^git\+|\.git$", "", address or "").replace("ssh://git@github.com/", "https://github.com/")
    address = re.sub(r"^git(@github\.com:|://github\.com/)", "https://github.com/", address)
    return address if address.startswith("https://") else None


def first_sentence(text):
    text = " ".join(text.split())
    sentence = re.split(r"(?<=[a-z)\]`\"'])\.(?:\s|$)|:\s*$", text, maxsplit=1)[0]
    return sentence if len(sentence) <= ABOUT else sentence[: ABOUT - 1].rsplit(" ", 1)[0] + "…"


def claim(nature):
    return nature["effect"] if nature["stated"] else "unstated"


class Hub:
    """A hub with one server, in a home that goes with it."""

    def __init__(self, entry):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="satchel-listing-"))
        given = {need["name"]: self.given(need) for need in entry["needs"]}
        fill = lambda text: re.sub(r"\{(\w+)\}", lambda found: given.get(found[1], found[0]), text)
        target = entry["target"]
        server = {
            "command": target["command"],
            "args": [fill(word) for word in target["args"]],
            "env": {name: fill(value) for name, value in target["env"].items()},
        }
        (self.home / "config/satchel").mkdir(parents=True)
        (self.home / "run").mkdir(mode=0o700)
        (self.home / "config/satchel/config.json").write_text(json.dumps({"mcpServers": {"it": server}}))
        self.environment = {
            **os.environ,
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_DATA_HOME": str(self.home / "data"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "XDG_STATE_HOME": str(self.home / "state"),
            "XDG_RUNTIME_DIR": str(self.home / "run"),
            "npm_config_cache": str(self.home / "npm"),
            "UV_CACHE_DIR": str(self.home / "uv"),
        }
        log = open(self.home / "hub.log", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [SATCHEL, "serve", "--port", "0", "--trust-config"], env=self.environment, stdout=log, stderr=log, start_new_session=True
        )

    def given(self, need):
        if need["kind"] == "folder":
            (self.home / "given").mkdir(exist_ok=True)
            return str(self.home / "given")
        return PRETENDED.get(need["name"], "x")

    def ask(self, *words):
        done = subprocess.run([SATCHEL, *words, "--json"], env=self.environment, capture_output=True, text=True, timeout=60)
        return json.loads(done.stdout) if done.returncode == 0 and done.stdout else None

    def server(self):
        listed = self.ask("list")
        return listed["servers"][0] if listed else None

    def measure(self):
        """Its tools and tokens, once it has told them. Fetching a package fails now and then: the second failure counts."""
        end = time.monotonic() + SECONDS
        started, failed = False, None
        while time.monotonic() < end:
            time.sleep(1)
            server = self.server()
            if server is None:
                continue
            if not started:
                started = self.ask("restart", "it") is not None
            if server["tools"] is not None and server["tokens"] is not None:
                tools = self.ask("tools", "--server", "it", "--limit", "2000")["tools"]
                return server["tools"], server["tokens"], tools
            if server["state"] in ("broken", "invalid", "needs_credential"):
                raise Missing(server.get("message") or server["state"])
            failure = server["last_failure"]
            if not failure or server["state"] not in ("asleep", "backing_off") or failure["at_ms"] == failed:
                continue
            if failed is not None:
                raise Missing(failure["message"])
            failed = failure["at_ms"]
            self.ask("restart", "it")
        raise Missing(f"it told nothing within {SECONDS} s")

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
        shutil.rmtree(self.home, ignore_errors=True)


def measure(entry, newest, today):
    """The entry as it was found to be."""
    at, name = package(entry)
    pinned = entry["target"]["args"][at]
    version = None if newest or pinned == name else pinned[len(name) + 1 :]
    about = told(entry, version)
    if about["against"]:
        raise Missing(f"its publisher says: {about['against']}")
    entry = json.loads(json.dumps(entry))
    entry["target"]["args"][at] = f"{name}@{about['version']}"
    entry["license"] = licence(about["license"])
    entry["home"] = entry.get("home") or page_of(about["page"])
    hub = Hub(entry)
    try:
        count, tokens, tools = hub.measure()
    finally:
        hub.close()
    entry["measured"] = {"tools": count, "tokens": tokens, "version": about["version"], "on": today}
    entry["tools"] = [
        {
            "name": tool["tool_path"].split(":", 1)[1],
            "about": first_sentence(tool["description"]),
            "kind": claim(tool["nature"]),
        }
        for tool in tools
    ]
    return entry


def is_measured(entry):
    at, name = package(entry)
    measured = entry.get("measured")
    return bool(measured) and entry["target"]["args"][at] == f"{name}@{measured['version']}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--newest", action="store_true")
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("ids", nargs="*")
    wanted = arguments.parse_args()
    listing = json.loads(LIST.read_text())
    today = datetime.date.today().isoformat()
    failed = 0
    for number, entry in enumerate(listing["entries"]):
        at, _ = package(entry)
        if at is None or (wanted.ids and entry["id"] not in wanted.ids):
            continue
        if not wanted.ids and not wanted.newest and not wanted.check and is_measured(entry):
            continue
        try:
            found = measure(entry, wanted.newest, today)
        except (Missing, OSError, KeyError, ValueError, subprocess.TimeoutExpired) as error:
            failed += 1
            print(f"{entry['id']}: not measured: {error}", file=sys.stderr, flush=True)
            continue
        measured, before = found["measured"], entry.get("measured")
        print(f"{entry['id']}: {measured['tools']} tools, {measured['tokens']} tokens, {measured['version']}, {found['license']}", flush=True)
        if wanted.check:
            same = before and (before["tools"], before["tokens"]) == (measured["tools"], measured["tokens"])
            if not same:
                failed += 1
                print(f"{entry['id']}: the list says {before}", file=sys.stderr, flush=True)
            continue
        listing["entries"][number] = found
        LIST.write_text(json.dumps(listing, ensure_ascii=False, indent=1))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
