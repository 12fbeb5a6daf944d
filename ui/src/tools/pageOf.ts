// Which page a server has for a tool and its result. Pure.
import { contentOf } from "./result";
import { isFields, type Fields, type Json } from "./json";

const inner = (value: Json | undefined, name: string): Json | undefined => (isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined);
const address = (value: Json | undefined) => (typeof value === "string" && /^ui:\/\/./.test(value) ? value : undefined);

/** What `_meta` names, in today's spelling or the one before. */
const named = (value: Json | undefined) => address(inner(inner(inner(value, "_meta"), "ui"), "resourceUri")) ?? address(inner(inner(value, "_meta"), "ui/resourceUri"));

/** The address of the page: the definition's, or else the one that the result points to. */
export function pageOf(definition: Json, result?: Json): string | undefined {
  const own = named(definition) ?? named(result);
  if (own !== undefined || !isFields(result)) return own;
  const linked = contentOf(result).filter((block): block is Fields => isFields(block) && (block.type === "resource_link" || block.type === "resource"));
  return linked.map((block) => address(block.uri) ?? address(inner(block.resource, "uri"))).find((uri) => uri !== undefined);
}
