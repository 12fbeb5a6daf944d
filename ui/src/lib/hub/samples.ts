// Written by `cargo test -p satchel-app samples` from the Rust types. Not for editing.
import type * as hub from "./bindings";

export const hubStates: hub.HubState[] = [
  {
    "hub": "opening"
  },
  {
    "hub": "open",
    "snapshot": {
      "version": 7,
      "endpoint": "http://127.0.0.1:7411/mcp",
      "notices": [
        {
          "code": "port_taken",
          "message": "the usual port is taken",
          "action": "Connect clients again with the new address, or free the port and restart."
        }
      ],
      "servers": [
        {
          "name": "off",
          "title": null,
          "place": "computer",
          "enabled": false,
          "startup": "manual",
          "state": "off",
          "pid": null,
          "tools": null,
          "tokens": null,
          "resources": null,
          "skipped": [
            "why"
          ],
          "runs": "program",
          "idle_timeout_seconds": 180,
          "starts": 5,
          "calls": 6,
          "wake_ms": null,
          "usage": {
            "processes": null,
            "memory_bytes": null,
            "cpu_percent": null,
            "restarts": 9,
            "noise": 10
          }
        },
        {
          "name": "asleep",
          "title": null,
          "place": "computer",
          "enabled": true,
          "startup": "eager",
          "state": "asleep",
          "pid": null,
          "tools": null,
          "tokens": null,
          "resources": null,
          "skipped": [
            "why"
          ],
          "runs": "program",
          "idle_timeout_seconds": 180,
          "starts": 5,
          "calls": 6,
          "wake_ms": null,
          "usage": {
            "processes": null,
            "memory_bytes": null,
            "cpu_percent": null,
            "restarts": 9,
            "noise": 10
          }
        },
        {
          "name": "starting",
          "title": null,
          "place": "computer",
          "enabled": true,
          "startup": "lazy",
          "state": "starting",
          "since_ms": 1,
          "pid": null,
          "tools": null,
          "tokens": null,
          "resources": null,
          "skipped": [
            "why"
          ],
          "runs": "program",
          "idle_timeout_seconds": 180,
          "starts": 5,
          "calls": 6,
          "wake_ms": null,
          "usage": {
            "processes": null,
            "memory_bytes": null,
            "cpu_percent": null,
            "restarts": 9,
            "noise": 10
          }
        },
        {
          "name": "ready",
          "title": null,
          "place": "computer",
          "enabled": true,
          "startup": "keep-alive",
          "state": "ready",
          "in_flight": 1,
          "sleeps_at_ms": 2,
          "pid": null,
          "tools": null,
          "tokens": null,
          "resources": null,
          "skipped": [
            "why"
          ],
          "runs": "program",
          "idle_timeout_seconds": 180,
          "starts": 5,
          "calls": 6,
          "wake_ms": null,
          "usage": {
            "processes": null,
            "memory_bytes": null,
            "cpu_percent": null,
            "restarts": 9,
            "noise": 10
          }
        },
        {
          "name": "stopping",
          "title": null,
          "place": "computer",
          "enabled": true,
          "startup": "lazy",
          "state": "stopping",
          "pid": null,
          "tools": null,
          "tokens": null,
          "resources": null,
          "skipped": [
            "why"
          ],
          "runs": "program",
          "idle_timeout_seconds": 180,
          "starts": 5,
          "calls": 6,
          "wake_ms": null,
          "usage": {
            "processes": null,
            "memory_bytes": null,
            "cpu_percent": null,
            "restarts": 9,
            "noise": 10
          }
        },
        {
          "name": "backing_off",
          "title": "title",
          "place": "hosted",
          "enabled": true,
          "startup": "manual",
          "state": "backing_off",
          "code": "spawn_not_found",
          "message": "why",
          "retry_at_ms": 3,
          "failures": 1,
          "pid": 1,
          "tools": 2,
          "tokens": 3,
          "resources": 4,
          "skipped": [
            "why"
          ],
          "runs": "program",
          "idle_timeout_seconds": 180,
          "starts": 5,
          "calls": 6,
          "wake_ms": 7,
          "usage": {
            "processes": 2,
            "memory_bytes": 8,
            "cpu_percent": 0.5,
            "restarts": 9,
            "noise": 10
          }
        },
        {
          "name": "broken",
          "title": "title",
          "place": "hosted",
          "enabled": true,
          "startup": "eager",
          "state": "broken",
          "code": "spawn_not_found",
          "message": "why",
          "retry_at_ms": 3,
          "failures": 3,
          "pid": 1,
          "tools": 2,
          "tokens": 3,
          "resources": 4,
          "skipped": [
            "why"
          ],
          "runs": "program",
          "idle_timeout_seconds": 180,
          "starts": 5,
          "calls": 6,
          "wake_ms": 7,
          "usage": {
            "processes": 2,
            "memory_bytes": 8,
            "cpu_percent": 0.5,
            "restarts": 9,
            "noise": 10
          }
        },
        {
          "name": "needs_credential",
          "title": "title",
          "place": "hosted",
          "enabled": true,
          "startup": "lazy",
          "state": "needs_credential",
          "names": [
            "TOKEN"
          ],
          "message": "why",
          "pid": 1,
          "tools": 2,
          "tokens": 3,
          "resources": 4,
          "skipped": [
            "why"
          ],
          "runs": "program",
          "idle_timeout_seconds": 180,
          "starts": 5,
          "calls": 6,
          "wake_ms": 7,
          "usage": {
            "processes": 2,
            "memory_bytes": 8,
            "cpu_percent": 0.5,
            "restarts": 9,
            "noise": 10
          }
        }
      ],
      "clients": [
        {
          "id": "cursor",
          "requests": 3,
          "last_call": "github:search_issues",
          "last_seen_ms": 1
        }
      ],
      "avoided": {
        "clients": 2,
        "processes": 3,
        "memory_bytes": 4,
        "formula": "how"
      }
    },
    "refused": {
      "server": "github",
      "refusal": {
        "code": "config_invalid",
        "message": "why",
        "action": "what to do"
      }
    }
  },
  {
    "hub": "open",
    "snapshot": {
      "version": 0,
      "endpoint": null,
      "notices": [],
      "servers": [],
      "clients": [],
      "avoided": {
        "clients": 0,
        "processes": 0,
        "memory_bytes": 0,
        "formula": ""
      }
    },
    "refused": null
  },
  {
    "hub": "held",
    "pid": 1,
    "url": "http://127.0.0.1:7411/mcp"
  },
  {
    "hub": "held",
    "pid": null,
    "url": null
  },
  {
    "hub": "stopped",
    "message": "why"
  }
];

export const codes: hub.Code[] = [
  "spawn_not_found",
  "runtime_missing",
  "docker_down",
  "spawn_denied",
  "exited_early",
  "handshake_timeout",
  "stdout_noise",
  "oom_killed",
  "handshake_refused",
  "protocol_version",
  "crashed",
  "crash_loop",
  "list_failed",
  "tool_paused",
  "needs_credential",
  "dns",
  "unreachable",
  "tls",
  "http_401",
  "http_403",
  "http_404",
  "http_5xx",
  "keychain_locked",
  "keychain_absent",
  "vault_locked",
  "config_invalid",
  "port_taken",
  "too_big",
  "set_aside"
];

export const wishes: hub.Wish[] = [
  {
    "do": "tools",
    "query": "",
    "server": "github",
    "limit": 10
  },
  {
    "do": "change",
    "change": "add",
    "name": "github",
    "target": {
      "kind": "command",
      "command": "npx",
      "args": [
        "-y"
      ],
      "env": {
        "NAME": "value"
      },
      "cwd": null
    },
    "startup": null,
    "replace": false
  },
  {
    "do": "change",
    "change": "add",
    "name": "github",
    "target": {
      "kind": "url",
      "url": "https://mcp.example.com",
      "headers": {
        "NAME": "value"
      }
    },
    "startup": "lazy",
    "replace": true
  },
  {
    "do": "change",
    "change": "remove",
    "name": "github"
  },
  {
    "do": "change",
    "change": "set_enabled",
    "name": "github",
    "enabled": true
  },
  {
    "do": "restart",
    "server": "github"
  },
  {
    "do": "secret_names"
  },
  {
    "do": "set_secret",
    "name": "TOKEN",
    "value": "value"
  },
  {
    "do": "remove_secret",
    "name": "TOKEN"
  },
  {
    "do": "log",
    "server": "github",
    "lines": 10
  }
];

export const tools: hub.ToolList = {
  "tools": [
    {
      "tool_path": "github:search_issues",
      "description": "Find issues.",
      "signature": "search_issues(query: string)",
      "tokens": 12
    },
    {
      "tool_path": "github:search_issues",
      "description": "Find issues.",
      "signature": "search_issues(query: string)",
      "tokens": null
    }
  ],
  "total": 2
};

export const about: hub.About = {
  "version": "0.1.0",
  "config_file": "/config.json",
  "logs": "/logs"
};
