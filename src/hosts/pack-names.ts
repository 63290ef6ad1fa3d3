// The names of the pack's hooks, in the order in which they are registered, and what else they are called.

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

/** As amplihack's program and other hosts' settings call them. */
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
