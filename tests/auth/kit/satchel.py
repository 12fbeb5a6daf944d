#!/usr/bin/env python3
"""Plays the runner's commands on Satchel's command line, in a home of its own. What the user sets goes into the `oauth`
block of the entry; the file is the user's own, so the hub is started with --trust-config.

    SATCHEL=path/to/satchel   the program under test
"""
import json, os, subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor

BIN = os.environ.get("SATCHEL", "satchel")
hub = None
home = None
names = {}


def run(*args, timeout=30):
    p = subprocess.run([BIN, "--json", *args], env={**os.environ, "SATCHEL_HOME": home}, capture_output=True, text=True, timeout=timeout)
    return p.returncode, (p.stdout + "\n" + p.stderr).strip()


def start():
    global hub
    if hub is None:
        hub = subprocess.Popen([BIN, "--json", "serve", "--port", "0", "--trust-config"], env={**os.environ, "SATCHEL_HOME": home}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        # Its first line says that it listens. Any other command would open the home by itself, before it does.
        if not hub.stdout.readline():
            raise RuntimeError("the hub did not come up")


WORDS = [("needs_client_id", "client id", "client_id"), ("needs_more_rights", "more rights", "insufficient_scope"),
         ("needs_sign_in", "needs sign-in", "needs_sign_in", "sign in"), ("denied", "access_denied", "declined in the browser")]


def status(code, text):
    low = text.lower()
    if code == 0 and '"iserror":true' not in low.replace(" ", ""):
        return "ok"
    for s, *words in WORDS:
        if any(w in low for w in words):
            return s
    return "error"


def opened(m):
    """The server under its name; what the user set goes into its `oauth` object."""
    global home, hub
    home = m["home"]
    names[m["server"]] = m["url"]
    path = os.path.join(home, "config.json")
    doc = json.load(open(path)) if os.path.exists(path) else {"mcpServers": {}}
    c = m.get("config") or {}
    oauth = {new: c[old] for old, new in (("client_id", "clientId"), ("client_metadata_url", "clientMetadataUrl"), ("resource_parameter", "resource"),
                                          ("authorize_parameters", "authorizeParameters"), ("grant", "grant")) if old in c}
    if "client_secret" in c:
        # Cases that run at the same time share one keychain.
        secret = "KIT_CLIENT_SECRET_%s" % os.path.basename(os.path.dirname(home)).upper().replace("-", "_")
        oauth["clientSecret"] = "${secret:%s}" % secret
    doc.setdefault("mcpServers", {})[m["server"]] = {"url": m["url"], **({"oauth": oauth} if oauth else {})}
    with open(path, "w") as f:
        json.dump(doc, f)
    if hub:
        code, text = run("quit")
        if code:
            raise RuntimeError("the hub would not quit: " + text)
        hub.wait(30); hub = None
    start()
    if "client_secret" in c:
        subprocess.run([BIN, "secrets", "set", secret], input=c["client_secret"], text=True, env={**os.environ, "SATCHEL_HOME": home}, capture_output=True, check=True)
    time.sleep(0.5)
    return {"status": "ok"}


def one(server, tool):
    code, text = run("call", "%s:%s" % (server, tool), '{"text": "x"}')
    return {"status": status(code, text), "detail": text[:300], "text": text}


def main():
    for line in sys.stdin:
        m = json.loads(line)
        try:
            do, server = m["do"], m.get("server", "a")
            if do == "open":
                out = opened(m)
            elif do == "sign_in":
                code, text = run("login", server, timeout=7.5)
                out = {"status": {"error": "refused", "needs_sign_in": "refused"}.get(status(code, text), status(code, text)), "detail": text[:300]}
            elif do == "sign_out":
                code, text = run("logout", server)
                out = {"status": "ok" if code == 0 else "error", "detail": text[:300]}
            elif do == "call":
                out = one(server, m["tool"])
            elif do in ("calls", "calls_two"):
                with ThreadPoolExecutor(m["n"]) as pool:
                    got = list(pool.map(lambda _: one(server, "echo"), range(m["n"])))
                kinds = {g["status"] for g in got}
                out = got[0] if len(kinds) == 1 else {"status": "error", "detail": str(sorted(kinds))}
            else:
                out = {"status": "error", "detail": "not supported"}
        except subprocess.TimeoutExpired:
            out = {"status": "timeout", "detail": ""}
        except Exception as e:
            out = {"status": "error", "detail": repr(e)}
        print(json.dumps(out), flush=True)
    if hub:
        run("quit")
        try:
            hub.wait(10)
        except subprocess.TimeoutExpired:
            hub.kill()


main()
