// Installs a listed server exactly as the hub plans it with these inputs. An earlier plan may lack the credentials.
import type { InstallAsk, Installed, Refusal } from "../lib/hub/generated";
import type { useHub } from "../lib/hub/state.svelte";

export async function installed(hub: Pick<ReturnType<typeof useHub>, "ask">, ask: InstallAsk): Promise<{ answer: Installed } | { refusal: Refusal }> {
  const planned = await hub.ask({ do: "plan_install", ...ask });
  if ("refusal" in planned) return planned;
  return hub.ask({ do: "install_listed", ...ask, seen: planned.answer.seen });
}
