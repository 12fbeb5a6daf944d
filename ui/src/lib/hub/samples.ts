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
          "held": 0,
          "not_started": null,
          "unseen": null,
          "runs": "program",
          "idle_timeout_seconds": 180,
          "sandbox": null,
          "starts": 5,
          "calls": 6,
          "wake_ms": null,
          "fresh": true,
          "last_failure": null,
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
          "held": 0,
          "not_started": null,
          "unseen": null,
          "runs": "program",
          "idle_timeout_seconds": 180,
          "sandbox": null,
          "starts": 5,
          "calls": 6,
          "wake_ms": null,
          "fresh": true,
          "last_failure": null,
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
          "phase": "downloading",
          "pid": null,
          "tools": null,
          "tokens": null,
          "resources": null,
          "skipped": [
            "why"
          ],
          "held": 0,
          "not_started": null,
          "unseen": null,
          "runs": "program",
          "idle_timeout_seconds": 180,
          "sandbox": null,
          "starts": 5,
          "calls": 6,
          "wake_ms": null,
          "fresh": true,
          "last_failure": null,
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
          "held": 0,
          "not_started": null,
          "unseen": null,
          "runs": "program",
          "idle_timeout_seconds": 180,
          "sandbox": null,
          "starts": 5,
          "calls": 6,
          "wake_ms": null,
          "fresh": true,
          "last_failure": null,
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
          "held": 0,
          "not_started": null,
          "unseen": null,
          "runs": "program",
          "idle_timeout_seconds": 180,
          "sandbox": null,
          "starts": 5,
          "calls": 6,
          "wake_ms": null,
          "fresh": true,
          "last_failure": null,
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
          "held": 1,
          "not_started": "new_entry",
          "unseen": "new",
          "runs": "program",
          "idle_timeout_seconds": 180,
          "sandbox": null,
          "starts": 5,
          "calls": 6,
          "wake_ms": 7,
          "fresh": false,
          "last_failure": {
            "code": "exited_early",
            "message": "why",
            "at_ms": 4,
            "during": "start"
          },
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
          "held": 1,
          "not_started": "new_entry",
          "unseen": "new",
          "runs": "program",
          "idle_timeout_seconds": 180,
          "sandbox": null,
          "starts": 5,
          "calls": 6,
          "wake_ms": 7,
          "fresh": false,
          "last_failure": {
            "code": "exited_early",
            "message": "why",
            "at_ms": 4,
            "during": "start"
          },
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
          "variables": [
            "HOST"
          ],
          "message": "why",
          "pid": 1,
          "tools": 2,
          "tokens": 3,
          "resources": 4,
          "skipped": [
            "why"
          ],
          "held": 1,
          "not_started": "new_entry",
          "unseen": "new",
          "runs": "program",
          "idle_timeout_seconds": 180,
          "sandbox": null,
          "starts": 5,
          "calls": 6,
          "wake_ms": 7,
          "fresh": false,
          "last_failure": {
            "code": "exited_early",
            "message": "why",
            "at_ms": 4,
            "during": "start"
          },
          "usage": {
            "processes": 2,
            "memory_bytes": 8,
            "cpu_percent": 0.5,
            "restarts": 9,
            "noise": 10
          }
        },
        {
          "name": "invalid",
          "title": "title",
          "place": "hosted",
          "enabled": true,
          "startup": "manual",
          "state": "invalid",
          "message": "why",
          "pid": 1,
          "tools": 2,
          "tokens": 3,
          "resources": 4,
          "skipped": [
            "why"
          ],
          "held": 1,
          "not_started": "new_entry",
          "unseen": "new",
          "runs": "program",
          "idle_timeout_seconds": 180,
          "sandbox": null,
          "starts": 5,
          "calls": 6,
          "wake_ms": 7,
          "fresh": false,
          "last_failure": {
            "code": "exited_early",
            "message": "why",
            "at_ms": 4,
            "during": "start"
          },
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
      },
      "paused": {
        "until_ms": 5
      },
      "ledger": {
        "newest": 1,
        "calls_hour": 2,
        "failures_hour": 3,
        "net_today": -4,
        "records": true,
        "learns": true
      },
      "asks": [
        {
          "id": 1,
          "client": "cursor",
          "server": "github",
          "tool": "delete_branch",
          "effect": "reads",
          "stated": false,
          "arguments": [
            {
              "title": "Branch",
              "value": "main"
            }
          ],
          "json": "{\"branch\":\"main\"}",
          "rule": "what deletes is asked",
          "since_ms": 1,
          "until_ms": 2
        },
        {
          "id": 1,
          "client": "cursor",
          "server": "github",
          "tool": "delete_branch",
          "effect": "writes",
          "stated": false,
          "arguments": [
            {
              "title": "Branch",
              "value": "main"
            }
          ],
          "json": "{\"branch\":\"main\"}",
          "rule": "what deletes is asked",
          "since_ms": 1,
          "until_ms": 2
        },
        {
          "id": 1,
          "client": "cursor",
          "server": "github",
          "tool": "delete_branch",
          "effect": "deletes",
          "stated": true,
          "arguments": [
            {
              "title": "Branch",
              "value": "main"
            }
          ],
          "json": "{\"branch\":\"main\"}",
          "rule": "what deletes is asked",
          "since_ms": 1,
          "until_ms": 2
        },
        {
          "id": 1,
          "client": "cursor",
          "server": "github",
          "tool": "delete_branch",
          "effect": "unstated",
          "stated": false,
          "arguments": [
            {
              "title": "Branch",
              "value": "main"
            }
          ],
          "json": "{\"branch\":\"main\"}",
          "rule": "what deletes is asked",
          "since_ms": 1,
          "until_ms": 2
        },
        {
          "id": 1,
          "client": "cursor",
          "server": "github",
          "tool": "delete_branch",
          "effect": "unstated",
          "stated": false,
          "arguments": [
            {
              "title": "Branch",
              "value": "main"
            }
          ],
          "json": "{\"branch\":\"main\"}",
          "rule": "what deletes is asked",
          "since_ms": 1,
          "until_ms": 2,
          "question": {
            "message": "Which one?",
            "kind": "form",
            "fields": [
              {
                "name": "field",
                "title": "Field",
                "description": "",
                "required": true,
                "type": "text",
                "format": null,
                "min": 1,
                "max": null,
                "initial": ""
              },
              {
                "name": "field",
                "title": "Field",
                "description": "",
                "required": true,
                "type": "text",
                "format": "email",
                "min": 1,
                "max": null,
                "initial": ""
              },
              {
                "name": "field",
                "title": "Field",
                "description": "",
                "required": true,
                "type": "text",
                "format": "uri",
                "min": 1,
                "max": null,
                "initial": ""
              },
              {
                "name": "field",
                "title": "Field",
                "description": "",
                "required": true,
                "type": "text",
                "format": "date",
                "min": 1,
                "max": null,
                "initial": ""
              },
              {
                "name": "field",
                "title": "Field",
                "description": "",
                "required": true,
                "type": "text",
                "format": "date-time",
                "min": 1,
                "max": null,
                "initial": ""
              },
              {
                "name": "field",
                "title": "Field",
                "description": "",
                "required": true,
                "type": "number",
                "whole": true,
                "min": 1.0,
                "max": null,
                "initial": 2.0
              },
              {
                "name": "field",
                "title": "Field",
                "description": "",
                "required": true,
                "type": "toggle",
                "initial": true
              },
              {
                "name": "field",
                "title": "Field",
                "description": "",
                "required": true,
                "type": "choice",
                "options": [
                  {
                    "value": "eng",
                    "title": "Engineering"
                  }
                ],
                "initial": null
              },
              {
                "name": "field",
                "title": "Field",
                "description": "",
                "required": true,
                "type": "several",
                "options": [
                  {
                    "value": "eng",
                    "title": "Engineering"
                  }
                ],
                "min": null,
                "max": 2,
                "initial": [
                  "eng"
                ]
              }
            ]
          }
        },
        {
          "id": 1,
          "client": "cursor",
          "server": "github",
          "tool": "delete_branch",
          "effect": "unstated",
          "stated": false,
          "arguments": [
            {
              "title": "Branch",
              "value": "main"
            }
          ],
          "json": "{\"branch\":\"main\"}",
          "rule": "what deletes is asked",
          "since_ms": 1,
          "until_ms": 2,
          "question": {
            "message": "Which one?",
            "kind": "secret",
            "fields": [
              "Password"
            ]
          }
        },
        {
          "id": 1,
          "client": "cursor",
          "server": "github",
          "tool": "delete_branch",
          "effect": "unstated",
          "stated": false,
          "arguments": [
            {
              "title": "Branch",
              "value": "main"
            }
          ],
          "json": "{\"branch\":\"main\"}",
          "rule": "what deletes is asked",
          "since_ms": 1,
          "until_ms": 2,
          "question": {
            "message": "Which one?",
            "kind": "credential",
            "name": "TOKEN"
          }
        },
        {
          "id": 1,
          "client": "cursor",
          "server": "github",
          "tool": "delete_branch",
          "effect": "unstated",
          "stated": false,
          "arguments": [
            {
              "title": "Branch",
              "value": "main"
            }
          ],
          "json": "{\"branch\":\"main\"}",
          "rule": "what deletes is asked",
          "since_ms": 1,
          "until_ms": 2,
          "question": {
            "message": "Which one?",
            "kind": "page",
            "url": "https://example.com/",
            "host": "example.com"
          }
        }
      ]
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
      },
      "paused": null,
      "ledger": {
        "newest": 0,
        "calls_hour": 0,
        "failures_hour": 0,
        "net_today": 0,
        "records": false,
        "learns": false
      },
      "asks": []
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
  "no_tools",
  "offline",
  "oauth_discovery",
  "oauth_refresh",
  "oauth_callback_timeout",
  "too_big",
  "set_aside",
  "ledger_unusable",
  "held_back",
  "approvals_lost",
  "denied",
  "settings_held"
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
    "era": "auto",
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
    "do": "entry",
    "server": "github"
  },
  {
    "do": "own_secrets",
    "server": "github"
  },
  {
    "do": "package",
    "server": "github"
  },
  {
    "do": "pin",
    "server": "github",
    "version": "1.2.3"
  },
  {
    "do": "pin",
    "server": "github",
    "version": null
  },
  {
    "do": "put_back",
    "server": "github"
  },
  {
    "do": "dismiss_failure",
    "server": "github"
  },
  {
    "do": "change",
    "change": "edit",
    "name": "github",
    "entry": {
      "command": "npx"
    }
  },
  {
    "do": "change",
    "change": "duplicate",
    "name": "github",
    "to": "github-2"
  },
  {
    "do": "restart",
    "server": "github"
  },
  {
    "do": "rest",
    "server": "github"
  },
  {
    "do": "pause",
    "until_ms": 1
  },
  {
    "do": "resume"
  },
  {
    "do": "listing",
    "query": "browser"
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
    "do": "answer_secret",
    "id": 1,
    "value": "value"
  },
  {
    "do": "use_vault",
    "passphrase": "words"
  },
  {
    "do": "unlock_vault",
    "passphrase": "words"
  },
  {
    "do": "log",
    "server": "github",
    "lines": 10
  },
  {
    "do": "change",
    "change": "set_keep_calls",
    "name": "github",
    "keep": true
  },
  {
    "do": "change",
    "change": "set_sandbox",
    "name": "github",
    "sandbox": {
      "read": [
        "~/notes"
      ],
      "write": [],
      "network": false
    }
  },
  {
    "do": "report",
    "by": "tool",
    "days": 30,
    "hours": null
  },
  {
    "do": "activity",
    "before": null,
    "limit": 0,
    "problems": false,
    "asked": false,
    "client": null,
    "server": "github",
    "tool": null,
    "session": null,
    "from_ms": null,
    "to_ms": null
  },
  {
    "do": "last_day"
  },
  {
    "do": "call_detail",
    "id": 1
  },
  {
    "do": "run_again",
    "id": 1,
    "arguments": {}
  },
  {
    "do": "delete_history",
    "sums": false
  },
  {
    "do": "forget_habits"
  },
  {
    "do": "change",
    "change": "set_learning",
    "learn": true
  },
  {
    "do": "approvals",
    "server": "github"
  },
  {
    "do": "approve",
    "server": "github",
    "items": [
      {
        "kind": "tool",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "prompt",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "resource",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "template",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "introduction",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "instructions",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "beside",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "launch",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "package",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "secret",
        "name": "name",
        "fingerprint": "00ff"
      }
    ]
  },
  {
    "do": "looked_at",
    "server": "github"
  },
  {
    "do": "approve_settings",
    "fingerprint": "00ff"
  },
  {
    "do": "keep_held",
    "server": "github",
    "items": [
      {
        "kind": "tool",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "prompt",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "resource",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "template",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "introduction",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "instructions",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "beside",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "launch",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "package",
        "name": "name",
        "fingerprint": "00ff"
      },
      {
        "kind": "secret",
        "name": "name",
        "fingerprint": "00ff"
      }
    ]
  },
  {
    "do": "change",
    "change": "set_permit",
    "tool": "github:delete_*",
    "client": "cursor",
    "permit": "ask"
  },
  {
    "do": "change",
    "change": "set_permit",
    "tool": "github:delete_*",
    "client": null,
    "permit": null
  },
  {
    "do": "reading_ask",
    "id": 1
  },
  {
    "do": "answer_ask",
    "id": 1,
    "answer": "once"
  },
  {
    "do": "answer_ask",
    "id": 1,
    "answer": "session"
  },
  {
    "do": "answer_ask",
    "id": 1,
    "answer": "always"
  },
  {
    "do": "answer_ask",
    "id": 1,
    "answer": "no"
  },
  {
    "do": "answer_ask",
    "id": 1,
    "answer": "mute"
  },
  {
    "do": "answer_question",
    "id": 1,
    "answer": {
      "action": "accept",
      "content": {
        "title": "Notes",
        "count": 1,
        "sure": true,
        "some": [
          "eng"
        ]
      }
    }
  },
  {
    "do": "answer_question",
    "id": 1,
    "answer": {
      "action": "decline"
    }
  },
  {
    "do": "answer_question",
    "id": 1,
    "answer": {
      "action": "cancel"
    }
  },
  {
    "do": "answer_question",
    "id": 1,
    "answer": {
      "action": "mute"
    }
  }
];

export const tools: hub.ToolList = {
  "tools": [
    {
      "tool_path": "github:search_issues",
      "description": "Find issues.",
      "signature": "search_issues(query: string)",
      "tokens": 12,
      "category": "searching",
      "complexity": "simple",
      "version": 2,
      "first_seen_ms": 1,
      "changed_ms": 2,
      "nature": {
        "effect": "unstated",
        "stated": false,
        "safety": "safe",
        "commands": false,
        "idempotent": false,
        "open_world": false,
        "needs_auth": false,
        "deprecated": false
      },
      "permit": "allow",
      "rule": "what reads is allowed"
    },
    {
      "tool_path": "github:search_issues",
      "description": "Find issues.",
      "signature": "search_issues(query: string)",
      "tokens": null,
      "category": "searching",
      "complexity": "simple",
      "version": 2,
      "first_seen_ms": null,
      "changed_ms": null,
      "nature": {
        "effect": "unstated",
        "stated": false,
        "safety": "safe",
        "commands": false,
        "idempotent": false,
        "open_world": false,
        "needs_auth": false,
        "deprecated": false
      },
      "permit": "off",
      "rule": "what reads is allowed"
    }
  ],
  "total": 2
};

export const packages: hub.PackageView[] = [
  {
    "package": "server",
    "version": null,
    "digest": null,
    "fetched": [
      "1.2.3"
    ],
    "kept": true,
    "example": "server@1.2.3"
  },
  {
    "package": "server",
    "version": "1.2.3",
    "digest": "sha512-00ff",
    "fetched": [
      "1.2.3"
    ],
    "kept": true,
    "example": "server@1.2.3"
  }
];

export const pinned: hub.Pinned = {
  "package": "server",
  "version": "1.2.3"
};

export const report: hub.Report = {
  "by": "server",
  "from": "",
  "tokenizer": "",
  "totals": {
    "calls": 1,
    "failures": 2,
    "searches": 3,
    "request_bytes": 0,
    "result_bytes": 0,
    "request_tokens": 0,
    "result_tokens": 0,
    "uncounted": 0,
    "took": {
      "median_ms": 1.5,
      "p95_ms": 2.5,
      "wait_ms": 0.5,
      "start_ms": 3.5,
      "upstream_ms": 4.5,
      "ours_ms": 5.5
    }
  },
  "savings": {
    "sessions": 0,
    "left_out": 0,
    "without": 0,
    "with": 0,
    "spent": {
      "definitions": 1,
      "find": 2,
      "describe": 3,
      "wrapping": 4
    },
    "net": 0,
    "percent": 1.5,
    "break_even_searches": 2.5,
    "verdict": ""
  },
  "sharing": {
    "measured_hours": 1.5,
    "processes": 2.5,
    "memory_bytes": 3,
    "most_processes": 0,
    "most_memory_bytes": 0,
    "used_processes": 0.0,
    "used_memory_bytes": 0
  },
  "lines": [
    {
      "name": "github",
      "totals": {
        "calls": 1,
        "failures": 2,
        "searches": 3,
        "request_bytes": 0,
        "result_bytes": 0,
        "request_tokens": 0,
        "result_tokens": 0,
        "uncounted": 0,
        "took": {
          "median_ms": 1.5,
          "p95_ms": 2.5,
          "wait_ms": 0.5,
          "start_ms": 3.5,
          "upstream_ms": 4.5,
          "ours_ms": 5.5
        }
      },
      "sessions": 0,
      "without": 0,
      "with": 0,
      "net": -1
    }
  ],
  "how": [
    "so"
  ]
};

export const activity: hub.ActivityPage = {
  "calls": [
    {
      "id": 1,
      "time_ms": 2,
      "session": 3,
      "client": "cursor",
      "kind": "call",
      "server": "github",
      "tool": "search_issues",
      "outcome": "ok",
      "code": "code",
      "message": "why",
      "took_ms": 4.5,
      "tokens": 5,
      "argument": "{}"
    },
    {
      "id": 1,
      "time_ms": 2,
      "session": 3,
      "client": "cursor",
      "kind": "call",
      "server": "github",
      "tool": "search_issues",
      "outcome": "ok",
      "code": null,
      "message": null,
      "took_ms": 4.5,
      "tokens": null,
      "argument": null
    }
  ],
  "sessions": [
    {
      "id": 3,
      "client": "cursor",
      "program": "Cursor 2.0",
      "era": "2025-11-25",
      "started_ms": 1,
      "last_ms": 2,
      "calls": 3,
      "searches": 4,
      "without": 5,
      "spent": {
        "definitions": 0,
        "find": 0,
        "describe": 0,
        "wrapping": 0
      },
      "net": 5,
      "counted": true
    }
  ],
  "more": true,
  "minutes": [
    {
      "calls": 2,
      "failures": 1
    }
  ],
  "problems": 1,
  "asked": 0
};

export const lastDay: hub.LastDay = {
  "calls": {
    "github": [
      0,
      3
    ]
  }
};

export const calls: hub.CallDetail[] = [
  {
    "line": {
      "id": 1,
      "time_ms": 2,
      "session": 3,
      "client": "cursor",
      "kind": "call",
      "server": "github",
      "tool": "search_issues",
      "outcome": "ok",
      "code": "code",
      "message": "why",
      "took_ms": 4.5,
      "tokens": 5,
      "argument": "{}"
    },
    "session": {
      "id": 3,
      "client": "cursor",
      "program": "Cursor 2.0",
      "era": "2025-11-25",
      "started_ms": 1,
      "last_ms": 2,
      "calls": 3,
      "searches": 4,
      "without": 5,
      "spent": {
        "definitions": 0,
        "find": 0,
        "describe": 0,
        "wrapping": 0
      },
      "net": 5,
      "counted": true
    },
    "wait_ms": 0.5,
    "start_ms": 1.5,
    "upstream_ms": 2.5,
    "ours_ms": 0.25,
    "request_bytes": 1,
    "result_bytes": 2,
    "request_tokens": 3,
    "result_tokens": 4,
    "rule": "rule",
    "client_era": "2025-11-25",
    "server_era": "2026-07-28",
    "trace": "00-1-2-01",
    "arguments": "{}",
    "result": "{}",
    "route": [
      {
        "id": 1,
        "time_ms": 2,
        "session": 3,
        "client": "cursor",
        "kind": "call",
        "server": "github",
        "tool": "search_issues",
        "outcome": "ok",
        "code": "code",
        "message": "why",
        "took_ms": 4.5,
        "tokens": 5,
        "argument": "{}"
      }
    ]
  },
  {
    "line": {
      "id": 1,
      "time_ms": 2,
      "session": 3,
      "client": "cursor",
      "kind": "call",
      "server": "github",
      "tool": "search_issues",
      "outcome": "ok",
      "code": null,
      "message": null,
      "took_ms": 4.5,
      "tokens": null,
      "argument": null
    },
    "session": null,
    "wait_ms": 0.5,
    "start_ms": 1.5,
    "upstream_ms": 2.5,
    "ours_ms": 0.25,
    "request_bytes": 1,
    "result_bytes": 2,
    "request_tokens": null,
    "result_tokens": null,
    "rule": "rule",
    "client_era": "2025-11-25",
    "server_era": null,
    "trace": null,
    "arguments": null,
    "result": null,
    "route": [
      {
        "id": 1,
        "time_ms": 2,
        "session": 3,
        "client": "cursor",
        "kind": "call",
        "server": "github",
        "tool": "search_issues",
        "outcome": "ok",
        "code": null,
        "message": null,
        "took_ms": 4.5,
        "tokens": null,
        "argument": null
      }
    ]
  }
];

export const listing: hub.Listing = {
  "made": "2026-11-21",
  "tokenizer": "o200k_base",
  "entries": [
    {
      "id": "filesystem",
      "title": "Filesystem",
      "publisher": "modelcontextprotocol",
      "about": {
        "de": "Dateien in einem Ordner lesen, schreiben und durchsuchen.",
        "en": "Read, write and search files in one folder."
      },
      "topics": [
        "files"
      ],
      "target": {
        "kind": "command",
        "command": "npx",
        "args": [
          "-y",
          "@modelcontextprotocol/server-filesystem@2026.8.31",
          "{folder}"
        ],
        "env": {},
        "cwd": null
      },
      "needs": [
        {
          "name": "folder",
          "kind": "path",
          "label": {
            "de": "Ein Ordner, in dem es arbeiten darf",
            "en": "A folder it may work in"
          },
          "optional": false,
          "get": null
        }
      ],
      "runtime": "node",
      "home": "https://github.com/modelcontextprotocol/servers",
      "measured": {
        "tools": 14,
        "tokens": 2823,
        "version": "2026.8.31",
        "on": "2026-11-21"
      },
      "tools": [
        {
          "name": "read_file",
          "about": "Read the complete contents of a file as text",
          "kind": "reads"
        },
        {
          "name": "read_text_file",
          "about": "Read the complete contents of a file from the file system as text",
          "kind": "reads"
        },
        {
          "name": "read_media_file",
          "about": "Read a file and return it as a base64-encoded content block with its MIME type",
          "kind": "reads"
        },
        {
          "name": "read_multiple_files",
          "about": "Read the contents of multiple files simultaneously",
          "kind": "reads"
        },
        {
          "name": "write_file",
          "about": "Create a new file or completely overwrite an existing file with new content",
          "kind": "deletes"
        },
        {
          "name": "edit_file",
          "about": "Make line-based edits to a text file",
          "kind": "deletes"
        },
        {
          "name": "create_directory",
          "about": "Create a new directory or ensure a directory exists",
          "kind": "writes"
        },
        {
          "name": "list_directory",
          "about": "Get a detailed listing of all files and directories in a specified path",
          "kind": "reads"
        },
        {
          "name": "list_directory_with_sizes",
          "about": "Get a detailed listing of all files and directories in a specified path, including sizes",
          "kind": "reads"
        },
        {
          "name": "directory_tree",
          "about": "Get a recursive tree view of files and directories as a JSON structure",
          "kind": "reads"
        },
        {
          "name": "move_file",
          "about": "Move or rename files and directories",
          "kind": "deletes"
        },
        {
          "name": "search_files",
          "about": "Recursively search for files and directories matching a pattern",
          "kind": "reads"
        },
        {
          "name": "get_file_info",
          "about": "Retrieve detailed metadata about a file or directory",
          "kind": "reads"
        },
        {
          "name": "list_allowed_directories",
          "about": "Returns the list of directories that this server is allowed to access",
          "kind": "reads"
        }
      ]
    }
  ]
};

export const approvals: hub.ApprovalList = {
  "servers": [
    {
      "server": "github",
      "unseen": null,
      "new": 3,
      "items": [
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": null,
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        },
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": "changed",
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        },
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": "added",
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        },
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": "new",
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        },
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": "alarming",
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        },
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": "lost",
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        }
      ]
    },
    {
      "server": "github",
      "unseen": "new",
      "new": 3,
      "items": [
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": null,
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        },
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": "changed",
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        },
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": "added",
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        },
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": "new",
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        },
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": "alarming",
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        },
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": "lost",
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        }
      ]
    },
    {
      "server": "github",
      "unseen": "imported",
      "new": 3,
      "items": [
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": null,
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        },
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": "changed",
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        },
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": "added",
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        },
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": "new",
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        },
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": "alarming",
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        },
        {
          "kind": "tool",
          "name": "echo",
          "fingerprint": "00ff",
          "held": "lost",
          "kept": false,
          "diff": [
            {
              "mark": "same",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "removed",
              "risky": false,
              "text": "words"
            },
            {
              "mark": "added",
              "risky": true,
              "text": "words"
            }
          ],
          "findings": [
            {
              "about": "hidden_text",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "control_characters",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "look_alike",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "instruction",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "other_tools",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "asks_for_secrets",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "encoded",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "active_content",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "layout",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            },
            {
              "about": "resembles",
              "place": "description",
              "begin": 1,
              "end": 2,
              "text": "words"
            }
          ]
        }
      ]
    }
  ],
  "settings": {
    "fingerprint": "00ff",
    "diff": [
      {
        "mark": "same",
        "risky": false,
        "text": "words"
      },
      {
        "mark": "removed",
        "risky": false,
        "text": "words"
      },
      {
        "mark": "added",
        "risky": true,
        "text": "words"
      }
    ]
  }
};

export const about: hub.About = {
  "version": "0.1.0",
  "config_file": "/config.json",
  "logs": "/logs",
  "walls": true
};
