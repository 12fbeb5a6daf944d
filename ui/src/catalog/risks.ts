// The risks of a server that a user must accept, apart from mere remarks. Pure.
import type { Caution, CautionCode } from "../lib/hub/generated";

const told = new Set<CautionCode>([
  "known_there",
  "renamed_path",
  "renamed_control",
  "renamed_blank",
  "renamed_option",
  "renamed_unseen",
  "renamed_nothing",
  "renamed_long",
  "renamed_alike",
  "renamed_taken",
  "keeps_sign_ins",
  "secrets_in_arguments",
  "gets_stored",
  "goes_to",
  "asked_there",
  "command_there",
  "file_there",
  "no_tool_there",
  "only_tools_there",
  "tools_off_there",
  "tools_unasked_there",
  "other_program",
  "other_source",
  "no_exact_version",
  "signature_unchecked",
  "signed_alone",
  "signed_with",
  "altered_alone",
  "altered_with",
  "bundle_checked",
  "image_pinned",
]);

export const risks = (cautions: readonly Caution[]): Caution[] => cautions.filter(({ code }) => !told.has(code));
