// Every real hook file of another agent that was collected loads: each entry is a hook with the right event and seconds.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type LoadedConfig, loadConfig } from '../../src/config/load.js'
import { tree } from './temp-tree.js'

const CORPUS = resolve('../shared/corpus/foreign')
const isThere = existsSync(join(CORPUS, 'index.json'))

interface CorpusEntry {
  readonly event: string
  readonly canonical: string | null
  readonly command: string
  readonly timeout_s?: number
  readonly line: number
  readonly end_line: number
}

interface CorpusFile {
  readonly file: string
  readonly host: string
  readonly path: string
  readonly entries: readonly CorpusEntry[]
}

const files: readonly CorpusFile[] = isThere
  ? (JSON.parse(readFileSync(join(CORPUS, 'index.json'), 'utf8')) as CorpusFile[])
  : []

/** Events that have no counterpart in Claude Code, but have one here. */
const ONLY_HERE: Readonly<Record<string, string>> = {
  BeforeModel: 'ModelRequest',
  AfterModel: 'ModelResponse',
}

function found({ specs, diagnostics }: LoadedConfig) {
  expect(diagnostics.filter(({ code }) => /invalid|unsupported/.test(code))).toEqual([])
  return specs.map(({ hook, ...spec }) => ({
    event: hook.events === 'all' ? '*' : [...hook.events].join(),
    line: hook.origin.line,
    seconds: spec.type !== 'process' && spec.common.timeout === undefined ? undefined : hook.timeoutMs / 1000,
    text: JSON.stringify(spec.handler),
  }))
}

function expectAll(loaded: LoadedConfig, { entries }: CorpusFile): void {
  const hooks = found(loaded)
  expect(hooks.map(({ event, line, seconds }) => ({ event, line, seconds }))).toEqual(
    entries.map(({ event, canonical, line, timeout_s: seconds }) => ({
      event: canonical ?? ONLY_HERE[event] ?? event,
      line,
      seconds,
    })),
  )
  for (const [i, { command }] of entries.entries())
    expect(hooks[i]?.text).toContain(JSON.stringify(command).slice(1, -1))
  for (const { event, canonical, line } of entries) {
    if (canonical !== null || event in ONLY_HERE) continue
    const said = loaded.diagnostics.filter(({ code, text }) => /event$/.test(code) && text.includes(event))
    expect(said[0]?.line).toBeLessThanOrEqual(line)
  }
}

describe.skipIf(!isThere)(
  'hook files of other agents (../shared/corpus/foreign, absent in a bare checkout)',
  () => {
    it.each(files.map((one) => [one.file, one] as const))('%s', async (_, one) => {
      const inCorpus = join(CORPUS, one.file)
      expectAll(await loadConfig({ files: [inCorpus] }), one)
      const inProject = join(tree({}), one.path)
      mkdirSync(dirname(inProject), { recursive: true })
      writeFileSync(inProject, readFileSync(inCorpus))
      expectAll(await loadConfig({ files: [inProject], projectDir: dirname(dirname(inProject)) }), one)
    })
  },
)
