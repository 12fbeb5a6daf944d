// Writes src/marks/marks.json from two packages of icons, unpacked somewhere:
// `npm pack simple-icons @lobehub/icons-static-svg`, then `node marks/make.mjs SIMPLE LOBE`.
// simple-icons is in the public domain (CC0-1.0); icons in it that have a licence of their own are refused here.
// @lobehub/icons-static-svg is under the MIT licence, which stands in src/marks/LICENSES.md.
import { readFile, writeFile } from "node:fs/promises";

const [simple, lobe] = process.argv.slice(2);
const wanted = {
  simple:
    "github gitlab bitbucket sentry linear jira atlassian confluence notion obsidian postgresql sqlite mysql mongodb redis elasticsearch supabase firebase googledrive google gmail googlecalendar googlemaps youtube cloudflare vercel netlify docker kubernetes terraform grafana prometheus stripe paypal shopify hubspot asana trello clickup todoist airtable figma miro discord telegram whatsapp reddit wikipedia brave duckduckgo selenium googlechrome npm python svelte postman graphql snowflake databricks neo4j qdrant huggingface ollama lmstudio raycast n8n spotify wordpress algolia homeassistant blender dropbox zedindustries neon clickhouse duckdb posthog intercom pagerduty arxiv jetbrains warp".split(
      " ",
    ),
  lobe: "anthropic claude claudecode cursor windsurf openai codex geminicli gemini copilot cline roocode kilocode opencode goose openwebui perplexity aws azure exa tavily firecrawl mcp kiro trae amp qwen cherrystudio junie replit".split(" "),
};

const about = async (directory) => JSON.parse(await readFile(`${directory}/package.json`, "utf8"));
const data = JSON.parse(await readFile(`${simple}/data/simple-icons.json`, "utf8"));
const own = new Set(data.filter((icon) => icon.license).map((icon) => icon.slug ?? icon.title.toLowerCase().replace(/[^a-z0-9]/g, "")));
const drawing = (svg) => {
  if (!svg.includes('viewBox="0 0 24 24"')) throw new Error("another size");
  return { path: [...svg.matchAll(/<path[^>]*\sd="([^"]+)"/g)].map((match) => match[1]).join(""), evenodd: /fill-rule="evenodd"/.test(svg) };
};
/** Satchel's own. */
const bag =
  "M8 6v-.5A2.5 2.5 0 0 1 10.5 3h3A2.5 2.5 0 0 1 16 5.5V6h2.5A2.5 2.5 0 0 1 21 8.5v9a2.5 2.5 0 0 1-2.5 2.5h-13A2.5 2.5 0 0 1 3 17.5v-9A2.5 2.5 0 0 1 5.5 6zm1.8 0h4.4v-.5a.7.7 0 0 0-.7-.7h-3a.7.7 0 0 0-.7.7zM12 11.2a2.1 2.1 0 1 0 0 4.2 2.1 2.1 0 0 0 0-4.2z";
const marks = { satchel: { path: bag, evenodd: true } };
const refused = [];
for (const name of wanted.simple) {
  if (own.has(name)) refused.push(name);
  else marks[name] = drawing(await readFile(`${simple}/icons/${name}.svg`, "utf8"));
}
for (const name of wanted.lobe) marks[name] = drawing(await readFile(`${lobe}/icons/${name}.svg`, "utf8"));
const lines = Object.entries(marks)
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, { path, evenodd }]) => `  "${name}": ${JSON.stringify(evenodd ? [path, 1] : [path])}`);
await writeFile(new URL("../src/marks/marks.json", import.meta.url), `{\n${lines.join(",\n")}\n}\n`);
const [one, other] = [await about(simple), await about(lobe)];
console.log(`From ${one.name} ${one.version} (${one.license}) and ${other.name} ${other.version} (${other.license}); the versions stand in src/marks/LICENSES.md.`);
console.log(`${Object.keys(marks).length} marks; with a licence of their own, left out: ${refused.join(", ") || "none"}`);
