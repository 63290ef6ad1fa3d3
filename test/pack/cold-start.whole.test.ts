// A host starts the pack for every event: its programs are small, and compiled beforehand, as commands are.

import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { cacheFile, unsealed } from '../../src/cli/start/compiled.js'
import { COMMAND_PROGRAMS, HOOK_PROGRAMS, hookProgram } from '../../src/cli/start/programs.js'
import { PACK_NAMES } from '../../src/hosts/pack-names.js'
import { Project, programFile, withProgram } from '../cli/program.js'

withProgram('own')

const fileOf = (program: string) => join(dirname(programFile()), program)
const GUARD = () => fileOf(hookProgram('pre-tool-use'))
const CACHE = () => cacheFile(GUARD())

describe('the programs of the pack', () => {
  it('hold nothing of the engine, of configuration, of trust, or of the command line', async () => {
    const { metafile } = await build({
      entryPoints: ['src/cli/start/hook-program.ts'],
      bundle: true,
      write: false,
      platform: 'node',
      format: 'esm',
      // Loaded late, and never by a hook.
      external: ['./setup.js', './proof.js'],
      metafile: true,
    })
    const inputs = Object.keys(metafile.inputs).filter((path) => path.startsWith('src/'))
    const floors = new Set(inputs.map((path) => path.split('/')[1]))
    expect([...floors].sort()).toEqual([
      'author',
      'cli',
      'core',
      'effects',
      'files',
      'hosts',
      'pack',
      'rules',
      'systems',
    ])
    expect(inputs.filter((path) => path.startsWith('src/cli/'))).toEqual(['src/cli/start/hook-program.ts'])
    const engine = /core\/\w+\/(engine|session|dispatch|registry|plan|fire|matcher)\.ts$|store\/|sessions\//
    expect(inputs.filter((path) => engine.test(path))).toEqual([])
  })

  it('are the guard alone, and the others without it', () => {
    expect(PACK_NAMES.filter((name) => hookProgram(name) === 'guard-program.js')).toEqual(['pre-tool-use'])
    const holds = (program: string, text: string) => readFileSync(fileOf(program), 'latin1').includes(text)
    // A rule of the guard, and a log that only the others write.
    expect([holds('guard-program.js', 'delete-held'), holds('hook-program.js', 'delete-held')]).toEqual([
      true,
      false,
    ])
    expect([holds('guard-program.js', 'inputBytes'), holds('hook-program.js', 'inputBytes')]).toEqual([
      false,
      true,
    ])
  })

  it('are started by an entry that loads no other file', () => {
    expect(readFileSync(programFile(), 'utf8')).not.toMatch(/\brequire\(["']\.\.?\//)
  })

  it('do not run from old code once the source has changed, even at the same length', async () => {
    const project = new Project()
    const source = readFileSync(GUARD(), 'latin1')
    const code = readFileSync(CACHE())
    // A rule that was compiled beforehand: other code comes from the new source in any case.
    const input = { tool_name: 'Bash', tool_input: { command: 'rm -rf ~' } }
    const asked = () => project.carabiner(['hook', 'pre-tool-use'], { input })
    const before = await asked()
    expect(before.stdout).toContain('delete-held')
    try {
      writeFileSync(GUARD(), source.replaceAll('delete-held', 'DELETE-HELD'), 'latin1')
      expect((await asked()).stdout).toContain('DELETE-HELD')
    } finally {
      writeFileSync(GUARD(), source, 'latin1')
      writeFileSync(CACHE(), code)
      project.remove()
    }
  })

  it('still run if that code is broken or missing, and store it again', async () => {
    const project = new Project()
    const input = { tool_name: 'Bash', tool_input: { command: 'rm -rf ~' } }
    const asked = () => project.carabiner(['hook', 'pre-tool-use'], { input })
    const isWhole = () => unsealed(readFileSync(CACHE()), readFileSync(GUARD())).code !== undefined
    const whole = readFileSync(CACHE())
    const { code, stdout } = await asked()
    expect(code).toBe(2)
    const damaged = Buffer.from(whole)
    const middle = Math.floor((whole.length - statSync(GUARD()).size) / 4)
    damaged.fill(0xff, middle, middle + 4096)
    try {
      rmSync(CACHE())
      expect(await asked()).toMatchObject({ code, stdout })
      expect(isWhole()).toBe(true)
      for (const content of ['', 'not code', whole.subarray(0, 5000), damaged]) {
        writeFileSync(CACHE(), content)
        expect(await asked()).toMatchObject({ code, stdout })
        expect(isWhole()).toBe(true)
      }
    } finally {
      writeFileSync(CACHE(), whole)
      project.remove()
    }
  })

  it('still run if it cannot be stored, and leave nothing behind', async () => {
    const project = new Project()
    const bin = join(project.base, 'bin')
    cpSync(dirname(programFile()), bin, { recursive: true })
    const cache = cacheFile(join(bin, 'list-program.js'))
    rmSync(cache)
    mkdirSync(cache)
    const before = readdirSync(bin)
    const { code, stderr } = await project.run(process.execPath, [join(bin, 'carabiner.js'), 'list'])
    expect([code, stderr, readdirSync(bin)]).toEqual([0, '', before])
    project.remove()
  })
})

describe.each([...HOOK_PROGRAMS, ...COMMAND_PROGRAMS])('%s', (program) => {
  it('is one file that loads no other', () => {
    expect(readFileSync(fileOf(program), 'utf8')).not.toMatch(/\b(?:require|import)\(["']\.\.?\//)
  })

  it('is ASCII, as its reader takes it to be', () => {
    expect(readFileSync(fileOf(program)).every((byte) => byte < 128)).toBe(true)
  })

  it('comes with code for this very Node, and no other', () => {
    const filename = fileOf(program)
    const cache = cacheFile(filename)
    expect(cache).toContain(`${process.version}-${process.arch}-${statSync(process.execPath).size}-`)
    const source = readFileSync(filename)
    const { code: cachedData } = unsealed(readFileSync(cache), source)
    if (!cachedData) throw new Error('it is not as it was written')
    const script = new Script(source.toString('latin1'), { filename, cachedData })
    expect(script.cachedDataRejected).toBe(false)
  })
})

describe('code that was kept', () => {
  const source = Buffer.from('source')

  it('is taken where both copies are the same, and the source is the one that is run', () => {
    expect(unsealed(Buffer.from('codecodesource\u0002'), source)).toEqual({
      code: Buffer.from('code'),
      runs: 2,
    })
  })

  it.each([
    ['the first copy is damaged', 'cXdecodesource\u0001'],
    ['the second copy is damaged', 'codecoXesource\u0001'],
    ['it was made of another source', 'codecodesXurce\u0001'],
    ['its end is gone', 'codecodesource'],
    ['its beginning is gone', 'odecodesource\u0001'],
    ['it has one byte more', 'codecodesource\u0001!'],
    ['there is one copy', 'codesource\u0001'],
    ['there is no code', 'source\u0001'],
    ['there is nothing', ''],
  ])('is not taken where %s', (_, content) => {
    expect(unsealed(Buffer.from(content), source)).toEqual({ code: undefined, runs: 0 })
  })

  it('that is not a file does not block', async () => {
    const project = new Project()
    const bin = join(project.base, 'bin')
    cpSync(dirname(programFile()), bin, { recursive: true })
    const cache = cacheFile(join(bin, 'list-program.js'))
    rmSync(cache)
    expect((await project.run('mkfifo', [cache])).code).toBe(0)
    expect((await project.run(process.execPath, [join(bin, 'carabiner.js'), 'list'])).code).toBe(0)
    project.remove()
  })

  it('C6: goes with the Node that compiled it', async () => {
    const project = new Project()
    const bin = join(project.base, 'bin')
    cpSync(dirname(programFile()), bin, { recursive: true })
    const program = join(bin, 'list-program.js')
    const own = cacheFile(program)
    const days = (number: number) => new Date(Date.now() - number * 86_400_000)
    const write = (path: string, changed = days(0)) => {
      writeFileSync(path, '')
      utimesSync(path, changed, changed)
      return path
    }
    const before = own.replace(process.version, 'v20.0.0')
    const gone = [
      write(before),
      write(`${program}.-elsewhere-node.v20.0.0-x64-1-1.cache`, days(31)),
      write(`${own}.1234.tmp`, days(2)),
    ]
    const left = [
      write(`${program}.-elsewhere-node.v24.0.0-x64-1-1.cache`),
      write(`${own}.5678.tmp`),
      write(join(bin, 'other.js.v20.0.0.cache'), days(100)),
    ]
    rmSync(own)
    expect((await project.run(process.execPath, [join(bin, 'carabiner.js'), 'list'])).code).toBe(0)
    expect(gone.filter((path) => existsSync(path))).toEqual([])
    expect([own, ...left].filter((path) => !existsSync(path))).toEqual([])
    project.remove()
  })

  it('grows with the first runs, and stays as it is afterwards', async () => {
    const project = new Project()
    const bin = join(project.base, 'bin')
    cpSync(dirname(programFile()), bin, { recursive: true })
    const program = join(bin, 'list-program.js')
    rmSync(cacheFile(program))
    const kept = async (...args: string[]) => {
      await project.run(process.execPath, [join(bin, 'carabiner.js'), 'list', ...args])
      const { code, runs } = unsealed(readFileSync(cacheFile(program)), readFileSync(program))
      return { size: code?.length ?? 0, runs }
    }
    const help = await kept('--help')
    const first = await kept()
    expect([help.runs, first.runs]).toEqual([1, 2])
    expect(first.size).toBeGreaterThan(help.size * 1.1)
    const last = await kept()
    expect([last.runs, await kept('--json')]).toEqual([3, last])
    project.remove()
  })
})
