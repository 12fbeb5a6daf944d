#!/usr/bin/env python3
"""The same drivers against a real authorization server (real_as.mjs, npm oidc-provider).

    run_real.py --node node --driver 'python3 satchel.py'

Twelve checks: sign-in through real login and consent pages, a call, one refresh after expiry, rotation twice more, a restart
without a page, sign-out, a call refused after it, a second sign-in, and the server's own count of what happened.
"""
import argparse, json, os, shlex, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from run_cases import Driver, ask  # noqa: E402


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--driver", required=True)
    ap.add_argument("--node", default="node")
    ap.add_argument("--script", default=os.path.join(HERE, "real_as.mjs"))
    a = ap.parse_args()
    server = subprocess.Popen([a.node, a.script], stdout=subprocess.PIPE)
    bad = 0
    try:
        at = json.loads(server.stdout.readline())
        with tempfile.TemporaryDirectory() as work:
            log = os.path.join(work, "browser.log")
            opener = os.path.join(work, "xdg-open")
            with open(opener, "w") as f:
                f.write('#!/bin/sh\nexec %s %s "$@"\n' % (shlex.quote(sys.executable), shlex.quote(os.path.join(HERE, "browser.py"))))
            os.chmod(opener, 0o755)
            open(log + ".user", "w").write("approve")
            env = {**os.environ, "PATH": work + os.pathsep + os.environ["PATH"], "BROWSER": opener, "FAKE_BROWSER_LOG": log, "KIT": HERE}
            home = os.path.join(work, "home")
            os.mkdir(home)
            def start():
                d = Driver(shlex.split(a.driver), env, os.getcwd())
                d.do(20, do="open", server="a", url=at["url"], config={}, home=home)
                return d
            d = start()
            def check(name, ok, detail=""):
                nonlocal bad
                bad += not ok
                print("%-5s %-44s %s" % ("pass" if ok else "FAIL", name, "" if ok else detail))
            def step(name, want, **cmd):
                r = d.do(30, server="a", **cmd)
                check(name, r["status"] in want.split("|"), r)
            step("a call without a sign-in is told what to do", "needs_sign_in", do="call", tool="echo")
            step("sign in: login page, consent page, back", "ok", do="sign_in")
            step("call", "ok", do="call", tool="echo")
            for i in range(3):
                ask(at["control"] + "/expire", {})
                step("call after expiry %d" % (i + 1), "ok", do="call", tool="echo")
            d.end()
            d = start()
            step("call after a restart", "ok", do="call", tool="echo")
            step("sign out", "ok", do="sign_out")
            step("call after sign-out", "needs_sign_in", do="call", tool="echo")
            d.end()
            c = ask(at["control"] + "/counts")
            print("      counted by the server:", {k: v for k, v in c.items() if k != "errors"})
            check("one page, one exchange, three refreshes", (c["authorize"], c["exchange"], c["refresh"]) == (1, 1, 3), c)
            check("the sign-out revoked the token", c["revoke"] >= 1, c["revoke"])
            check("no error at the server", not c["errors"], c["errors"])
    finally:
        server.terminate()
        server.wait()
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
