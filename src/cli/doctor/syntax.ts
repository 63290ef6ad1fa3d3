// Shell commands and scripts that their shell cannot parse. The shell only reads them (-n) and runs nothing.

import { spawnSync } from 'node:child_process'
import { delimiter } from 'node:path'
import { plainText, visible } from '../../core/base/text.js'
import { SYSTEM } from '../../trust/known-programs.js'
import { counted, oneLine, placeOf, shortPath } from '../print/lines.js'
import { type Facts, type Written, wanted } from './facts.js'
import type { Checked, Finding } from './finding.js'
import { commandOf, type HookCommand } from './hook-command.js'
import { scripts, shellScripts } from './scripts.js'

/** Shells that read with -n. */
const PARSERS: Readonly<Record<string, string>> = { sh: '/bin/sh', dash: 'dash', bash: 'bash' }

/** In milliseconds. A shell needs a few. */
const LONGEST = 2000

/** Only hooks that may run: nothing reads the scripts of a stranger, not even this way. */
export function syntax(facts: Facts): Checked {
  const ready = new Set(facts.hooks.filter(({ state }) => state === 'ready').map(({ id }) => id))
  const known = new Map<string, string | undefined>()
  const findings = wanted(facts)
    .filter(({ spec }) => ready.has(spec.hook.id))
    .flatMap((written) => {
      const command = commandOf(written)
      return command && !isExplained(written) ? ofHook(command, known) : []
    })
  return { what: counted(known.size, 'shell script'), findings }
}

/** Windows line ends and syntax of another shell are found before, and have a better fix. */
function isExplained({ spec }: Written): boolean {
  return scripts({ specs: [spec] }).findings.some(({ code }) => code === 'crlf' || code === 'bash-syntax')
}

function ofHook(command: HookCommand, known: Map<string, string | undefined>): readonly Finding[] {
  const { line, where, spec } = command
  const own = line.args === undefined ? refusal(line.shell ?? 'sh', ['-c', line.command]) : undefined
  if (own !== undefined) {
    const fix = `Correct "command" at ${placeOf(where)}.`
    const text = `${line.shell ?? 'sh'} cannot read its command: ${own}`
    return [{ severity: 'broken', code: 'script-syntax', ...where, text, fix }]
  }
  const again = spec.hook.origin.scope === 'project' ? ' Then accept the change: carabiner trust --mine' : ''
  return shellScripts(command).flatMap(({ path, shell }) => {
    const key = `${shell}\0${path}`
    if (!known.has(key)) known.set(key, refusal(shell, [path]))
    const why = known.get(key)
    if (why === undefined) return []
    const name = visible(shortPath(path))
    const text = `${shell} cannot read ${name}: ${why}`
    return [{ severity: 'broken', code: 'script-syntax', ...where, text, fix: `Correct ${name}.${again}` }]
  })
}

/** What the shell says, without the name of the file; undefined if it can read it. */
function refusal(shell: string, what: readonly string[]): string | undefined {
  const program = PARSERS[shell]
  if (program === undefined) return undefined
  // Patterns such as !(a|b) are no mistake: `shopt -s extglob`, which allows them, does not run here.
  const options = shell === 'bash' ? ['-O', 'extglob', '-n'] : ['-n']
  const { status, stderr } = spawnSync(program, [...options, ...what], {
    // Without BASH_ENV and ENV, which a shell would run.
    env: { PATH: SYSTEM.join(delimiter), LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: LONGEST,
  })
  const message = plainText(stderr ?? '').split('\n', 1)[0] ?? ''
  const [, place] = /: ((?:line )?\d+: .+)$/.exec(message) ?? []
  return status === 2 && place !== undefined ? oneLine(place.replace(/^(?=\d)/, 'line '), 200) : undefined
}
