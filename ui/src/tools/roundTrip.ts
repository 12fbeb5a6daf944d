// Renders the form of a schema with a value in it, writes into every control what it shows, and says what became of it. For tests.
import { cleanup, fireEvent, render } from "@testing-library/svelte";

import type { HubView } from "../lib/hub/state.svelte";
import { words } from "../words";
import Arguments from "./Arguments.svelte";
import { isFields, isSame, print, type Json } from "./json";
import { Schemas } from "./schema";
import { Trial } from "./trial.svelte";
import { faults } from "./value";

export interface Came {
  /** So many controls were written into. */
  controls: number;
  /** What did not come back as it was, or cannot be shown. */
  wrong: string[];
}

/** What it shows, as a person types or picks it. What shows nothing is left alone: whoever clears a field takes its part out,
 *  whoever picks another kind of value begins it anew, and a tick that is taken and set again goes to the end. */
async function rewrite(control: Element): Promise<void> {
  if (control instanceof HTMLSelectElement) {
    if (control.value !== "" && !control.matches(".case")) await fireEvent.change(control, { target: { value: control.value } });
  } else if (control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement) {
    const { value } = control;
    if (value === "" || control.type === "checkbox") return;
    await fireEvent.input(control, { target: { value: `${value} ` } });
    await fireEvent.input(control, { target: { value } });
  }
}

export async function roundTrip(schema: Json, value: Json): Promise<Came> {
  const trial = new Trial({} as HubView, "server:tool", value);
  const found = faults(new Schemas(schema), schema, value);
  const { container } = render(Arguments, { schema, trial, faults: found, touched: () => {} });
  const wrong = [...found].map(([place, fault]) => `${place}: ${fault}`);
  if (container.textContent.includes(words.trying.kept)) wrong.push("a value is shown as JSON that its field should show");
  const json = container.querySelector<HTMLTextAreaElement>(".json textarea")?.value;
  if (json !== print(value)) wrong.push(`the JSON beside the form is ${json}`);
  const selector = ".form input:not(.add input):not([type=radio]), .form select, .form textarea, .json textarea";
  const count = container.querySelectorAll(selector).length;
  for (let at = 0; at < count; at++) {
    const control = container.querySelectorAll(selector)[at];
    if (!control) break;
    await rewrite(control);
    if (!isSame(trial.value, value)) {
      wrong.push(`${control.getAttribute("aria-label") ?? control.id} made ${print(trial.value)} of ${print(value)}`);
      break;
    }
  }
  cleanup();
  return { controls: count, wrong };
}

/** A value with everything that a schema describes: its examples and defaults, else something that fits. */
export function exampleOf(schemas: Schemas, schema: Json, deep = 6): Json {
  const shape = schemas.shape(schema);
  const said = [...shape.examples, shape.preset].find((one) => one !== undefined && one !== null && one !== "");
  if (said !== undefined && faults(schemas, schema, said).size === 0) return said;
  switch (shape.is) {
    case "text":
      return "x".repeat(Math.min(Math.max(shape.min ?? 0, 3), shape.max ?? 3));
    case "number":
      return shape.min ?? shape.max ?? 7;
    case "toggle":
      return true;
    case "choice":
      return shape.options.at(-1)!.value;
    case "several":
      return [shape.options[0]!.value];
    case "list":
      return shape.max === 0 || deep === 0 ? [] : Array.from({ length: Math.max(1, shape.min) }, (_, at) => exampleOf(schemas, shape.of(at), deep - 1));
    case "group":
      return Object.fromEntries(shape.fields.filter((field) => field.required || deep > 0).map((field) => [field.name, exampleOf(schemas, field.schema, deep - 1)]));
    case "either":
      return exampleOf(schemas, shape.cases.at(-1) ?? {}, deep - 1);
    case "json":
      return isFields(schema) && schema.type === "object" ? {} : { any: [1, "a"] };
  }
}
