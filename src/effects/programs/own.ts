// Carabiner itself, and switches with which any agent stops asking.

import type { Draft, Program, Use } from '../program.js'

const DECIDES = /^(?:disable|enable|uninstall|remove|trust|untrust|setup|install|update)$/

const own = ({ texts }: Use): readonly Draft[] => {
  const [verb = '', what = ''] = texts.filter((text) => !text.startsWith('-'))
  const decides =
    DECIDES.test(verb) ||
    (verb === 'approvals' && /^(?:allow|deny|revoke)$/.test(what)) ||
    (verb === 'service' && what === 'stop')
  return decides ? [{ kind: 'setting', owner: 'carabiner', place: undefined }] : []
}

/** `--dangerously-skip-permissions`, `--yolo`, `--full-auto`, `--trust-all-tools`. */
const UNASKED =
  /^--(?:dangerously-\S+|yolo|full-auto|allow-all-tools|trust-all-tools|allow-dangerously-\S+|approval-mode=(?:yolo|auto\S*)|no-sandbox-approvals|skip-permissions\S*)$/

/** An agent that is started without its questions. */
export function unasked({ call, texts }: Use): readonly Draft[] {
  return texts.some((text) => UNASKED.test(text))
    ? [{ kind: 'setting', owner: call.name, place: undefined }]
    : []
}

/** Variables that switch hooks, or move what they depend on. */
export function setVariable(assignment: string): Draft | undefined {
  const [, owner] = /^(CARABINER|CLAUDE)_\w+(?:=|$)/.exec(assignment) ?? []
  return owner === undefined
    ? undefined
    : {
        kind: 'setting',
        owner: owner === 'CLAUDE' ? 'claude-code' : 'carabiner',
        place: undefined,
        by: assignment,
      }
}

export const OWN_PROGRAMS: readonly Program[] = [
  {
    names: ['carabiner'],
    effects: own,
    examples: [
      { command: 'carabiner disable guard', effects: [{ kind: 'setting', owner: 'carabiner' }] },
      { command: 'CARABINER_OFF=1 make', effects: [{ kind: 'setting', owner: 'carabiner' }] },
      { command: 'agent --yolo', effects: [{ kind: 'setting', owner: 'agent' }] },
      { command: 'carabiner list', effects: [] },
    ],
  },
]
