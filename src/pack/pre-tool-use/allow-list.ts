// The user's own lists of commands that may run, and of commands that must not.

import { shown } from '../../core/base/text.js'
import { isNoFile } from '../../effects/paths/absolute-path.js'
import type { Call, Script } from '../../effects/script/shell-script.js'
import { fits, mayFit, type Pieces, piecesOf } from '../../effects/shell/patterns.js'
import type { SimpleCommand } from '../../effects/shell/simple-command.js'
import type { BashSettings } from '../settings.js'
import { denied, type Finding } from './finding.js'

export function listFindings(script: Script, { allow, deny }: BashSettings): Finding[] {
  return [...deniedBy(script, deny), ...allow.flatMap((list) => notAllowedBy(script, list))]
}

/** `git *` also matches `git` alone. `git:*` means the same. */
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
        `This command runs ${shown(found.command.words.join(' '))}, which your settings deny (\`${pattern}\`). Find another way, or ask the user.`,
      ),
    ]
  })
}

/** Also compares the bare name of the program: `/usr/bin/curl` is `curl`. */
function mayBe({ shape, name, program, dynamic }: SimpleCommand, forms: readonly Pieces[]): boolean {
  const test = dynamic ? mayFit : fits
  const bare = name + shape.slice(program.length)
  return forms.some((form) => test(form, shape) || test(form, bare))
}

/** Every command must be on the list. Unreadable parts and assignments are never on a list. */
function notAllowedBy({ calls, reading, assignments, outputs }: Script, list: readonly string[]): Finding[] {
  const refuse = (what: string) => [
    denied(
      'allow-list',
      `${what}, but your settings only allow: ${list.join(', ') || 'nothing'}. Use one of those, or ask the user to allow it.`,
    ),
  ]
  if (reading.unknown) return refuse(`Part of this command cannot be read (${reading.why})`)
  const [set] = assignments
  if (set !== undefined) return refuse(`This command sets ${shown(set)}`)
  const file = outputs.flatMap(({ words }) => words).find(({ text, known }) => !known || !isNoFile(text))
  const patterns = list.map((pattern) => ({ pattern, forms: formsOf(pattern) }))
  if (file && !patterns.some(({ pattern }) => pattern.includes('>')))
    return refuse(`This command writes ${shown(file.text)}`)
  const found = calls.find((call) => !patterns.some(({ forms }) => isOn(call, forms, file !== undefined)))
  return found ? refuse(`This command runs ${shown(found.command.words.join(' '))}`) : []
}

function isOn({ command, node }: Call, forms: readonly Pieces[], writes: boolean): boolean {
  // If the command redirects its output, the pattern must match the redirect too.
  const writesHere = writes && (node?.redirects.some(({ operator }) => operator.includes('>')) ?? false)
  const text = writesHere ? (command.source ?? '') : command.shape
  return forms.some((form) => fits(form, text) && (!writesHere || form.some((piece) => piece.includes('>'))))
}
