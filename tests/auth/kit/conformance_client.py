#!/usr/bin/env python3
"""Makes any driver the client of the official conformance suite's auth scenarios.

    conformance client --spec-version 2026-07-28 --suite auth \\
        --command "python3 conformance_client.py --driver 'python3 satchel.py'"

The suite appends the server's address, and sets MCP_CONFORMANCE_SCENARIO and MCP_CONFORMANCE_CONTEXT (client_id, secrets).
Plays: open, sign in, call test-tool; while more rights are asked for: sign in and call again, three times at most.
"""
import json, os, shlex, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from run_cases import Driver  # noqa: E402

CIMD = "https://conformance-test.local/client-metadata.json"


def main():
    driver = sys.argv[sys.argv.index("--driver") + 1]
    url = sys.argv[-1]
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    config = {k: context[k] for k in ("client_id", "client_secret", "private_key_pem", "signing_algorithm") if k in context}
    if scenario in ("auth/basic-cimd", "auth/offline-access-scope", "auth/offline-access-not-supported"):
        config["client_metadata_url"] = CIMD
    if "client-credentials" in scenario:
        config["grant"] = "client_credentials"
    with tempfile.TemporaryDirectory() as work:
        opener = os.path.join(work, "xdg-open")
        with open(opener, "w") as f:
            f.write('#!/bin/sh\nexec %s %s "$@"\n' % (shlex.quote(sys.executable), shlex.quote(os.path.join(HERE, "browser.py"))))
        os.chmod(opener, 0o755)
        log = os.path.join(work, "browser.log")
        open(log + ".user", "w").write("approve")
        d = Driver(shlex.split(driver), {**os.environ, "BROWSER": opener, "PATH": work + os.pathsep + os.environ["PATH"], "FAKE_BROWSER_LOG": log, "KIT": HERE}, os.getcwd())
        home = os.path.join(work, "home")
        os.mkdir(home)
        d.do(20, do="open", server="a", url=url, config=config, home=home)
        status = None
        if config.get("grant") != "client_credentials":
            r = d.do(20, do="sign_in", server="a")
            status = r["status"]
            print("sign in:", r, file=sys.stderr)
        for _ in range(3):
            if status not in (None, "ok"):
                break
            r = d.do(20, do="call", server="a", tool="test-tool")
            print("call:", r, file=sys.stderr)
            status = r["status"]
            if status not in ("needs_sign_in", "needs_more_rights"):
                break
            r = d.do(20, do="sign_in", server="a")
            print("sign in:", r, file=sys.stderr)
            status = r["status"]
        d.end()
    sys.exit(0 if status == "ok" else 1)


main()
