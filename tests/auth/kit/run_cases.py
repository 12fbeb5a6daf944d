#!/usr/bin/env python3
"""Plays cases.json against a client and prints who passes.

    run_cases.py --driver 'python3 satchel.py'                       # all cases
    run_cases.py --driver '…' --only refresh_50,mixup -v             # some, with what failed
    run_cases.py --driver '…' --group refuse --json result.json --era legacy -j 2

A driver is a program that reads one JSON object a line and answers with one each:
    {"do": "open", "url", "config", "home", "server"}   the server under a name ("a", "b"): config is what the user set
    {"do": "sign_in", "server"}                 the user clicks; the page goes to $BROWSER (browser.py)
    {"do": "call", "server", "tool"}            one tools/call, without anybody at the screen
    {"do": "calls", "server", "n"}              n at once
    {"do": "sign_out", "server"}
answered by {"status": ok | refused | denied | needs_sign_in | needs_client_id | needs_more_rights | error | timeout |
cancelled, "detail": "what the user is told", "text": "the tool's answer"}. End of input: the product ends; `home` stays
for the next start. Environment: BROWSER, FAKE_BROWSER_LOG, PATH with xdg-open first; HTTP(S)_PROXY for "proxy" cases.
"""
import argparse, concurrent.futures, json, os, select, shlex, shutil, stat, subprocess, sys, tempfile, time, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))


def ask(url, data=None):
    req = urllib.request.Request(url, json.dumps(data).encode() if data is not None else None, {"Content-Type": "application/json"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(req, timeout=20) as r:
        return json.load(r)


class Driver:
    def __init__(self, command, env, cwd):
        self.p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE if not os.environ.get("DRIVER_STDERR") else None, env=env, cwd=cwd)
        self.buf = b""

    def do(self, timeout, **cmd):
        try:
            self.p.stdin.write((json.dumps(cmd) + "\n").encode())
            self.p.stdin.flush()
        except OSError as e:
            return {"status": "error", "detail": "driver is gone: %r" % e}
        end = time.time() + timeout
        while b"\n" not in self.buf:
            left = end - time.time()
            if left <= 0 or not select.select([self.p.stdout], [], [], left)[0]:
                return {"status": "timeout", "detail": "no answer within %.0f s" % timeout}
            chunk = os.read(self.p.stdout.fileno(), 65536)
            if not chunk:
                err = self.p.stderr.read()[-400:].decode("utf-8", "replace") if self.p.stderr else ""
                return {"status": "error", "detail": "driver ended: " + err}
            self.buf += chunk
        line, self.buf = self.buf.split(b"\n", 1)
        return json.loads(line)

    def end(self):
        try:
            self.p.stdin.close()
            self.p.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.p.kill()
            self.p.wait()
        self.p.stdout.close()
        if self.p.stderr:
            self.p.stderr.close()


def play(case, a, cases_files):
    work = tempfile.mkdtemp(prefix="auth-")
    mock = None
    driver = None
    try:
        cmd = [sys.executable, os.path.join(HERE, "mock_as.py"), "--case", case["name"]]
        for f in cases_files[1:]:
            cmd += ["--cases", f]
        if a.plugin:
            cmd += ["--plugin", a.plugin]
        if a.era:
            cmd += ["--era", a.era]
        mock = subprocess.Popen(cmd, stdout=subprocess.PIPE)
        at = json.loads(mock.stdout.readline())
        log = os.path.join(work, "browser.log")
        bin_ = os.path.join(work, "bin")
        os.mkdir(bin_)
        for name in ("xdg-open", "open", "x-www-browser", "sensible-browser", "gio"):
            path = os.path.join(bin_, name)
            with open(path, "w") as f:
                f.write('#!/bin/sh\nexec %s %s "$@"\n' % (shlex.quote(sys.executable), shlex.quote(os.path.join(HERE, "browser.py"))))
            os.chmod(path, 0o755)
        env = {**os.environ, "PATH": bin_ + os.pathsep + os.environ["PATH"], "BROWSER": os.path.join(bin_, "xdg-open"),
               "FAKE_BROWSER_LOG": log, "KIT": HERE}
        if "PYTHONPYCACHEPREFIX" not in env:
            env["PYTHONDONTWRITEBYTECODE"] = "1"
        for k in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            env.pop(k, None)
        if case.get("proxy"):
            env.update(HTTP_PROXY=at["sink"], HTTPS_PROXY=at["sink"], http_proxy=at["sink"], https_proxy=at["sink"],
                       NO_PROXY="127.0.0.1,localhost,::1", no_proxy="127.0.0.1,localhost,::1")
        home = os.path.join(work, "home")
        os.mkdir(home)
        command = shlex.split(a.driver)
        opened = set()

        def start():
            d = Driver(command, env, os.getcwd())
            for s in sorted(opened):
                d.do(a.timeout, do="open", server=s, url=at["url"], config=at["config"], home=home)
            return d

        driver = start()
        results = []
        for step in case["steps"]:
            verb, _, arg = step.partition(":")
            verb, _, server = verb.partition("@")
            server = server or "a"
            r = {"status": "ok"}
            if verb in ("sign_in", "sign_in_deny", "sign_in_close", "call", "calls", "calls_two", "whoami", "sign_out") and server not in opened:
                opened.add(server)
                o = driver.do(a.timeout, do="open", server=server, url=at["url"], config=at["config"], home=home)
                if o.get("status") not in ("ok", None):
                    raise RuntimeError("%s: %s could not be opened: %s" % (step, server, o))
            if verb.startswith("sign_in"):
                with open(log + ".user", "w") as f:
                    f.write({"sign_in": "approve", "sign_in_deny": "deny", "sign_in_close": "close"}[verb])
                r = driver.do(8 if case.get("quick") or verb == "sign_in_close" else a.timeout, do="sign_in", server=server)
            elif verb == "call":
                r = driver.do(a.timeout, do="call", server=server, tool=arg or "echo")
            elif verb == "whoami":
                r = driver.do(a.timeout, do="call", server=server, tool="whoami")
            elif verb in ("calls", "calls_two"):
                r = driver.do(a.timeout * 2, do=verb, server=server, n=int(arg or 10))
            elif verb == "sign_out":
                r = driver.do(a.timeout, do="sign_out", server=server)
            elif verb == "restart":
                driver.end()
                driver = start()
            elif verb in ("expire", "forget"):
                ask(at["control"] + "/" + verb, {})
            elif verb == "set":
                ask(at["control"] + "/set", json.loads(arg))
            elif verb == "wait":
                time.sleep(float(arg))
            else:
                r = {"status": "error", "detail": "unknown step " + step}
            results.append(r)
        driver.end()
        driver = None
        time.sleep(0.3)
        pages = [json.loads(x) for x in open(log)] if os.path.exists(log) else []
        v = ask(at["control"] + "/verdict", {"results": results, "browser": pages, "home": home})
        v.update(results=results, group=case["group"])
        if a.verbose:
            v["log"] = ask(at["control"] + "/log")
        return v
    except Exception as e:  # the kit's own fault is a failure, never a skip
        return {"case": case["name"], "group": case["group"], "pass": False, "checks": 0, "failed": [{"check": "kit", "detail": repr(e)}], "counts": {}, "results": []}
    finally:
        if driver:
            driver.end()
        if mock:
            mock.terminate()
            mock.wait()
            mock.stdout.close()
        shutil.rmtree(work, ignore_errors=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--driver", required=True)
    ap.add_argument("--cases", action="append", default=[])
    ap.add_argument("--plugin")
    ap.add_argument("--only")
    ap.add_argument("--group")
    ap.add_argument("--era", choices=["dual", "legacy", "modern"])
    ap.add_argument("--timeout", type=float, default=20)
    ap.add_argument("-j", type=int, default=1)
    ap.add_argument("--json")
    ap.add_argument("-v", "--verbose", action="store_true")
    a = ap.parse_args()
    own = os.path.join(HERE, "cases.json")
    files = [own] + a.cases
    todo = [c for f in (a.cases or [own]) for c in json.load(open(f, encoding="utf-8"))["cases"]]
    if a.only:
        todo = [c for c in todo if c["name"] in a.only.split(",")]
    if a.group:
        todo = [c for c in todo if c["group"] == a.group]
    if not todo:
        sys.exit("no case left")
    with concurrent.futures.ThreadPoolExecutor(a.j) as pool:
        got = []
        for v in pool.map(lambda c: play(c, a, files), todo):
            got.append(v)
            print("%-5s %-24s %-13s %s" % ("pass" if v["pass"] else "FAIL", v["case"], v["group"], "" if v["pass"] else "; ".join("%s (%s)" % (f["check"], f["detail"]) for f in v["failed"]).replace("\n", " ")[:400]), flush=True)
            if a.verbose:
                for e in v.get("log", []):
                    print("      ", {k: x for k, x in e.items() if x and k != "t"})
    ok = sum(v["pass"] for v in got)
    groups = {}
    for v in got:
        g = groups.setdefault(v["group"], [0, 0])
        g[0] += v["pass"]
        g[1] += 1
    print("\n%d of %d: %s" % (ok, len(got), ", ".join("%s %d/%d" % (k, *x) for k, x in groups.items())))
    if a.json:
        json.dump([{k: x for k, x in v.items() if k != "log"} for v in got], open(a.json, "w"), indent=1)
    sys.exit(0 if ok == len(got) else 1)


if __name__ == "__main__":
    main()
