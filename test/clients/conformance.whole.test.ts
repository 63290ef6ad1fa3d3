// Every client passes the same cases: clients/conformance/cases.json, played by a small program in its language.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { Project, programFile, withProgram } from '../cli/program.js'
import { ROOT } from '../docs/markdown.js'
import { isInstalled, LANGUAGES } from './languages.js'

withProgram()

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

interface Case {
  readonly name: string
  /** A way of engine.mjs. Default: the real engine. */
  readonly engine?: string
  /** In place of an engine. */
  readonly program?: readonly string[]
  readonly needs?: string
  /** For each codec of JSON that a client takes. */
  readonly codec?: boolean
  readonly approver?: Json
  readonly deadline?: number
  /** The error that opening comes to. */
  readonly open?: string
  /** Each with what it must come to: the fields that are named. A list of errors is a choice. */
  readonly steps?: readonly (readonly [step: Json, expected: Json])[]
}

const FOLDER = join(ROOT, 'clients/conformance')
const cases = JSON.parse(readFileSync(join(FOLDER, 'cases.json'), 'utf8')) as readonly Case[]

const LARGE = 'é🧗 large '.repeat(200_000)
/** No double has it. JSON of JavaScript cannot write it, so it is put into the text. */
const BIG = '1152921504606846977'

function text(value: Json | object): string {
  return JSON.stringify(value).replaceAll('"$big"', BIG).replaceAll('$large', LARGE)
}

function programOf({ engine, program }: Case): readonly string[] {
  if (program) return program
  return engine === undefined
    ? [process.execPath, programFile()]
    : [process.execPath, join(FOLDER, 'engine.mjs'), engine]
}

async function play(one: Case, player: readonly string[]): Promise<Json> {
  const project = new Project()
  try {
    mkdirSync(join(project.home, '.amplifier'))
    cpSync(join(FOLDER, 'hooks'), join(project.home, '.amplifier/hooks'), { recursive: true })
    const steps = (one.steps ?? []).map(([step]) => step)
    const { approver = null, deadline = 60 } = one
    const [file, ...args] = player as [string, ...string[]]
    const input = text({ program: programOf(one), approver, deadline, steps })
    const { code, stdout, stderr } = await project.run(file, args, { input })
    if (code !== 0) throw new Error(`it exited with ${code}: ${stderr}`)
    return JSON.parse(stdout) as Json
  } finally {
    project.remove()
  }
}

function check(actual: Json, expected: Json): void {
  const { each, error } = (expected ?? {}) as { readonly each?: Json; readonly error?: Json }
  if (each !== undefined) {
    const list = actual as readonly Json[]
    expect(list.length).toBeGreaterThan(0)
    for (const [n, got] of list.entries()) check(got, JSON.parse(text(each).replaceAll('$n', `${n}`)))
  } else if (Array.isArray(error)) expect(error).toContain((actual as { error?: string }).error)
  else expect(actual).toMatchObject(JSON.parse(text({ expected })).expected as object)
}

describe.each(LANGUAGES)('the client in $name', { timeout: 120_000 }, (language) => {
  const isThere = isInstalled(language)
  let player: readonly string[] = []
  beforeAll(() => {
    const scratch = mkdtempSync(join(tmpdir(), 'carabiner-client-'))
    if (isThere) player = language.player(scratch)
    return () => rmSync(scratch, { recursive: true })
  }, 300_000)

  const ofIt = cases.filter(({ codec }) => !language.isCodec || codec)

  it.for(ofIt)('$name', async (one, { skip }) => {
    skip(!isThere, `needs ${language.needs}`)
    skip(language.lacks?.includes(one.needs ?? '') === true, `cannot ${one.needs}`)
    const played = await play(one, player)
    if (one.open !== undefined) {
      expect(played).toEqual({ open: one.open })
      return
    }
    const results = played as readonly Json[]
    for (const [i, [step, expected]] of (one.steps ?? []).entries()) {
      const got = results[i] as Json
      try {
        check(got, expected)
      } catch (error) {
        const shown = JSON.stringify({ step, got }).slice(0, 2000)
        throw new Error(`step ${i + 1}: ${shown}`, { cause: error })
      }
    }
    expect(results.length).toBe(one.steps?.length)
  })
})
