// The user's own lists of commands that may run, and of commands that must not.

import { shown } from '../../core/base/text.js'
import { absolutePath, isNoFile } from '../../effects/paths/absolute-path.js'
import { withGivenWords } from '../../effects/script/given-words.js'
import { guessedLines, hiddenScripts } from '../../effects/script/hidden-scripts.js'
import { withInner } from '../../effects/script/inner-calls.js'
import { type Call, readScript, type Script } from '../../effects/script/shell-script.js'
import { fits, mayFit, type Pieces, piecesOf } from '../../effects/shell/patterns.js'
import type { SimpleCommand } from '../../effects/shell/simple-command.js'
import type { ToolCall } from '../../effects/tools/tool-call.js'
import type { PackContext } from '../pack-hook.js'
import type { BashSettings } from '../settings.js'
import { asked, denied, type Finding } from './finding.js'

/** How deep command lines may be nested in words of command lines. */
const MOST_LAYERS = 3

export async function listFindings(
  { commands, folder }: Extract<ToolCall, { kind: 'shell' }>,
  cwd: string,
  context: PackContext,
): Promise<readonly Finding[]> {
  const start = folder === undefined ? cwd : absolutePath(folder, cwd, context.home)
  const findings: Finding[] = []
  for (const text of commands)
    findings.push(...(await textFindings(text, start, context, context.settings.bash)))
  return findings
}

async function textFindings(
  text: string,
  folder: string,
  context: PackContext,
  lists: BashSettings,
  layer = 0,
): Promise<readonly Finding[]> {
  const read = await readScript(text, folder, context)
  const script: Script = { ...read, calls: withGivenWords(read.calls).flatMap(withInner) }
  const findings = [
    ...deniedBy(script, lists.deny),
    ...lists.allow.flatMap((list) => notAllowedBy(script, list)),
  ]
  if (layer >= MOST_LAYERS) return findings
  // An allow-list only applies to what the text itself runs.
  const inner = { ...lists, allow: [] }
  for (const { line } of hiddenScripts(script))
    findings.push(...(await textFindings(line, folder, context, inner, layer + 1)))
  for (const line of guessedLines(script))
    findings.push(...(await textFindings(line, folder, context, inner, MOST_LAYERS)).map(asGuess))
  return findings
}

/** The text may never run, so a deny becomes a question. */
function asGuess({ rule, reason }: Finding): Finding {
  return asked(rule, `Part of the text may be run as a command. ${reason}`)
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
