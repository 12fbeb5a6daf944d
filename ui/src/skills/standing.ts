// What lies under a skill's name in agents' folders, as the window shows it.
import type { OwnSkill, SkillState } from "../lib/hub/generated";

/** Does the agent have it from Satchel? */
export const has = (state: SkillState): boolean => state === "given" || state === "older" || state === "changed";

/** The folders that a person should look at. */
export const troubles = (skill: OwnSkill) => skill.standings.filter(({ state }) => state === "changed" || state === "gone" || state === "older");
