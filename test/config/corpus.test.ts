// Every real configuration that was collected loads: each entry is a hook, or leaves a diagnostic with file and line.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'jsonc-parser'
import { describe, expect, it } from 'vitest'
import { type LoadedConfig, loadConfig } from '../../src/config/load.js'
import { CATALOGUE } from '../../src/core/events/catalogue.js'
import { tree } from './temp-tree.js'

const CORPUS = resolve('../shared/corpus')
const isThere = existsSync(CORPUS)
const filesIn = (folder: string) => (isThere ? readdirSync(join(CORPUS, folder)) : [])
const TYPES = ['command', 'prompt', 'agent', 'http', 'mcp_tool']

interface Counted {
  /** Handlers that must become hooks, by a reading of the file that has nothing to do with ours. */
  readonly plain: number
  /** Events, groups and handlers of some other shape: each must leave a diagnostic. */
  readonly odd: number
}

/** Counts in the raw JSON. Only canonical event names, groups with hooks and handlers with what they need are plain. */
function count(text: string): Counted {
  const root = parse(text.replace(/^\uFEFF/, ''), [], { allowTrailingComma: true }) as Record<string, unknown>
  const events = (root.hooks ?? root) as Record<string, unknown>
  let plain = 0
  let odd = 0
  for (const [event, groups] of Object.entries(events)) {
    if (!Array.isArray(groups)) continue
    if (!Object.hasOwn(CATALOGUE, event)) {
      odd++
      continue
    }
    for (const group of groups as Record<string, unknown>[]) {
      if (!Array.isArray(group.hooks) || typeof (group.matcher ?? '') !== 'string') odd++
      else for (const handler of group.hooks) isPlain(handler) ? plain++ : odd++
    }
  }
  return { plain, odd }
}

function isPlain(handler: Record<string, unknown>): boolean {
  if (!TYPES.includes(handler.type as string)) return false
  if (handler.type === 'command') return typeof handler.command === 'string'
  if (handler.type === 'mcp_tool') return 'server' in handler && 'tool' in handler
  return handler.type === 'http' ? 'url' in handler : 'prompt' in handler
}

function expectPlaces({ specs, diagnostics }: LoadedConfig, file: string, lines: number): void {
  for (const place of [...diagnostics, ...specs.map(({ hook }) => hook.origin)]) {
    expect(place.file).toBe(file)
    expect(place.line).toBeGreaterThanOrEqual(1)
    expect(place.line).toBeLessThanOrEqual(lines)
  }
}

const LEFT_OUT = ['entry-invalid', 'unknown-event', 'config-invalid']

describe.skipIf(!isThere)('configurations of ../shared/corpus', () => {
  it('are all there', () => {
    expect(filesIn('configs')).toHaveLength(108)
    expect(filesIn('cases')).toHaveLength(28)
  })

  it.each(filesIn('configs'))('%s', async (name) => {
    const file = join(CORPUS, 'configs', name)
    const text = readFileSync(file, 'utf8')
    const config = await loadConfig({ files: [file] })
    if (config.specs.some((spec) => spec.agent)) return // agent-corpus.test.ts counts these
    const { plain, odd } = count(text)
    const leftOut = config.diagnostics.filter(({ code }) => LEFT_OUT.includes(code))
    // Aliases of events that are written in no other way make hooks too.
    const canonical = config.specs.filter(({ hook }) => isCanonical(text, [...(hook.events as Set<string>)]))
    expect(canonical).toHaveLength(plain)
    expect(leftOut.length).toBeGreaterThanOrEqual(odd - (config.specs.length - canonical.length))
    if (odd === 0) expect(leftOut).toEqual([])
    expect(config.specs.length + leftOut.length).toBeGreaterThan(0)
    expectPlaces(config, file, text.split('\n').length)
  })

  it.each(filesIn('cases'))('%s', async (name) => {
    const { config: text } = JSON.parse(readFileSync(join(CORPUS, 'cases', name), 'utf8')) as {
      config: unknown
    }
    const content = typeof text === 'string' ? text : JSON.stringify(text)
    const root = tree({ 'plugin/hooks/hooks.json': content })
    const config = await loadConfig({ plugins: [join(root, 'plugin')], dataDir: join(root, 'data') })
    expect(config.specs.length).toBe(count(content).plain)
    expect(config.specs.length).toBeGreaterThan(0)
    expectPlaces(config, join(root, 'plugin/hooks/hooks.json'), content.split('\n').length)
  })
})

it.skipIf(isThere)('../shared/corpus is not there: its configurations were not loaded', () => {})

function isCanonical(text: string, events: readonly string[]): boolean {
  return events.every((event) => text.includes(`"${event}"`))
}

describe.skipIf(!isThere)('among them', () => {
  const loadNumber = async (number: string) => {
    const name = filesIn('configs').find((file) => file.startsWith(number)) ?? ''
    const { specs, diagnostics } = await loadConfig({ files: [join(CORPUS, 'configs', name)] })
    return { hooks: specs.length, codes: [...new Set(diagnostics.map(({ code }) => code))].sort() }
  }

  it.each([
    ['006', 3, []],
    ['009', 1, ['unknown-event']],
    ['010', 0, ['entry-invalid']],
    ['013', 2, ['timeout-clamped']],
    ['015', 1, []],
    ['024', 16, ['agent-event', 'unknown-key']],
    ['028', 1, []],
    ['032', 0, ['entry-invalid', 'unknown-event']],
    ['033', 2, []],
    ['034', 2, ['unknown-key']],
    ['035', 5, ['unknown-key']],
    ['047', 6, []],
    ['051', 1, []],
    ['063', 12, ['matcher-invalid']],
    ['140', 12, ['timeout-clamped']],
    ['179', 0, ['entry-invalid']],
  ])('%s makes %i hooks and says %j', async (number, hooks, codes) => {
    expect(await loadNumber(number)).toEqual({ hooks, codes })
  })
})
