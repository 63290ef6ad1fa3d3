// Real configuration files: each loads, and who would run for which tool is what Claude Code's own rules say, worked out
// here a second time. Files in other agents' formats have nothing to compare.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CATALOGUE, type EventKind, resolveEvent } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import { corpusFiles, corpusIsHere } from '../systems/claude-code/replay.js'
import { ShellProject } from './shell-project.js'

const CORPUS = fileURLToPath(new URL('../../../shared/corpus/', import.meta.url))

/** Values of matcher fields that real payloads have. */
const VALUES = [
  ...['Bash', 'Write', 'Edit', 'MultiEdit', 'Read', 'Agent', 'Task', 'NotebookEdit', 'WebFetch', 'TodoWrite'],
  ...['mcp__github__create_pr', 'Glob', 'ExitPlanMode', 'Skill', 'startup', 'resume', 'clear', 'compact'],
  ...['auto', 'manual', 'general-purpose', 'Explore', 'permission_prompt', 'idle_prompt', 'other', ''],
]

interface Group {
  readonly matcher?: unknown
  readonly hooks?: readonly Readonly<Record<string, unknown>>[]
}

/** As observed: nothing, "" and * match all; a plain list names values; anything else is found anywhere. */
function takes(matcher: unknown, value: string): boolean {
  if (matcher === undefined || matcher === '' || matcher === '*') return true
  if (typeof matcher !== 'string') return false
  const names = value === 'Agent' ? ['Agent', 'Task'] : [value]
  if (/^[\w\- ,|]+$/.test(matcher)) {
    const listed = matcher.split(/[|,]/).map((name) => name.trim())
    return names.some((name) => listed.includes(name))
  }
  try {
    return names.some((name) => new RegExp(matcher).test(name))
  } catch {
    return names.includes(matcher)
  }
}

function expected(kind: EventKind, groups: readonly Group[], value: string): readonly string[] {
  const commands = groups
    .filter(({ hooks, matcher }) => Array.isArray(hooks) && (kind.matcher === null || takes(matcher, value)))
    .flatMap(({ hooks }) => hooks ?? [])
    .filter(({ type, command, if: rule }) => type === 'command' && typeof command === 'string' && !rule)
    .map(({ command, args }) => [command, ...((args as string[] | undefined) ?? [])].join(' '))
  return [...new Set(commands)].sort()
}

/** Names of hooks with an `if`: what its pattern lets pass is another issue's, and not compared. */
function limitedIn(event: string, groups: readonly Group[]): ReadonlySet<string> {
  const handlers = groups.flatMap(({ hooks }) => hooks ?? [])
  return new Set(handlers.flatMap((one, i) => (one.if ? [`p:${event}#${i + 1}`] : [])))
}

const SAMPLE = { string: 'x', number: 1, boolean: true, object: {}, list: [], json: 'x' } as const

function payload({ required, matcher }: EventKind, value: string): object {
  const fields = Object.entries(required).map(([field, type]) => [field, SAMPLE[type]])
  return { ...Object.fromEntries(fields), ...(matcher !== null && { [matcher]: value }) }
}

/** Of a file in Claude Code's format: events and their groups. */
function eventsIn(text: string): readonly (readonly [string, readonly Group[]])[] {
  let value: { readonly hooks?: unknown }
  try {
    value = JSON.parse(text)
  } catch {
    return [] // comments; loads all the same
  }
  const { hooks } = value
  if (typeof hooks !== 'object' || hooks === null || Array.isArray(hooks)) return []
  return Object.entries(hooks).filter(
    ([name, groups]) =>
      Object.hasOwn(CATALOGUE, name) &&
      Array.isArray(groups) &&
      groups.every((group) => group instanceof Object),
  )
}

describe.skipIf(!corpusIsHere)(
  '108 real configurations (../shared/corpus/configs, absent in a bare checkout)',
  () => {
    const files = corpusIsHere ? corpusFiles('configs') : []

    it('are all here', () => {
      expect(files).toHaveLength(108)
    })

    it.for(files)('%s', async (file, { expect }) => {
      const text = readFileSync(CORPUS + file, 'utf8')
      const project = new ShellProject()
      try {
        project.file('plugins/p/hooks/hooks.json', text)
        const hooks = await project.open({ plugins: [project.path('plugins/p')] })
        for (const { file, line } of hooks.diagnostics)
          expect([typeof file, typeof line]).toEqual(['string', 'number'])
        const ofCommands = hooks.list().filter(({ kind }) => kind === 'command')
        const commands = new Map(ofCommands.map(({ name, command }) => [name, command ?? '']))
        for (const [event, groups] of eventsIn(text)) {
          const kind = resolveEvent(event)
          const limited = limitedIn(event, groups)
          for (const value of kind.matcher === null ? [''] : VALUES) {
            const { candidates } = hooks.explain(event, payload(kind, value))
            const ours = candidates
              .filter(({ matched, name }) => matched && !limited.has(name))
              .flatMap(({ name }) => commands.get(name) ?? [])
            expect([event, value, ours.sort()]).toEqual([event, value, expected(kind, groups, value)])
          }
        }
      } finally {
        await project.remove()
      }
    })
  },
)
