// Twenty tasks over real servers, each a script as a model writes it for `run_mcp_script`. They were chosen and written down
// before any was counted. Here the same program makes each of its calls by itself, as a model without scripts would; what
// went over the wire is returned, so that its tokens can be counted.
//
// Standard input: {"url", "headers", "input"}.
// Standard output: [{"name", "script", "answer", "calls": [{"request", "content"}]}].

import { text } from 'node:stream/consumers'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const tasks = [
  ['which notes say "urgent"', `
const { content } = await servers.filesystem.list_directory({ path: input.notes });
const files = content.split("\\n").map((line) => line.replace("[FILE] ", ""));
const texts = await Promise.all(files.map((file) => servers.filesystem.read_text_file({ path: input.notes + "/" + file })));
return files.filter((_, at) => texts[at].content.includes("urgent")).sort();`],
  ['sum of 20 invoices', `
const { content } = await servers.filesystem.list_directory({ path: input.invoices });
const files = content.split("\\n").map((line) => line.replace("[FILE] ", ""));
const all = await Promise.all(files.map((file) => servers.filesystem.read_text_file({ path: input.invoices + "/" + file })));
return all.reduce((sum, one) => sum + JSON.parse(one.content).amount, 0);`],
  ['longest note', `
const { content } = await servers.filesystem.list_directory({ path: input.notes });
const files = content.split("\\n").map((line) => line.replace("[FILE] ", ""));
const lines = await Promise.all(files.map(async (file) => (await servers.filesystem.read_text_file({ path: input.notes + "/" + file })).content.split("\\n").length));
return files[lines.indexOf(Math.max(...lines))];`],
  ['files that differ between two folders', `
const names = async (path) => (await servers.filesystem.list_directory({ path })).content.split("\\n").map((line) => line.replace("[FILE] ", ""));
const [before, after] = [await names(input.before), await names(input.after)];
const read = async (path, file) => (await servers.filesystem.read_text_file({ path: path + "/" + file })).content;
const same = await Promise.all(before.map(async (file) => after.includes(file) && (await read(input.before, file)) === (await read(input.after, file))));
return before.filter((_, at) => !same[at]).sort();`],
  ['invoices that the database lacks', `
const { content } = await servers.filesystem.list_directory({ path: input.invoices });
const files = content.split("\\n").map((line) => line.replace("[FILE] ", ""));
const all = await Promise.all(files.map((file) => servers.filesystem.read_text_file({ path: input.invoices + "/" + file })));
const rows = await servers.sqlite.read_query({ query: "SELECT number FROM paid" });
const paid = [...rows.matchAll(/'number': '([^']+)'/g)].map((match) => match[1]);
return all.map((one) => JSON.parse(one.content).number).filter((number) => !paid.includes(number)).sort();`],
  ['the largest file of a tree', `
const { content } = await servers.filesystem.directory_tree({ path: input.root });
const paths = [];
const walk = (entries, path) => entries.forEach((entry) => (entry.type === "file" ? paths.push(path + "/" + entry.name) : walk(entry.children ?? [], path + "/" + entry.name)));
walk(JSON.parse(content), input.root);
const infos = await Promise.all(paths.map((path) => servers.filesystem.get_file_info({ path })));
const sizes = infos.map((info) => Number(/size: (\\d+)/.exec(info.content ?? info)[1]));
return paths[sizes.indexOf(Math.max(...sizes))].replace(input.root, "");`],
  ['commits per author', `
const log = await servers.git.git_log({ repo_path: input.repository, max_count: 60 });
const counts = {};
for (const [, author] of log.matchAll(/Author: (?:<git.Actor ")?'?(\\w+)/g)) counts[author] = (counts[author] ?? 0) + 1;
return counts;`],
  ['commits that touched one file', `
const log = await servers.git.git_log({ repo_path: input.repository, max_count: 30 });
const ids = [...log.matchAll(/Commit: '?([0-9a-f]{40})/g)].map((match) => match[1]);
const shown = await Promise.all(ids.map((revision) => servers.git.git_show({ repo_path: input.repository, revision })));
return shown.filter((one) => one.includes("part-3.txt")).length;`],
  ['subjects of the fixes', `
const log = await servers.git.git_log({ repo_path: input.repository, max_count: 60 });
return [...log.matchAll(/Message: '?(fix[^'\\n]*)/g)].map((match) => match[1].trim());`],
  ['who wrote to do in what is not committed', `
const diff = await servers.git.git_diff_unstaged({ repo_path: input.repository });
return [...diff.matchAll(/^\\+(?!\\+).*TODO\\((\\w+)\\)/gm)].map((match) => match[1]).sort();`],
  ['who is related to nobody', `
const { entities, relations } = await servers.memory.read_graph({});
const related = new Set(relations.flatMap((one) => [one.from, one.to]));
return entities.map((one) => one.name).filter((name) => !related.has(name)).sort();`],
  ['notes per kind in the graph', `
const { entities } = await servers.memory.read_graph({});
const counts = {};
for (const one of entities) counts[one.entityType] = (counts[one.entityType] ?? 0) + one.observations.length;
return counts;`],
  ['people of the graph who are not in the team file', `
const [{ entities }, team] = await Promise.all([servers.memory.read_graph({}), servers.filesystem.read_text_file({ path: input.root + "/team.txt" })]);
const names = team.content.split("\\n");
return entities.filter((one) => one.entityType === "person" && !names.includes(one.name)).map((one) => one.name).sort();`],
  ['which of twelve cities work at 08:00 UTC', `
const zones = ["Asia/Tokyo", "Asia/Kolkata", "Asia/Singapore", "Asia/Dubai", "America/Bogota", "America/Phoenix", "Africa/Lagos", "Africa/Nairobi", "Asia/Karachi", "Australia/Brisbane", "Asia/Manila", "America/Lima"];
const times = await Promise.all(zones.map((target_timezone) => servers.time.convert_time({ source_timezone: "UTC", time: "08:00", target_timezone })));
return zones.filter((_, at) => { const hour = Number(times[at].target.datetime.slice(11, 13)); return hour >= 9 && hour < 17; });`],
  ['local times of people at 14:00 UTC', `
const { entities } = await servers.memory.read_graph({});
const people = entities.filter((one) => one.entityType === "person").slice(0, 15);
const zone = (one) => one.observations.find((said) => said.startsWith("lives in ")).slice(9);
const times = await Promise.all(people.map((one) => servers.time.convert_time({ source_timezone: "UTC", time: "14:00", target_timezone: zone(one) })));
return Object.fromEntries(people.map((one, at) => [one.name, times[at].target.datetime.slice(11, 16)]));`],
  ['tables with a column "email"', `
const list = await servers.sqlite.list_tables({});
const tables = [...list.matchAll(/'name': '(\\w+)'/g)].map((match) => match[1]);
const described = await Promise.all(tables.map((table_name) => servers.sqlite.describe_table({ table_name })));
return tables.filter((_, at) => described[at].includes("'name': 'email'")).sort();`],
  ['rows of each table', `
const list = await servers.sqlite.list_tables({});
const tables = [...list.matchAll(/'name': '(\\w+)'/g)].map((match) => match[1]);
const counts = await Promise.all(tables.map((table) => servers.sqlite.read_query({ query: "SELECT count(*) AS n FROM " + table })));
return Object.fromEntries(tables.map((table, at) => [table, Number(/\\d+/.exec(counts[at])[0])]));`],
  ['one count, one query', `
return Number(/\\d+/.exec(await servers.sqlite.read_query({ query: "SELECT count(*) AS n FROM orders" }))[0]);`],
  ['the warmest of three cities', `
const cities = ["New York", "Chicago", "Los Angeles"];
const weather = await Promise.all(cities.map((location) => servers.everything["get-structured-content"]({ location })));
return cities[weather.indexOf(weather.reduce((most, one) => (one.temperature > most.temperature ? one : most)))];`],
  ['the first line of one file', `
return (await servers.filesystem.read_text_file({ path: input.root + "/team.txt", head: 1 })).content;`],
]

const plan = JSON.parse(await text(process.stdin))
const transport = new StreamableHTTPClientTransport(new URL(plan.url), { requestInit: { headers: plan.headers } })
const client = new Client({ name: 'by-hand', version: '1' })
await client.connect(transport)

/** As docs/scripts.md says it: structured content, else the text as JSON where it is an object or a list, else the text. */
function valueOf(result) {
  const words = result.content.map((block) => block.text ?? '').join('\n')
  if (result.isError) throw new Error(words)
  if (result.structuredContent != null) return result.structuredContent
  try {
    if (/^\s*[[{]/.test(words)) return JSON.parse(words)
  } catch {
    // It only looks like JSON.
  }
  return words
}

const Program = (async () => {}).constructor
const done = []
for (const [name, script] of tasks) {
  const calls = []
  let before = Promise.resolve()
  const call = (path, given) => (before = before.then(() => made(path, given), () => made(path, given)))
  const made = async (path, given = {}) => {
    const result = await client.callTool({ name: 'execute_mcp_tool', arguments: { tool_path: path, arguments: given } })
    // As a client that has every tool directly would write it, which is less than through the hub.
    calls.push({ request: JSON.stringify({ name: path.split(':')[1], arguments: given }), content: JSON.stringify(result.content) })
    return valueOf(result)
  }
  const servers = new Proxy({}, { get: (_, server) => new Proxy({}, { get: (_, tool) => (given) => call(`${server}:${tool}`, given) }) })
  const answer = await new Program('call', 'servers', 'input', script)(call, servers, plan.input)
  done.push({ name, script: script.trim(), answer: answer ?? null, calls })
}
console.log(JSON.stringify(done))
await transport.terminateSession()
await client.close()
