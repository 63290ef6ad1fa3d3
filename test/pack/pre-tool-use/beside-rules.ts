// The guard with readers of its own and the guard by rules, side by side: what each says about a call, and why they differ.

import type { HookResult } from '../../../src/core/events/result.js'

export type Verdict = 'deny' | 'ask' | 'none'

export function verdictOf(answer: HookResult | undefined): Verdict {
  if (answer?.action === 'deny') return 'deny'
  return answer?.action === 'ask_user' ? 'ask' : 'none'
}

interface Difference {
  readonly from: Verdict
  readonly to: Verdict
  /** In the words of the new answer. */
  readonly says: RegExp
  readonly why: string
}

/** Every difference between the two. */
const DIFFERENCES: readonly Difference[] = [
  {
    from: 'none',
    to: 'ask',
    says: /The rule guard\/(?:delete-outside|delete-git|system-files|git-history|git-work|machine|privilege|secrets-read|secrets-write|env-lost|startup-write|send|remote-code|cloud|database|settings) asks first/,
    why: 'A rule of the preset standard about harm that the readers did not know.',
  },
  {
    from: 'none',
    to: 'deny',
    says: /The rule guard\/(?:delete-system|disks) forbids this/,
    why: 'A rule of the preset standard about harm that the readers did not know.',
  },
  {
    from: 'none',
    to: 'deny',
    says: /The rule guard\/protected-branch forbids this: the call would run git push_files on main/,
    why: 'A commit to a protected branch, whichever tool makes it.',
  },
  {
    from: 'ask',
    to: 'deny',
    says: /The rule guard\/disks forbids this: the call would write \/dev\/sda/,
    why: 'Code that opens a disk for writing overwrites it as surely as dd does.',
  },
  {
    from: 'ask',
    to: 'deny',
    says: /\(rm -rf \.\.\)/,
    why: 'Launchers are followed, so the command behind one certainly runs.',
  },
  {
    from: 'deny',
    to: 'ask',
    says: /because part of the text may be run as a command/,
    why: 'A text in quotes, such as the name of a test, only looks like a command.',
  },
  {
    from: 'deny',
    to: 'ask',
    says: /The rule guard\/git-history asks first: the call would run git push on feature,/,
    why: 'HEAD is a branch that nobody protects.',
  },
]

/** The same where the new guard says nothing. */
const SILENT: Readonly<Record<string, string>> = {
  'git apply not-there.patch': 'The patch is missing, and the command does nothing else, so it fails.',
  'git apply fix.patch': 'The patch is missing, and the command does nothing else, so it fails.',
  'patch -p1 < fix.patch': 'The patch is missing, and the command does nothing else, so it fails.',
}

/** Why the two differ about a call. Undefined if nothing explains it. */
export function explanation(
  command: unknown,
  old: HookResult | undefined,
  now: HookResult | undefined,
): string | undefined {
  const [from, to] = [verdictOf(old), verdictOf(now)]
  if (from === to) return 'They do not differ.'
  if (to === 'none')
    return typeof command === 'string' && Object.hasOwn(SILENT, command) ? SILENT[command] : undefined
  const reason = now?.reason ?? ''
  return DIFFERENCES.find((one) => one.from === from && one.to === to && one.says.test(reason))?.why
}
