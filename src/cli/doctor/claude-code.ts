// Claude Code's settings files: whether it runs what setup registered, and whether other hooks in them can run.

import { isAbsolute } from 'node:path'
import type { ConfiguredHook } from '../../config/configured-hook.js'
import { matchesNothing } from '../../config/matcher-slips.js'
import { callerEnv } from '../../files/caller.js'
import { realOf } from '../../files/within.js'
import { hooksOff } from '../../hosts/claude-code/hooks-off.js'
import { choicesOf, PACK_TABLE } from '../../hosts/entries.js'
import { formerCall, isGone, type OwnCommand } from '../../hosts/own-command.js'
import { packName } from '../../hosts/pack-names.js'
import { registrationProblems, settingsFiles } from '../../pack/registrations.js'
import { counted, grouped, placeOf, shortPath } from '../print/lines.js'
import { interruptedBackup } from '../removal/backup.js'
import { restoreCommand } from '../removal/restore-script.js'
import { version } from '../version.js'
import { notAsked } from '../why/first-steps.js'
import { type AgentCommands, agentCommands } from './agent-files.js'
import { type ClaudeEntry, entriesOf, malformed } from './claude-entries.js'
import type { Facts } from './facts.js'
import type { Checked, Finding } from './finding.js'
import { matchers } from './matchers.js'
import { programs } from './programs.js'
import { scripts } from './scripts.js'

export async function claudeCode(facts: Facts): Promise<Checked> {
  const read = await agentCommands(facts.project)
  const entries = read.texts.flatMap(({ agent, file, text }) =>
    agent === CLAUDE_CODE ? entriesOf(file, text) : [],
  )
  const off = switchedOff(facts, entries.length > 0)
  const isOff = off.some(({ severity }) => severity === 'broken')
  const places = settingsFiles(facts.home, facts.project, callerEnv())
  const healOf = (file: string) => places.find((one) => one.file === realOf(file))?.heal ?? ''
  const registered = isOff ? [] : registrations(places, facts, entries)
  const told = new Set(registered.flatMap(({ severity, file }) => (severity === 'broken' ? [file] : [])))
  return {
    what: summary(entries),
    findings: [
      ...cutShort(),
      ...off,
      ...registered,
      ...(isOff ? [] : entries.flatMap((entry) => edited(entry, healOf(entry.file)))),
      ...withoutGuard(entries, healOf),
      ...(await unasked(facts)),
      ...problemsOf(read).filter(
        ({ file, code }) => code !== 'config-invalid' || !told.has(realOf(file ?? '')),
      ),
      ...(await deadHooks(facts, entries)),
    ],
  }
}

const CLAUDE_CODE = 'Claude Code'

function problemsOf({ problems, texts }: AgentCommands): readonly Finding[] {
  const own = texts.filter(({ agent }) => agent === CLAUDE_CODE)
  return [
    ...problems.flatMap(({ agent, ...finding }) => (agent === CLAUDE_CODE ? [finding] : [])),
    ...own.flatMap(({ file, text }) => malformed(file, text)),
  ]
}

/** `guard, stop registered in ~/.claude/settings.json; 2 other hooks`. */
function summary(entries: readonly ClaudeEntry[]): string {
  const own = entries.filter((one) => one.own !== undefined)
  const files = [...grouped(own, ({ file }) => file)].map(([file, ones]) => {
    const pack = choicesOf(ones.flatMap(({ own: one }) => (one?.call === 'hook' ? [one.name] : [])))
    const engine = ones.some(({ own: one }) => one?.call === 'fire') ? ['the hooks of projects'] : []
    return `${[...pack, ...engine].join(', ')} registered in ${shortPath(file)}`
  })
  const others = entries.length - own.length
  return [
    ...(files.length > 0 ? files : ['nothing of Carabiner is registered']),
    ...(others > 0 ? [`${counted(others, 'other hook')}`] : []),
  ].join('; ')
}

// ---- what setup registered ------------------------------------------------------------------------------------

/** Worth a note only as long as there is no hook that it keeps from running. */
function switchedOff({ home, project }: Facts, hasHooks: boolean): readonly Finding[] {
  const off = hooksOff({ home, project, env: callerEnv() })
  return off ? [{ severity: hasHooks ? 'broken' : 'note', code: 'hooks-off', ...off }] : []
}

/** A removal that was killed may have taken the guard out already. */
function cutShort(): readonly Finding[] {
  const backup = interruptedBackup()
  if (backup === undefined) return []
  const text = `carabiner remove was cut short. Hooks may be missing from Claude Code's settings; ${shortPath(backup)} has them`
  const fix = `To restore everything: ${restoreCommand(backup)}. To remove the rest: carabiner remove.`
  return [{ severity: 'broken', code: 'removal-cut-short', text, fix }]
}

function registrations(
  places: ReturnType<typeof settingsFiles>,
  { home }: Facts,
  entries: readonly ClaudeEntry[],
): readonly Finding[] {
  const problems = registrationProblems(places, { script: process.argv[1] ?? '', version })
  return problems.map(({ file, command, isBroken, text, fix }) => {
    const entry = entries.find((one) => realOf(one.file) === file && one.handler.command === command)
    return {
      severity: isBroken ? 'broken' : 'warning',
      code: 'registration',
      file,
      ...(entry && { line: entry.line }),
      text: shortened(text, home),
      fix: shortened(fix, home),
    }
  })
}

function shortened(text: string, home: string): string {
  return text.replaceAll(/\/[^\s,;"]+/g, (path) => (path.startsWith(home) ? shortPath(path) : path))
}

/** Entries of Carabiner that somebody changed, so that they do less than setup meant them to. `heal` repairs the file. */
function edited(entry: ClaudeEntry, heal: string): readonly Finding[] {
  const { file, line, event, matcher, handler, own } = entry
  const finding = (severity: Finding['severity'], text: string): Finding => ({
    severity,
    code: 'registration',
    file,
    line,
    text,
    fix: own?.call === 'fire' && isCommand(heal) ? `${heal} --engine` : heal,
  })
  if (!own)
    return lost(entry).map((text) => ({
      ...finding('broken', text),
      fix: `Remove the entry at ${placeOf(entry)}${isCommand(heal) ? `, then run ${heal}` : ''}.`,
    }))
  const name = nameOf(own)
  const row = PACK_TABLE.find(({ hook }) => own.call === 'hook' && hook === packName(own.name))
  const meant = own.call === 'fire' ? own.name : row?.event
  if (meant === undefined)
    return [finding('broken', `Carabiner has no hook "${own.name}", so it does nothing`)]
  if (meant !== event) return [finding('broken', `${name} is for ${meant}, but is registered for ${event}`)]
  return [
    ...(matcher === undefined || /^\*?$/.test(matcher)
      ? []
      : matchesNothing({ events: [event], matcher })
        ? [finding('broken', `its matcher is "${matcher}", which matches nothing: ${name} never runs`)]
        : [finding('warning', `its matcher is "${matcher}": ${name} does not see other calls`)]),
    ...(handler.async === true
      ? [finding('broken', `${name} has "async": true, so Claude Code does not wait for its answer`)]
      : []),
    ...(typeof handler.if === 'string' && handler.if !== ''
      ? [finding('warning', `${name} has "if": "${handler.if}" and does not see other calls`)]
      : []),
    ...(row?.onFailure !== undefined && handler.onFailure !== row.onFailure
      ? [finding('warning', `${name} has no "onFailure": "block", so calls go through if it cannot start`)]
      : []),
  ]
}

function isCommand(heal: string): boolean {
  return /^[a-z]/.test(heal)
}

function nameOf({ call, name }: OwnCommand): string {
  return call === 'fire' ? `carabiner fire ${name}` : (choicesOf([name])[0] ?? name)
}

/** An entry that calls a hook of ours in a file that is gone, under a name that setup does not repair. */
function lost({ handler, event }: ClaudeEntry): readonly string[] {
  const { script, hook } = formerCall(String(handler.command ?? '')) ?? {}
  if (script === undefined || (hook !== undefined && !packName(hook)) || !isGone(script)) return []
  const blocks = handler.onFailure === 'block' && event === 'PreToolUse'
  const effect = blocks
    ? 'Claude Code blocks every tool call until it is fixed'
    : 'Claude Code goes on without it'
  return [`it was edited and names "${shortPath(script)}", which does not exist, so ${effect}`]
}

/** Somebody who has some hooks of the pack may think that the guard is among them. */
function withoutGuard(entries: readonly ClaudeEntry[], healOf: (file: string) => string): readonly Finding[] {
  const own = entries.filter((one) => one.own !== undefined)
  const isGuarded = own.some(
    ({ own: one }) => one?.call === 'fire' || packName(one?.name ?? '') === 'pre-tool-use',
  )
  const [first] = own
  if (!first || isGuarded) return []
  const heal = healOf(first.file)
  return [
    {
      severity: 'warning',
      code: 'registration',
      file: first.file,
      line: first.line,
      text: 'Claude Code runs hooks of the pack, but not the guard: no tool call is checked',
      fix: `${isCommand(heal) ? heal : 'carabiner setup claude-code'} --with guard`,
    },
  ]
}

async function unasked({ project, hooks }: Facts): Promise<readonly Finding[]> {
  const found = await notAsked(project, hooks.filter(({ state }) => state === 'ready').length)
  return found ? [{ severity: 'warning', code: 'not-asked', ...found }] : []
}

// ---- other hooks in its settings ------------------------------------------------------------------------------

/** Findings about hooks that run all the same. */
const RUNS = new Set<Finding['code']>(['launcher', 'timeout-unit', 'matcher-ignored'])

/** Hooks that Claude Code itself can never run. */
async function deadHooks(facts: Facts, entries: readonly ClaudeEntry[]): Promise<readonly Finding[]> {
  // Registrations are checked above, unless their program is looked up in PATH.
  const checked = entries.filter((one) => (one.own ? isAbsolute(one.own.script) : lost(one).length > 0))
  const own = new Set(checked.map(({ file, handler }) => `${file}\0${handler.command}`))
  const files = [...new Set(entries.map(({ file }) => file))].filter((file) => !facts.files.includes(file))
  if (files.length === 0) return []
  const { loadConfig } = await import('../../config/load.js')
  const { specs: all } = await loadConfig({ projectDir: facts.project, files })
  const specs = all
    .filter(({ hook: { origin } }) => files.includes(origin.file ?? ''))
    .filter(
      (spec) => spec.type !== 'command' || !own.has(`${spec.hook.origin.file}\0${spec.handler.command}`),
    )
    .map(asClaudes)
  const theirs = { ...facts, specs, hooks: [], notices: [] }
  return [programs(theirs), scripts(theirs), matchers(theirs)]
    .flatMap(({ findings }) => findings)
    .filter(({ code }) => !RUNS.has(code))
    .map((finding) => asClaudeReads(finding, specs))
}

/** Claude Code looks programs up in the whole PATH, and knows no setting of ours that would switch a hook off. */
function asClaudes(spec: ConfiguredHook): ConfiguredHook {
  const { hook } = spec
  const { disabled: _, ...rest } = spec
  return { ...rest, hook: { ...hook, origin: { ...hook.origin, scope: 'user' } } } as ConfiguredHook
}

function asClaudeReads(finding: Finding, specs: readonly ConfiguredHook[]): Finding {
  const { code, hook: name, file } = finding
  if (code === 'bash-syntax')
    return { ...finding, fix: 'Put it into a script that starts with #!/usr/bin/env bash.' }
  const spec = specs.find(({ hook }) => hook.name === name && hook.origin.file === file)
  if (code !== 'matcher-never' || !spec) return finding
  const { events, matcher } = spec.hook
  const isDead = matchesNothing({
    events: events === 'all' ? 'all' : [...events],
    matcher: matcher?.pattern ?? null,
  })
  return isDead ? { ...finding, severity: 'broken' } : finding
}
