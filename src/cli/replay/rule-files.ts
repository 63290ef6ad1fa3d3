// The rules that recorded calls are played through: those in force, or a file in place of the user's own.

import { ConfigFiles } from '../../config/config-file.js'
import { Notes } from '../../config/notes.js'
import { rulesShape } from '../../config/rules-document.js'
import type { Diagnostic } from '../../core/base/errors.js'
import { callerPath } from '../../files/caller.js'
import { userHome } from '../../files/homes.js'
import type { ListedHook } from '../../hooks.js'
import { HOST_NAMES } from '../../hosts/hosts.js'
import type { Roots } from '../../rules/path-pattern.js'
import type { Rules } from '../../rules/rule.js'
import { type RulesInForce, rulesInForce } from '../../rules/rules-in-force.js'
import type { Authority } from '../../rules/verdict.js'
import { Refusal } from '../refusal.js'
import { configSources, listedHooks, readFiles, type Sources, specOf } from '../sources.js'

export interface RuleFile {
  /** The user's own, which may also loosen. */
  readonly isOwn: boolean
  readonly rules: Rules
  readonly inForce: RulesInForce
  readonly authority: Authority
  /** The permission modes and the agents that its rules name. */
  readonly modes: readonly string[]
  readonly agents: readonly string[]
}

export interface RuleFiles {
  readonly files: readonly RuleFile[]
  /** What a reader of the result must know about them. */
  readonly notes: readonly string[]
}

/** `replacement`: a file in place of `~/.amplifier/rules.json`. Throws if a file cannot be used. */
export async function ruleFiles(sources: Sources, replacement: string | undefined): Promise<RuleFiles> {
  const { projectDir } = configSources(sources)
  const roots = { project: projectDir, home: userHome() }
  const { specs } = await readFiles(sources)
  const listed = (await listedHooks(sources)).filter(({ kind }) => kind === 'rules')
  const files: RuleFile[] = []
  const notes: string[] = []
  for (const hook of listed) {
    const spec = specOf(specs, hook)
    if (spec?.type !== 'rules' || (replacement !== undefined && isOwn(hook))) continue
    const file = hook.file ?? hook.name
    if (hook.state === 'disabled') {
      notes.push(`${file} is switched off: its rules do not count`)
      continue
    }
    const { broken } = spec.handler
    if (broken !== undefined) throw unusable(broken)
    if (hook.kept) notes.push(`${file} is played as it is now: it was changed after you trusted it`)
    else if (hook.onlyDenies) notes.push(`${file} is not trusted: its rules can only deny`)
    const rules = spec.handler as unknown as Rules
    files.push(fileOf(rules, { may: hook.onlyDenies ? 'deny' : 'all', file }, isOwn(hook), roots))
  }
  if (replacement !== undefined) {
    const path = callerPath(replacement)
    files.unshift(fileOf(await rulesIn(path), { may: 'all', file: path }, true, roots))
  }
  return { files, notes }
}

function isOwn({ scope, name }: ListedHook): boolean {
  return scope === 'user' && name.startsWith('user:')
}

async function rulesIn(path: string): Promise<Rules> {
  const notes = new Notes()
  const found = new ConfigFiles(new Map(), notes).read(path, rulesShape)
  if (found === 'missing')
    throw new Refusal('CONFIG_INVALID', `There is no file ${path}`, { hint: 'Correct the path of --rules.' })
  const [problem] = notes.all()
  if (found === 'broken' || problem) throw unusable(placed(problem, path), problem?.todo)
  const { lostValue, readRules } = await import('../../rules/rules-file.js')
  const lost = lostValue(found.json)
  if (lost) throw unusable(`${path}:${lost.line}: ${lost.text}.`, lost.todo)
  const { rules, problems } = readRules(found.value, { owner: 'user', now: Date.now(), agents: HOST_NAMES })
  const first = problems.find(({ closes }) => closes)
  if (first) throw unusable(`${path}:${found.json.lineOf(first.at)}: ${first.text}.`, first.todo)
  return rules
}

function placed(problem: Diagnostic | undefined, path: string): string {
  return problem ? `${path}:${problem.line ?? 1}: ${problem.text}.` : `${path} cannot be read.`
}

function unusable(text: string, hint?: string): Refusal {
  return new Refusal('CONFIG_INVALID', text.replace(/\.$/, ''), hint === undefined ? {} : { hint })
}

function fileOf(rules: Rules, authority: Authority, isOwn: boolean, roots: Roots): RuleFile {
  return {
    isOwn,
    rules,
    inForce: rulesInForce(rules, roots),
    authority,
    modes: [...new Set(rules.rules.flatMap((rule) => rule.in?.modes ?? []))],
    agents: [...new Set(rules.rules.flatMap((rule) => rule.in?.agents ?? []))],
  }
}
