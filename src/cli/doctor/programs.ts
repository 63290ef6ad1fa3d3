// Programs, models and servers that hooks name: whether the hook would find them.

import { kindOf } from '../../runners/kinds.js'
import { foreignPlaceholder } from '../../runners/program/environment.js'
import { namedBy } from '../../trust/named-files.js'
import { type FoundPrograms, findPrograms } from '../../trust/program-search.js'
import { RULES } from '../../trust/risk-rules.js'
import { ownNames } from '../../trust/unit-content.js'
import { counted } from '../print/lines.js'
import { type Facts, type Written, wanted } from './facts.js'
import type { Checked, Finding } from './finding.js'
import { commandOf, type HookCommand } from './hook-command.js'

export function programs(facts: Pick<Facts, 'specs' | 'settings'>): Checked {
  const lookUps = new LookUps()
  const findings = wanted(facts).flatMap((written) => [
    ...unreachable(written, facts),
    ...ofCommand(commandOf(written), lookUps),
  ])
  return { what: counted(lookUps.names.size, 'program'), findings }
}

/** Caches look-ups: hooks name the same programs, and searching every folder is slow. */
class LookUps {
  readonly names = new Set<string>()
  readonly #found = new Map<string, FoundPrograms>()

  find(name: string, { path, unit }: HookCommand): FoundPrograms {
    const key = [name, unit.projectDir, ...path].join('\0')
    const found = this.#found.get(key) ?? findPrograms([name], path, unit.projectDir)
    this.#found.set(key, found)
    return found
  }
}

function ofCommand(command: HookCommand | undefined, lookUps: LookUps): readonly Finding[] {
  if (!command) return []
  const placeholder = foreign(command)
  return [
    ...(placeholder ? [placeholder] : missing(command, lookUps)),
    ...oneWord(command),
    ...launchers(command),
  ]
}

function missing(command: HookCommand, lookUps: LookUps): readonly Finding[] {
  const { unit, path, line, where, spec } = command
  const own = ownNames(unit)
  const isUsers = spec.hook.origin.scope === 'user'
  return namedBy(unit, path).programs.flatMap((name): Finding[] => {
    lookUps.names.add(name)
    const found = lookUps.find(name, command)
    const isLinked = found.inProject.length > 0
    if (found.missing.length === 0 || own.has(name) || isAskedFor(name, line.command)) return []
    if (isUsers && isLinked) return []
    return [
      {
        // With `||`, the author has provided for a missing program.
        severity: line.command.includes('||') ? 'warning' : 'broken',
        code: 'program-missing',
        ...where,
        text: isLinked
          ? `it runs ${name}, which PATH finds only inside the project; that one is not used`
          : `it runs ${name}, which is not in any folder of PATH`,
        fix: replacement(name, command, lookUps) ?? `Install ${name}, or write its full path in the command.`,
      },
    ]
  })
}

/** True for `command -v jq || exit 0`, which provides for a missing program. */
function isAskedFor(name: string, text: string): boolean {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`\\b(?:command\\s+-v|which|type|hash)\\s+(?:-\\w+\\s+)*["']?${escaped}\\b`).test(text)
}

/** Finds an installed program under a common other name: `python3` for `python`, `node` for `nodejs`. */
function replacement(name: string, command: HookCommand, lookUps: LookUps): string | undefined {
  const others = [`${name}3`, name.replace(/[\d.]+$/, ''), name.replace(/js$/, '')]
  const other = others.find(
    (one) => one !== name && one !== '' && lookUps.find(one, command).missing.length === 0,
  )
  return other === undefined ? undefined : `Write ${other}, which is installed, instead of ${name}.`
}

/** With "args", no shell splits the command into words. */
function oneWord({ line, where, reading }: HookCommand): readonly Finding[] {
  const { args, command } = line
  if (args === undefined || !/\s/.test(command.trim()) || command.includes('/')) return []
  if (reading.commands.length !== 1) return []
  const [program = '', ...words] = command.trim().split(/\s+/)
  const list = JSON.stringify([...words, ...args])
  return [
    {
      severity: 'broken',
      code: 'program-missing',
      ...where,
      text: `with "args", no shell splits "command", so ${JSON.stringify(command)} as a whole is taken for the name of the program`,
      fix: `Write "command": ${JSON.stringify(program)}, "args": ${list}.`,
    },
  ]
}

function foreign({ line, where, spec }: HookCommand): Finding | undefined {
  const name = foreignPlaceholder([line.command, ...(line.args ?? [])], spec.place)
  if (name === undefined) return undefined
  const whose = name.includes('SKILL') ? 'a skill' : 'a plugin'
  return {
    severity: 'broken',
    code: 'placeholder-foreign',
    ...where,
    text: `it mentions \${${name}}, which only hooks of ${whose} have`,
    fix: spec.hook.origin.writtenFor
      ? 'Name the folder of its plugin with --plugin DIR: its hooks run from there.'
      : `Write \${CLAUDE_PROJECT_DIR} or \${AMPLIFIER_HOOKS_DIR}, or make it ${whose}.`,
  }
}

const FETCHING = RULES.filter(({ kind }) => kind === 'launcher' || kind === 'pipe-to-shell')

function launchers({ line, where }: HookCommand): readonly Finding[] {
  const text = [line.command, ...(line.args ?? [])].join(' ')
  return FETCHING.filter(({ pattern }) => pattern.test(text)).map(({ text: why }) => ({
    severity: 'warning',
    code: 'launcher',
    ...where,
    text: `${why} It also waits for the network, at every event.`,
    fix: 'Install what it runs at a version of your choice, and name the installed program.',
  }))
}

/** Models and servers that the settings do not define. */
function unreachable({ spec, where }: Written, { settings }: Pick<Facts, 'settings'>): readonly Finding[] {
  const lack = kindOf(spec).lacks?.(spec.handler, settings)
  return lack ? [{ severity: 'broken', code: lack.code, ...where, text: lack.text, fix: lack.fix }] : []
}
