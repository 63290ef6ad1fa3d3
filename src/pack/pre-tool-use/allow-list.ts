// The user's own lists of commands: what may run at all, and what must not.

import { shown } from '../../core/base/text.js'
import { fits, mayFit, type Pieces, piecesOf } from '../../shell/patterns.js'
import type { SimpleCommand } from '../../shell/simple-command.js'
import type { BashSettings } from '../settings.js'
import { denied, type Finding } from './finding.js'
import type { Call, Script } from './shell-script.js'

export function listFindings(script: Script, { allow, deny }: BashSettings): Finding[] {
  return [...deniedBy(script, deny), ...allow.flatMap((list) => notAllowedBy(script, list))]
}

/** `git *` is `git` alone, too; `git:*` is another way to write it. */
function formsOf(pattern: string): readonly Pieces[] {
  const text = pattern.trim().replace(/\s+/g, ' ').replace(/:\*$/, ' *')
  return text.endsWith(' *') ? [piecesOf(text), piecesOf(text.slice(0, -2))] : [piecesOf(text)]
}

function deniedBy({ calls }: Script, patterns: readonly string[]): Finding[] {
  return patterns.flatMap((pattern) => {
    const forms = formsOf(pattern)
    const found = calls.find(({ command }) => mayBe(command, forms))
    if (!found) return []
    return [
      denied(
        'deny-list',
        `Your settings deny \`${pattern}\`, and it runs ${shown(found.command.words.join(' '))}. Do it in another way, or ask the user.`,
      ),
    ]
  })
}

/** By the name of the program alone, too: `/usr/bin/curl` is `curl`. */
function mayBe({ shape, name, program, dynamic }: SimpleCommand, forms: readonly Pieces[]): boolean {
  const test = dynamic ? mayFit : fits
  const bare = name + shape.slice(program.length)
  return forms.some((form) => test(form, shape) || test(form, bare))
}

/** Each command must be on it. What is not seen, or set beside a command, is on no list. */
function notAllowedBy({ calls, reading, assignments, outputs }: Script, list: readonly string[]): Finding[] {
  const refuse = (what: string) => [
    denied(
      'allow-list',
      `${what}, and your settings allow only: ${list.join(', ') || 'nothing'}. Use one of those, or ask the user to allow it.`,
    ),
  ]
  if (reading.unknown) return refuse(`Not all of it can be read (${reading.why})`)
  const [set] = assignments
  if (set !== undefined) return refuse(`It sets ${shown(set)}`)
  const file = outputs.flatMap(({ words }) => words).find(({ text, known }) => !known || !isNoFile(text))
  const patterns = list.map((pattern) => ({ pattern, forms: formsOf(pattern) }))
  if (file && !patterns.some(({ pattern }) => pattern.includes('>')))
    return refuse(`It writes ${shown(file.text)}`)
  const found = calls.find((call) => !patterns.some(({ forms }) => isOn(call, forms, file !== undefined)))
  return found ? refuse(`It runs ${shown(found.command.words.join(' '))}`) : []
}

function isOn({ command, node }: Call, forms: readonly Pieces[], writes: boolean): boolean {
  // With an output the pattern has to name that as well.
  const writesHere = writes && (node?.redirects.some(({ operator }) => operator.includes('>')) ?? false)
  const text = writesHere ? (command.source ?? '') : command.shape
  return forms.some((form) => fits(form, text) && (!writesHere || form.some((piece) => piece.includes('>'))))
}

export function isNoFile(text: string): boolean {
  return /^(?:\/dev\/(?:null|stdout|stderr|stdin|tty|fd\/\d+)|&?\d+-?|-)$/.test(text)
}
