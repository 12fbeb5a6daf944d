import { expect, test } from "vitest";

import { answered, asked } from "./clients";

test("wishes about other programs are put in the hub's words, and others are left alone", () => {
  expect(asked({ do: "clients" })).toEqual({ do: "clients", clients: "list" });
  expect(asked({ do: "preview_connect", client: "zed" } as never)).toEqual({ do: "clients", clients: "add", client: "zed", dry_run: true });
  expect(asked({ do: "undo_connect", client: "zed" } as never)).toEqual({ do: "clients", clients: "remove", client: "zed", dry_run: false });
  expect(asked({ do: "quit" })).toBeUndefined();
});

test("programs that are not here are not shown, and one whose entry vanished is", () => {
  const client = (id: string, state: string, more: object = {}) => ({ id, name: id, installed: false, file: "/f", state, duplicates: [], after_connect: null, ...more });
  const clients = [client("a", "not_connected"), client("b", "not_connected", { installed: true }), client("c", "needs_you", { what: "vanished" }), client("d", "paste", { installed: true })];
  const shown = answered({ do: "clients" }, { clients }) as { looked: number; clients: { id: string; state: string }[] };
  expect(shown.looked).toBe(4);
  expect(shown.clients.map(({ id, state }) => [id, state])).toEqual([["b", "found"], ["c", "gone"]]);
});

test("a change is shown line by line, without the marks of a patch", () => {
  const diff = "--- a\n+++ b\n@@ -1 +1,2 @@\n {\n+  \"satchel\": 1\n";
  expect(answered({ do: "preview_connect" }, { files: [{ path: "/f", diff }] })).toEqual({
    path: "/f",
    lines: [{ mark: " ", text: "{" }, { mark: "+", text: '  "satchel": 1' }],
  });
});
