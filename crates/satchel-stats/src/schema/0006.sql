-- Which profile a call looked through, and a session when it began; empty for none, and for what is older than this.
ALTER TABLE calls ADD COLUMN profile TEXT NOT NULL DEFAULT '';
CREATE INDEX calls_profile ON calls (profile, id) WHERE profile <> '';
ALTER TABLE sessions ADD COLUMN profile TEXT NOT NULL DEFAULT '';

-- Sums have a line for each. Columns of the key come first: older readers of SQLite report another order as damage.
ALTER TABLE hours RENAME TO hours_before;
CREATE TABLE hours (
  hour INTEGER NOT NULL, client TEXT NOT NULL, server TEXT NOT NULL, tool TEXT NOT NULL, kind TEXT NOT NULL,
  profile TEXT NOT NULL DEFAULT '',
  calls INTEGER NOT NULL, failures INTEGER NOT NULL, request_bytes INTEGER NOT NULL, result_bytes INTEGER NOT NULL,
  request_tokens INTEGER NOT NULL DEFAULT 0, result_tokens INTEGER NOT NULL DEFAULT 0, uncounted INTEGER NOT NULL,
  wait_us INTEGER NOT NULL, start_us INTEGER NOT NULL, upstream_us INTEGER NOT NULL, ours_us INTEGER NOT NULL,
  took_0 INTEGER NOT NULL DEFAULT 0, took_1 INTEGER NOT NULL DEFAULT 0, took_2 INTEGER NOT NULL DEFAULT 0,
  took_3 INTEGER NOT NULL DEFAULT 0, took_4 INTEGER NOT NULL DEFAULT 0, took_5 INTEGER NOT NULL DEFAULT 0,
  took_6 INTEGER NOT NULL DEFAULT 0, took_7 INTEGER NOT NULL DEFAULT 0, took_8 INTEGER NOT NULL DEFAULT 0,
  took_9 INTEGER NOT NULL DEFAULT 0, took_10 INTEGER NOT NULL DEFAULT 0, took_11 INTEGER NOT NULL DEFAULT 0,
  took_12 INTEGER NOT NULL DEFAULT 0, took_13 INTEGER NOT NULL DEFAULT 0, took_14 INTEGER NOT NULL DEFAULT 0,
  took_15 INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (hour, client, server, tool, kind, profile)
) WITHOUT ROWID;
INSERT INTO hours (
  hour, client, server, tool, kind, calls, failures, request_bytes, result_bytes,
  request_tokens, result_tokens, uncounted, wait_us, start_us, upstream_us, ours_us,
  took_0, took_1, took_2, took_3, took_4, took_5, took_6, took_7,
  took_8, took_9, took_10, took_11, took_12, took_13, took_14, took_15
) SELECT
  hour, client, server, tool, kind, calls, failures, request_bytes, result_bytes,
  request_tokens, result_tokens, uncounted, wait_us, start_us, upstream_us, ours_us,
  took_0, took_1, took_2, took_3, took_4, took_5, took_6, took_7,
  took_8, took_9, took_10, took_11, took_12, took_13, took_14, took_15
FROM hours_before;
DROP TABLE hours_before;
ALTER TABLE days RENAME TO days_before;
CREATE TABLE days (
  hour INTEGER NOT NULL, client TEXT NOT NULL, server TEXT NOT NULL, tool TEXT NOT NULL, kind TEXT NOT NULL,
  profile TEXT NOT NULL DEFAULT '',
  calls INTEGER NOT NULL, failures INTEGER NOT NULL, request_bytes INTEGER NOT NULL, result_bytes INTEGER NOT NULL,
  request_tokens INTEGER NOT NULL DEFAULT 0, result_tokens INTEGER NOT NULL DEFAULT 0, uncounted INTEGER NOT NULL,
  wait_us INTEGER NOT NULL, start_us INTEGER NOT NULL, upstream_us INTEGER NOT NULL, ours_us INTEGER NOT NULL,
  took_0 INTEGER NOT NULL DEFAULT 0, took_1 INTEGER NOT NULL DEFAULT 0, took_2 INTEGER NOT NULL DEFAULT 0,
  took_3 INTEGER NOT NULL DEFAULT 0, took_4 INTEGER NOT NULL DEFAULT 0, took_5 INTEGER NOT NULL DEFAULT 0,
  took_6 INTEGER NOT NULL DEFAULT 0, took_7 INTEGER NOT NULL DEFAULT 0, took_8 INTEGER NOT NULL DEFAULT 0,
  took_9 INTEGER NOT NULL DEFAULT 0, took_10 INTEGER NOT NULL DEFAULT 0, took_11 INTEGER NOT NULL DEFAULT 0,
  took_12 INTEGER NOT NULL DEFAULT 0, took_13 INTEGER NOT NULL DEFAULT 0, took_14 INTEGER NOT NULL DEFAULT 0,
  took_15 INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (hour, client, server, tool, kind, profile)
) WITHOUT ROWID;
INSERT INTO days (
  hour, client, server, tool, kind, calls, failures, request_bytes, result_bytes,
  request_tokens, result_tokens, uncounted, wait_us, start_us, upstream_us, ours_us,
  took_0, took_1, took_2, took_3, took_4, took_5, took_6, took_7,
  took_8, took_9, took_10, took_11, took_12, took_13, took_14, took_15
) SELECT
  hour, client, server, tool, kind, calls, failures, request_bytes, result_bytes,
  request_tokens, result_tokens, uncounted, wait_us, start_us, upstream_us, ours_us,
  took_0, took_1, took_2, took_3, took_4, took_5, took_6, took_7,
  took_8, took_9, took_10, took_11, took_12, took_13, took_14, took_15
FROM days_before;
DROP TABLE days_before;
ALTER TABLE tool_costs RENAME TO tool_costs_before;
CREATE TABLE tool_costs (
  hour INTEGER NOT NULL, client TEXT NOT NULL, server TEXT NOT NULL, tool TEXT NOT NULL,
  profile TEXT NOT NULL DEFAULT '',
  loaded INTEGER NOT NULL DEFAULT 0, find INTEGER NOT NULL DEFAULT 0, describe INTEGER NOT NULL DEFAULT 0,
  wrapping INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (hour, client, server, tool, profile)
) WITHOUT ROWID;
INSERT INTO tool_costs (
  hour, client, server, tool, loaded, find, describe, wrapping
) SELECT
  hour, client, server, tool, loaded, find, describe, wrapping
FROM tool_costs_before;
DROP TABLE tool_costs_before;
ALTER TABLE tool_costs_days RENAME TO tool_costs_days_before;
CREATE TABLE tool_costs_days (
  hour INTEGER NOT NULL, client TEXT NOT NULL, server TEXT NOT NULL, tool TEXT NOT NULL,
  profile TEXT NOT NULL DEFAULT '',
  loaded INTEGER NOT NULL DEFAULT 0, find INTEGER NOT NULL DEFAULT 0, describe INTEGER NOT NULL DEFAULT 0,
  wrapping INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (hour, client, server, tool, profile)
) WITHOUT ROWID;
INSERT INTO tool_costs_days (
  hour, client, server, tool, loaded, find, describe, wrapping
) SELECT
  hour, client, server, tool, loaded, find, describe, wrapping
FROM tool_costs_days_before;
DROP TABLE tool_costs_days_before;
