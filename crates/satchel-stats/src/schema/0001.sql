-- Numbers of tokens by the text they were counted in. Only the hash of a text is kept.
CREATE TABLE tokenizers (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE texts (
  hash BLOB NOT NULL, tokenizer INTEGER NOT NULL, tokens INTEGER NOT NULL, counted_ms INTEGER NOT NULL,
  PRIMARY KEY (hash, tokenizer)
) WITHOUT ROWID;

-- Lists of tools that clients would have received, by the hash of the whole text.
CREATE TABLE baselines (
  id INTEGER PRIMARY KEY, hash BLOB NOT NULL, tokenizer INTEGER NOT NULL, UNIQUE (hash, tokenizer)
);
CREATE TABLE baseline_tools (
  baseline INTEGER NOT NULL, server TEXT NOT NULL, tool TEXT NOT NULL, tokens INTEGER NOT NULL,
  PRIMARY KEY (baseline, server, tool)
) WITHOUT ROWID;

-- Sums only; they stay when the history is deleted. `base` is the list a client would have received, `loaded` what a
-- client that defers tools would have loaded besides. `owed` counts what is not counted yet. A `face` is one of ours:
-- a person's calls, which are no part of what is saved.
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY, client TEXT NOT NULL, program TEXT NOT NULL, version TEXT NOT NULL, era TEXT NOT NULL,
  continues INTEGER NOT NULL, face INTEGER NOT NULL, only_server TEXT NOT NULL, started_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL, hour INTEGER NOT NULL,
  tokenizer INTEGER NOT NULL, baseline INTEGER, defers INTEGER NOT NULL, listed BLOB,
  base INTEGER NOT NULL DEFAULT 0, loaded INTEGER NOT NULL DEFAULT 0,
  definitions INTEGER NOT NULL DEFAULT 0, find INTEGER NOT NULL DEFAULT 0, describe INTEGER NOT NULL DEFAULT 0,
  wrapping INTEGER NOT NULL DEFAULT 0, calls INTEGER NOT NULL DEFAULT 0, searches INTEGER NOT NULL DEFAULT 0,
  owed INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX sessions_hour ON sessions (hour);

-- What sessions that began in that hour loaded and spent on single tools.
CREATE TABLE tool_costs (
  hour INTEGER NOT NULL, client TEXT NOT NULL, server TEXT NOT NULL, tool TEXT NOT NULL,
  loaded INTEGER NOT NULL DEFAULT 0, find INTEGER NOT NULL DEFAULT 0, describe INTEGER NOT NULL DEFAULT 0,
  wrapping INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (hour, client, server, tool)
) WITHOUT ROWID;

-- The history: one row a call.
CREATE TABLE calls (
  id INTEGER PRIMARY KEY AUTOINCREMENT, time_ms INTEGER NOT NULL, session INTEGER NOT NULL, client TEXT NOT NULL,
  kind TEXT NOT NULL, server TEXT NOT NULL, tool TEXT NOT NULL, outcome TEXT NOT NULL, code TEXT, message TEXT,
  wait_us INTEGER NOT NULL, start_us INTEGER NOT NULL, upstream_us INTEGER NOT NULL, ours_us INTEGER NOT NULL,
  request_bytes INTEGER NOT NULL, result_bytes INTEGER NOT NULL, request_tokens INTEGER, result_tokens INTEGER,
  rule TEXT NOT NULL, asked INTEGER NOT NULL, client_era TEXT NOT NULL, server_era TEXT, trace TEXT,
  arguments TEXT, result TEXT
);
CREATE INDEX calls_time ON calls (time_ms);
CREATE INDEX calls_session ON calls (session, id);
CREATE INDEX calls_server ON calls (server, tool, id);
CREATE INDEX calls_problem ON calls (id) WHERE outcome <> 'ok';
CREATE INDEX calls_asked ON calls (id) WHERE asked;

-- The same by local hour (as 2026112113), for ever: what reports add up. `took_N` counts calls that took less than
-- 2^N milliseconds and not less than half of it; the last one has no end.
CREATE TABLE hours (
  hour INTEGER NOT NULL, client TEXT NOT NULL, server TEXT NOT NULL, tool TEXT NOT NULL, kind TEXT NOT NULL,
  calls INTEGER NOT NULL, failures INTEGER NOT NULL, request_bytes INTEGER NOT NULL, result_bytes INTEGER NOT NULL,
  request_tokens INTEGER NOT NULL DEFAULT 0, result_tokens INTEGER NOT NULL DEFAULT 0, uncounted INTEGER NOT NULL,
  wait_us INTEGER NOT NULL, start_us INTEGER NOT NULL, upstream_us INTEGER NOT NULL, ours_us INTEGER NOT NULL,
  took_0 INTEGER NOT NULL DEFAULT 0, took_1 INTEGER NOT NULL DEFAULT 0, took_2 INTEGER NOT NULL DEFAULT 0,
  took_3 INTEGER NOT NULL DEFAULT 0, took_4 INTEGER NOT NULL DEFAULT 0, took_5 INTEGER NOT NULL DEFAULT 0,
  took_6 INTEGER NOT NULL DEFAULT 0, took_7 INTEGER NOT NULL DEFAULT 0, took_8 INTEGER NOT NULL DEFAULT 0,
  took_9 INTEGER NOT NULL DEFAULT 0, took_10 INTEGER NOT NULL DEFAULT 0, took_11 INTEGER NOT NULL DEFAULT 0,
  took_12 INTEGER NOT NULL DEFAULT 0, took_13 INTEGER NOT NULL DEFAULT 0, took_14 INTEGER NOT NULL DEFAULT 0,
  took_15 INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (hour, client, server, tool, kind)
) WITHOUT ROWID;

-- What is worth knowing about the ledger itself: how many records were lost, when history was deleted.
CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
