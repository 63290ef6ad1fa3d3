// The names of the pack's hooks, in the order of registration, and their aliases.

export const PACK_NAMES = [
  'session-start',
  'stop',
  'pre-tool-use',
  'post-tool-use',
  'workflow-classification-reminder',
  'user-prompt-submit',
  'pre-compact',
  'session-end',
] as const

export type PackName = (typeof PACK_NAMES)[number]

/** Names in amplihack's program and in other hosts' settings. */
const ALIASES: Readonly<Record<string, PackName>> = {
  agentStop: 'stop',
  'session-stop': 'session-end',
  'session-stop-event': 'session-end',
  sessionEnd: 'session-end',
  'user-prompt': 'user-prompt-submit',
}

export function packName(word: string): PackName | undefined {
  const name = PACK_NAMES.find((one) => one === word)
  return name ?? (Object.hasOwn(ALIASES, word) ? ALIASES[word] : undefined)
}
