-- The sums by local day, for ever, as the day's first hour: what reports of days add up. Hours are kept for a week.
CREATE TABLE days (
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
INSERT INTO days (
  hour, client, server, tool, kind, calls, failures, request_bytes, result_bytes, request_tokens, result_tokens,
  uncounted, wait_us, start_us, upstream_us, ours_us, took_0, took_1, took_2, took_3, took_4, took_5, took_6,
  took_7, took_8, took_9, took_10, took_11, took_12, took_13, took_14, took_15
) SELECT
  hour / 100 * 100, client, server, tool, kind, sum(calls), sum(failures), sum(request_bytes), sum(result_bytes),
  sum(request_tokens), sum(result_tokens), sum(uncounted), sum(wait_us), sum(start_us), sum(upstream_us),
  sum(ours_us), sum(took_0), sum(took_1), sum(took_2), sum(took_3), sum(took_4), sum(took_5), sum(took_6),
  sum(took_7), sum(took_8), sum(took_9), sum(took_10), sum(took_11), sum(took_12), sum(took_13), sum(took_14),
  sum(took_15)
FROM hours GROUP BY hour / 100, client, server, tool, kind;

-- What was spent on single tools, by local day.
CREATE TABLE tool_costs_days (
  hour INTEGER NOT NULL, client TEXT NOT NULL, server TEXT NOT NULL, tool TEXT NOT NULL,
  loaded INTEGER NOT NULL DEFAULT 0, find INTEGER NOT NULL DEFAULT 0, describe INTEGER NOT NULL DEFAULT 0,
  wrapping INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (hour, client, server, tool)
) WITHOUT ROWID;
INSERT INTO tool_costs_days (
  hour, client, server, tool, loaded, find, describe, wrapping
) SELECT
  hour / 100 * 100, client, server, tool, sum(loaded), sum(find), sum(describe), sum(wrapping)
FROM tool_costs GROUP BY hour / 100, client, server, tool;
