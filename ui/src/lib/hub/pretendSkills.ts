// The person's skills of the hub in memory. It keeps, gives and takes them; it reads no file.
import type { Answer, OwnSkill, OwnSkillDetails, Refusal, Request, SkillAgent, SkillState } from "./generated";

const agent = (id: string, name: string, folder: string, also_reads: string[] = []): SkillAgent => ({ id, name, installed: true, folder, also_reads });

const agents: SkillAgent[] = [
  agent("claude-code", "Claude Code", "/home/ada/.claude/skills"),
  agent("codex", "OpenAI Codex", "/home/ada/.agents/skills"),
  agent("cursor", "Cursor", "/home/ada/.cursor/skills", ["/home/ada/.agents/skills", "/home/ada/.claude/skills"]),
];

const skill = (name: string, more: Partial<OwnSkill> = {}): OwnSkill => ({
  name,
  description: "Use it to count plants.",
  from: `/home/ada/skills/${name}`,
  added_ms: 0,
  files: 2,
  bytes: 412,
  fingerprint: `${name}-1`,
  approved: false,
  standings: [],
  ...more,
});

const standing = (name: string, of: string, state: SkillState, changed: string[] = []) => ({ agent: of, folder: `${agents.find((one) => one.id === of)?.folder}/${name}`, state, changed });

export const kept = (): OwnSkill[] => [skill("plants"), skill("releases", { approved: true, standings: [standing("releases", "codex", "changed", ["SKILL.md"]), standing("releases", "claude-code", "own")] })];

const details = (skill: OwnSkill): OwnSkillDetails => ({
  skill,
  remarks: [{ remark: "permits", fields: ["allowed-tools"] }],
  left_out: [],
  files: [
    { path: "SKILL.md", size: 400, sha256: "", program: false, text: `---\nname: ${skill.name}\n---\nRun scripts/count.py.\n`, cut: false, findings: [{ about: "instruction", place: "", begin: 0, end: 3, text: "do not tell the user" }] },
    { path: "scripts/count.py", size: 12, sha256: "", program: true, text: "print(12)\n", cut: false, findings: [] },
  ],
});

type Asked = Extract<Request, { do: "own_skills" | "own_skill" | "add_skill" | "give_skill" | "take_skill" | "remove_skill" }>;

/** Answers what is asked of skills, and keeps what changes. */
export function skillsOf(all: OwnSkill[]): (request: Asked) => Answer<Asked> {
  const find = (name: string) => all.find((one) => one.name === name)!;
  return (request): Answer<Asked> => {
    switch (request.do) {
      case "own_skills":
        return { skills: structuredClone(all), agents };
      case "own_skill":
        return details(structuredClone(find(request.name)));
      case "add_skill": {
        const one = skill(request.from.split("/").at(-1) ?? "");
        all.push(one);
        return { ...details(one), left_out: [".git"] };
      }
      case "give_skill": {
        const one = find(request.name);
        one.approved = true;
        one.standings = [...one.standings.filter(({ agent }) => !request.agents.includes(agent)), ...request.agents.map((id) => standing(one.name, id, "given"))];
        return { skill: structuredClone(one), refused: [] };
      }
      case "take_skill": {
        const one = find(request.name);
        const refusal: Refusal = { code: "changed", message: "it was changed by another program: SKILL.md", action: "" };
        const stays = one.standings.some(({ agent, state }) => request.agents.includes(agent) && state === "changed") && !request.leave;
        if (!stays) one.standings = one.standings.filter(({ agent }) => !request.agents.includes(agent));
        return { skill: structuredClone(one), refused: stays ? [{ place: request.agents[0]!, reason: "", refusal }] : [] };
      }
      case "remove_skill":
        all.splice(all.indexOf(find(request.name)), 1);
        return {};
    }
  };
}
