#!/usr/bin/env python3
"""Installs the servers of tests/strangers/servers.json below the target directory, at the versions that stand there.

A server that is there already is left alone. Packages' own install scripts are not run. What cannot be installed is
named, and the test says that it is missing.
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "strangers"
AT_ONCE = 3
SECONDS = 600


def directory(server):
    """Where its package is: servers of one package share it."""
    package = server.get("npm") or server["pypi"]
    return TARGET / package.strip("@").replace("/", "__")


def install(server):
    """Installs one package; what went wrong, or nothing."""
    to, version = directory(server), server["version"]
    done = to / "installed"
    if done.exists() and done.read_text() == version:
        return None
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    if "npm" in server:
        (to / "package.json").write_text('{"name": "strangers", "private": true}\n')
        quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        commands = [["npm", "install", *quiet, f"{server['npm']}@{version}"]]
    else:
        pip = [str(to / "python/bin/pip"), "install", "--quiet", "--disable-pip-version-check"]
        commands = [["python3", "-m", "venv", str(to / "python")], [*pip, f"{server['pypi']}=={version}"]]
    try:
        for command in commands:
            ran = subprocess.run(command, cwd=to, capture_output=True, text=True, timeout=SECONDS)
            if ran.returncode != 0:
                said = (ran.stderr or ran.stdout).strip().splitlines()
                return said[-1] if said else f"{command[0]} failed"
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    done.write_text(version)
    return None


def main():
    servers = json.loads((ROOT / "tests/strangers/servers.json").read_text())
    packages = {str(directory(server)): server for server in servers}.values()
    print(f"satchel: installing {len(packages)} packages of strangers into {TARGET}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as workers:
        for server, wrong in zip(packages, workers.map(install, packages)):
            if wrong:
                print(f"satchel: {server['name']} could not be installed: {wrong}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
