// Every client passes the same cases: clients/conformance/cases.json, played by a small program in its language.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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

const scratch = mkdtempSync(join(tmpdir(), 'carabiner-clients-'))
afterAll(() => rmSync(scratch, { recursive: true }))

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

/** A program that plays one case after the other, and is started anew after a case that it did not end. */
class Player {
  readonly #command: readonly string[]
  #process: ReturnType<Player['start']> | undefined
  #isBusy = false

  constructor(command: readonly string[]) {
    this.#command = command
  }

  async play(one: Case): Promise<Json> {
    if (this.#isBusy) this.end()
    this.#isBusy = true
    const project = new Project()
    try {
      mkdirSync(join(project.home, '.amplifier'))
      cpSync(join(FOLDER, 'hooks'), join(project.home, '.amplifier/hooks'), { recursive: true })
      const { approver = null, deadline = 60 } = one
      const steps = (one.steps ?? []).map(([step]) => step)
      const place = { folder: project.folder, home: project.home }
      const file = join(project.base, 'case.json')
      writeFileSync(file, text({ ...place, program: programOf(one), approver, deadline, steps }))
      this.#process ??= this.start()
      const { child, lines, complaints } = this.#process
      child.stdin.write(`${file}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error(`the program that plays cases ended: ${Buffer.concat(complaints)}`)
      this.#isBusy = false
      return JSON.parse(value) as Json
    } finally {
      project.remove()
    }
  }

  end(): void {
    this.#process?.child.kill('SIGKILL')
    this.#process = undefined
  }

  /** Its status, when it has ended because there are no more cases. */
  async ended(): Promise<number> {
    this.#process ??= this.start()
    const { child } = this.#process
    child.stdin.end()
    const [status] = await once(child, 'close')
    return status
  }

  private start() {
    const [file, ...args] = this.#command as [string, ...string[]]
    const env = { PATH: process.env.PATH ?? '', HOME: tmpdir(), CARABINER_SERVICE: 'off' }
    const child = spawn(file, args, { cwd: tmpdir(), env, stdio: 'pipe' })
    child.stdin.on('error', () => undefined)
    const complaints: Buffer[] = []
    child.on('error', (error) => complaints.push(Buffer.from(error.message)))
    child.stderr.on('data', (some: Buffer) => complaints.push(some))
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    return { child, lines, complaints }
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
  let player: Player
  beforeAll(() => {
    if (isThere) player = new Player(language.player(scratch))
  }, 300_000)

  const ofIt = cases.filter(({ codec }) => !language.isCodec || codec)

  it.for(ofIt)('$name', async (one, { skip }) => {
    skip(!isThere, `needs ${language.needs}`)
    skip(language.lacks?.includes(one.needs ?? '') === true, `cannot ${one.needs}`)
    const played = await player.play(one)
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

  it('ends when there are no more cases', async ({ skip }) => {
    skip(!isThere, `needs ${language.needs}`)
    expect(await player.ended()).toBe(0)
  })

  afterAll(() => player?.end())
})
