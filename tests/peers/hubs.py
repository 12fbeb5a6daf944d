"""The hubs: each is started in its own way with the same stdio servers behind it, and says where a tool is called."""

import json
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time

TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")).resolve()
RELEASE = TARGET / "release"
PEERS = TARGET / "peers"
LOAD, RELAY, UPSTREAM = (str(RELEASE / f"peers-{name}") for name in ("load", "relay", "upstream"))
TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def read(path):
    try:
        return pathlib.Path(path).read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def field(text, name):
    """A figure of /proc in kB."""
    lines = (line for line in text.splitlines() if line.startswith(name + ":"))
    return int(next(lines, "0: 0").split()[1])


def pss_mb(pid):
    return field(read(f"/proc/{pid}/smaps_rollup"), "Pss") / 1024


def peak_mb(pid):
    return field(read(f"/proc/{pid}/status"), "VmHWM") / 1024


def cpu_seconds(pid):
    stat = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / TICKS if stat else 0.0


def children():
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        stat = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
        if stat:
            found.setdefault(int(stat[1]), []).append(int(pid))
    return found


class Hub:
    """A hub in an empty home."""

    name = "?"
    # A file that is there if the hub is installed.
    program = None
    # Several servers behind one endpoint?
    joins = True

    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="peers-")
        self.port = free_port()
        self.process = None
        self.servers = {}
        self.env = {**os.environ, "HOME": self.home, "NO_COLOR": "1", "DO_NOT_TRACK": "1"}
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"):
            self.env.pop(name, None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    # What each hub says of itself.
    def argv(self):
        raise NotImplementedError

    def target(self, server):
        return {"url": f"http://127.0.0.1:{self.port}/mcp"}

    def call(self, server, tool, arguments):
        return {"name": tool, "arguments": arguments}

    def written(self, name, value):
        path = os.path.join(self.home, name)
        pathlib.Path(path).write_text(json.dumps(value))
        return path

    def entries(self):
        return {name: {"command": argv[0], "args": argv[1:]} for name, argv in self.servers.items()}

    # Starting and stopping.
    def start(self, servers, answers=True):
        """`servers`: argument lists by name. Returns the seconds until its port was open."""
        self.servers = servers
        argv = self.argv()
        begun = time.perf_counter()
        with open(os.path.join(self.home, "log.txt"), "ab") as log:
            self.process = subprocess.Popen(argv, cwd=self.home, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.until_open()
        port = time.perf_counter() - begun
        self.admit()
        if answers:
            self.until_answered(next(iter(servers)))
        return port

    def admit(self):
        """What a client needs before its first request."""

    def until_open(self):
        end = time.time() + 90
        while time.time() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.001)
        raise RuntimeError(f"{self.name} did not open its port: {read(self.home + '/log.txt')[-600:]}")

    def until_answered(self, server):
        end, got = time.time() + 90, {}
        while time.time() < end:
            got = self.load(server, calls=1)
            if got["n"] == 1:
                return
            time.sleep(0.05)
        raise RuntimeError(f"{self.name} does not answer: {got.get('fault')}")

    def stop(self):
        if self.process is None or self.process.poll() is not None:
            return
        pids = self.tree()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pid in pids[1:]:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass

    # Measuring.
    def load(self, server, tool="echo", arguments=None, method="tools/call", params=None, auths=(), **options):
        """Runs the client and returns what it printed."""
        arguments = {"text": "hello-hello"} if arguments is None else arguments
        target = self.target(server)
        expect = "hello-hello" if method == "tools/call" and tool == "echo" and params is None else '"result"'
        command = [LOAD, "--url", target["url"], "--method", method, "--expect", expect]
        command += ["--transport", target.get("transport", "http"), "--version", target.get("version", "2025-06-18")]
        whole = [self.call(server, tool, arguments)] if method == "tools/call" else [{}]
        for each in params or whole:
            command += ["--params", json.dumps(each)]
        for header in [] if auths else target.get("headers", []):
            command += ["--header", header]
        for auth in auths:
            command += ["--auth", auth]
        for key, value in options.items():
            command += [f"--{key}"] if value is True else [f"--{key}", str(value)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        try:
            return json.loads(done.stdout)
        except ValueError:
            return {"n": 0, "errors": 1, "fault": done.stderr[-300:], "rps": 0, "p50": None, "p99": None, "bytes": 0, "many": 0}

    def tree(self):
        kids, found, todo = children(), [], [self.process.pid]
        while todo:
            pid = todo.pop()
            found.append(pid)
            todo += kids.get(pid, [])
        return found

    def own(self):
        """Its own processes, without the servers."""
        def is_server(pid):
            try:
                return os.readlink(f"/proc/{pid}/exe") == UPSTREAM
            except OSError:
                return False

        return [pid for pid in self.tree() if not is_server(pid)]

    def cpu(self):
        return sum(map(cpu_seconds, self.own()))

    def memory(self):
        return sum(map(pss_mb, self.own()))

    def peak(self):
        return sum(map(peak_mb, self.own()))

    def forget_peak(self):
        for pid in self.own():
            try:
                pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")
            except OSError:
                pass


class Satchel(Hub):
    name, program, surface = "satchel (direct)", RELEASE / "satchel", "direct"
    path = "/mcp/direct"

    def argv(self):
        self.env.update(SATCHEL_HOME=self.home, DBUS_SESSION_BUS_ADDRESS=f"unix:path={self.home}/no-bus")
        # The person at this computer wrote the file.
        self.written("config.json", {"mcpServers": self.entries(), "history": {"record": True}})
        return [str(self.program), "serve", "--port", str(self.port), "--json", "--trust-config"]

    def satchel(self, *words):
        done = subprocess.run([str(self.program), *words], env=self.env, cwd=self.home, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise RuntimeError(f"satchel {' '.join(words)}: {done.stderr or done.stdout}")
        return done.stdout

    def token(self, client):
        said = json.loads(self.satchel("connect", "--print", "--client", client, "--json"))
        return said["headers"]["Authorization"]

    def admit(self):
        self.auth = self.token("bench")
        if self.surface == "router":
            self.satchel("surface", "bench", "router")

    def target(self, server):
        return {"url": f"http://127.0.0.1:{self.port}{self.path}", "headers": [f"Authorization: {self.auth}"], "version": "2025-11-25"}

    def call(self, server, tool, arguments):
        return {"name": f"{server}-{tool}", "arguments": arguments}


class SatchelExecute(Satchel):
    name, surface, path = "satchel (execute)", "router", "/mcp"

    def call(self, server, tool, arguments):
        return {"name": "execute_mcp_tool", "arguments": {"tool_path": f"{server}:{tool}", "arguments": arguments}}


class Relay(Hub):
    name, program, joins = "bare relay", pathlib.Path(RELAY), False

    def argv(self):
        return [RELAY, str(self.port), *next(iter(self.servers.values()))]


class FastMcp(Hub):
    name, program = "fastmcp proxy (PyPI)", PEERS / "fastmcp/bin/fastmcp"

    def argv(self):
        config = self.written("mcp.json", {"mcpServers": self.entries()})
        return [str(self.program), "run", config, "--transport", "http", "--port", str(self.port), "--no-banner", "--log-level", "ERROR"]

    def call(self, server, tool, arguments):
        return {"name": tool if len(self.servers) == 1 else f"{server}_{tool}", "arguments": arguments}


class McpProxyPython(Hub):
    name, program, joins = "mcp-proxy (PyPI)", PEERS / "mcp-proxy/bin/mcp-proxy", False

    def argv(self):
        config = self.written("mcp.json", {"mcpServers": self.entries()})
        return [str(self.program), "--port", str(self.port), "--log-level", "ERROR", "--named-server-config", config]

    def target(self, server):
        return {"url": f"http://127.0.0.1:{self.port}/servers/{server}/mcp"}


class McpProxyNpm(Hub):
    name, program, joins = "mcp-proxy (npm)", PEERS / "npm/node_modules/.bin/mcp-proxy", False

    def argv(self):
        server = next(iter(self.servers.values()))
        return ["node", str(self.program), "--host", "127.0.0.1", "--port", str(self.port), "--server", "stream", "--", *server]


class McpHub(Hub):
    name, program = "mcp-hub (npm)", PEERS / "npm/node_modules/.bin/mcp-hub"

    def argv(self):
        return ["node", str(self.program), "--port", str(self.port), "--config", self.written("mcp.json", {"mcpServers": self.entries()})]

    def target(self, server):
        return {"url": f"http://127.0.0.1:{self.port}/mcp", "transport": "sse", "version": "2024-11-05"}

    def call(self, server, tool, arguments):
        return {"name": f"{server}__{tool}", "arguments": arguments}


class Supergateway(Hub):
    name, program, joins = "supergateway (npm)", PEERS / "npm/node_modules/.bin/supergateway", False

    def argv(self):
        server = shlex.join(next(iter(self.servers.values())))
        options = ["--outputTransport", "streamableHttp", "--stateful", "--logLevel", "none", "--port", str(self.port)]
        return ["node", str(self.program), "--stdio", server, *options]


ALL = [Satchel, SatchelExecute, Relay, FastMcp, McpProxyPython, McpProxyNpm, McpHub, Supergateway]
INSTALLED = [hub for hub in ALL if hub.program.exists()]
