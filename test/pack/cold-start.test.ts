// A host starts the pack for every event: what it loads is kept small, and is compiled beforehand.

import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { cacheFile } from '../../src/cli/compiled.js'
import { Project, programFile, withProgram } from '../cli/program.js'

withProgram()

const FILE = () => join(dirname(programFile()), 'hook-program.js')
const CACHE = () => cacheFile(FILE())

describe('the program of the pack', () => {
  it('holds nothing of the engine, of configuration, of trust, or of the command line', async () => {
    const { metafile } = await build({
      entryPoints: ['src/cli/hook-program.ts'],
      bundle: true,
      write: false,
      platform: 'node',
      format: 'esm',
      metafile: true,
    })
    const inputs = Object.keys(metafile.inputs).filter((path) => path.startsWith('src/'))
    const floors = new Set(inputs.map((path) => path.split('/')[1]))
    expect([...floors].sort()).toEqual(['author', 'cli', 'core', 'dialects', 'pack', 'shell', 'state'])
    expect(inputs.filter((path) => path.startsWith('src/cli/'))).toEqual(['src/cli/hook-program.ts'])
    const engine = /core\/(engine|session|dispatch|registry|plan|fire|matcher)\.ts$|state\/file-store\.ts$/
    expect(inputs.filter((path) => engine.test(path))).toEqual([])
  })

  it('is one file that loads no other', () => {
    expect(readFileSync(FILE(), 'utf8')).not.toMatch(/\b(?:require|import)\(["']\.\.?\//)
    expect(readFileSync(programFile(), 'utf8')).not.toMatch(/\brequire\(["']\.\.?\//)
  })

  it('is ASCII, as its reader takes it to be', () => {
    expect(readFileSync(FILE()).every((byte) => byte < 128)).toBe(true)
  })

  it('comes with code for this very Node, and no other', () => {
    expect(CACHE()).toContain(`${process.version}-${process.arch}-${statSync(process.execPath).size}-`)
    const cachedData = readFileSync(CACHE()).subarray(0, -20) // before its checksum
    const script = new Script(readFileSync(FILE(), 'latin1'), { filename: FILE(), cachedData })
    expect(script.cachedDataRejected).toBe(false)
  })

  it('is not run in its old form once its source says something else, of the same length', async () => {
    const project = new Project()
    const source = readFileSync(FILE(), 'latin1')
    const asked = () => project.carabiner(['hook', 'pre-tool-use'], { input: 'no JSON' })
    const before = await asked()
    expect(before.stderr).toContain('invalid_input')
    try {
      writeFileSync(FILE(), source.replaceAll('invalid_input', 'INVALID_INPUT'), 'latin1')
      expect((await asked()).stderr).toContain('INVALID_INPUT')
    } finally {
      writeFileSync(FILE(), source, 'latin1')
      project.remove()
    }
  })

  it('runs all the same where that code is for another version, broken, or not there', async () => {
    const project = new Project()
    const input = { tool_name: 'Bash', tool_input: { command: 'rm -rf ~' } }
    const asked = () => project.carabiner(['hook', 'pre-tool-use'], { input })
    const { code, stdout } = await asked()
    expect(code).toBe(2)
    renameSync(CACHE(), `${CACHE()}.away`)
    try {
      expect(await asked()).toMatchObject({ code, stdout })
      const whole = readFileSync(`${CACHE()}.away`)
      const damaged = Buffer.from(whole)
      damaged.fill(0xff, whole.length / 2, whole.length / 2 + 4096)
      for (const content of ['', 'not code', whole.subarray(0, 5000), damaged]) {
        writeFileSync(CACHE(), content)
        expect(await asked()).toMatchObject({ code, stdout })
      }
    } finally {
      renameSync(`${CACHE()}.away`, CACHE())
      project.remove()
    }
  })
})
