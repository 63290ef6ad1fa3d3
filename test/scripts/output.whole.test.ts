// Replacing a folder of built files while it is in use. Real processes replace it, and are killed at every step.

import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inputsDigest, isUpToDate, replaceOutput, stamp } from '../../scripts/output.mjs'

const OUTPUT = new URL('../../scripts/output.mjs', import.meta.url).href
const KILLED_AT = fileURLToPath(new URL('killed-at.mjs', import.meta.url))

let root = ''
const dist = () => join(root, 'dist')

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'carabiner-output-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

/** A program of two entries that share a chunk; the names of its chunks are its own, as those with a hash are. */
function program(version: string): Record<string, string> {
  const chunk = `chunks/shared-${version}.mjs`
  return {
    [chunk]: `export const version = '${version}'\n`,
    [`chunks/late-${version}.mjs`]: `export { version } from './shared-${version}.mjs'\n`,
    'bin/main.mjs': `import { version } from '../${chunk}'\nconst late = await import('../chunks/late-${version}.mjs')\nconsole.log(version === late.version ? version : 'torn')\n`,
    'index.mjs': `export { version } from './${chunk}'\n`,
    [`only-${version}.txt`]: version,
  }
}

const ENTRIES = ['index.mjs', 'bin/main.mjs']

function built(version: string): void {
  const next = join(root, 'next')
  rmSync(next, { recursive: true, force: true })
  write(next, program(version))
  stamp(next, version)
}

const runs = () => spawnSync(process.execPath, [join(dist(), 'bin/main.mjs')], { encoding: 'utf8' })

describe('replaceOutput', () => {
  it('leaves the new files, and nothing of the old ones', () => {
    write(dist(), { ...program('old'), 'deep/er/gone.txt': '' })
    built('new')
    replaceOutput(join(root, 'next'), dist(), ENTRIES)
    expect(readdirSync(dist()).sort()).toEqual(['bin', 'build.json', 'chunks', 'index.mjs', 'only-new.txt'])
    expect(isUpToDate(dist(), 'new')).toBe(true)
    expect(runs().stdout).toBe('new\n')
  })

  it('has a program that works, wherever it is killed; the next one finishes', () => {
    const seen = new Set<string>()
    let ended: SpawnSyncReturns<string>
    let step = 0
    do {
      rmSync(dist(), { recursive: true, force: true })
      write(dist(), program('old'))
      built('new')
      ended = replacing(++step)
      const { stdout, stderr, status } = runs()
      expect({ stderr, status }, `killed at step ${step}`).toEqual({ stderr: '', status: 0 })
      seen.add(stdout.trim())
      if (isUpToDate(dist(), 'new')) expect(stdout).toBe('new\n')
      built('new')
      replaceOutput(join(root, 'next'), dist(), ENTRIES)
      expect(isUpToDate(dist(), 'new')).toBe(true)
    } while (ended.signal === 'SIGKILL')
    expect(ended.status).toBe(0)
    expect([...seen]).toEqual(['old', 'new'])
    expect(step).toBeGreaterThan(8)
  })
})

/** In a process of its own that is killed before it changes the disk for the `step`th time. */
function replacing(step: number): SpawnSyncReturns<string> {
  const code = `
    import { replaceOutput } from ${JSON.stringify(OUTPUT)}
    replaceOutput(${JSON.stringify(join(root, 'next'))}, ${JSON.stringify(dist())}, ${JSON.stringify(ENTRIES)})`
  return spawnSync(
    process.execPath,
    ['--import', pathToFileURL(KILLED_AT).href, '--input-type=module', '-e', code],
    { encoding: 'utf8', env: { ...process.env, KILLED_AT: String(step) } },
  )
}

describe('keepUpToDate', () => {
  /** A build that takes its version from a file, and says when it has begun to write. */
  const build = () => {
    const code = `
      import { cpSync, readFileSync } from 'node:fs'
      import { setTimeout } from 'node:timers/promises'
      import { keepUpToDate } from ${JSON.stringify(OUTPUT)}
      const root = ${JSON.stringify(root)}
      await keepUpToDate({
        folder: root + '/dist',
        work: root + '/work',
        entries: ${JSON.stringify(ENTRIES)},
        inputs: () => readFileSync(root + '/version', 'utf8'),
        make: async (next) => {
          cpSync(root + '/' + readFileSync(root + '/version', 'utf8'), next, { recursive: true })
          console.log('made')
          await setTimeout(Number(process.env.TAKES ?? 0))
        },
      })`
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      env: { ...process.env, TAKES: process.env.TAKES ?? '0' },
    })
    const said = { stdout: '', stderr: '' }
    child.stdout.on('data', (text) => {
      said.stdout += text
    })
    child.stderr.on('data', (text) => {
      said.stderr += text
    })
    const ended = new Promise<typeof said & { status: number | null }>((resolve) =>
      child.on('close', (status) => resolve({ ...said, status })),
    )
    const made = new Promise((resolve) => child.stdout.once('data', resolve))
    return { child, ended, made }
  }

  beforeEach(() => {
    write(join(root, 'one'), program('one'))
    write(join(root, 'two'), program('two'))
    write(root, { version: 'one' })
  })

  it('builds once, and says that it need not do so again', async () => {
    expect(await build().ended).toEqual({ stdout: 'made\n', stderr: 'Building dist/ …\n', status: 0 })
    expect(await build().ended).toEqual({ stdout: '', stderr: 'dist/ is up to date\n', status: 0 })
    write(root, { version: 'two' })
    expect((await build().ended).stdout).toBe('made\n')
    expect(runs().stdout).toBe('two\n')
    rmSync(join(dist(), 'index.mjs'))
    expect((await build().ended).stdout).toBe('made\n')
  })

  it('lets one of two build, and the other wait for it', async () => {
    const both = [build(), build()]
    const ended = await Promise.all(both.map((one) => one.ended))
    expect(ended.map(({ status }) => status)).toEqual([0, 0])
    expect(ended.map(({ stdout }) => stdout).sort()).toEqual(['', 'made\n'])
    expect(ended.map(({ stderr }) => stderr).join('')).toContain('dist/ is up to date\n')
    expect(runs().stdout).toBe('one\n')
  })

  it('is not held up by a build that was killed', async () => {
    await build().ended
    write(root, { version: 'two' })
    process.env.TAKES = '600000'
    const killed = build()
    delete process.env.TAKES
    await killed.made
    expect(runs().stdout).toBe('one\n')
    killed.child.kill('SIGKILL')
    await killed.ended
    expect(runs().stdout).toBe('one\n')
    expect((await build().ended).status).toBe(0)
    expect(runs().stdout).toBe('two\n')
  })

  it('keeps what there is when a build fails', async () => {
    await build().ended
    write(root, { version: 'three' })
    expect((await build().ended).status).toBe(1)
    expect(runs().stdout).toBe('one\n')
  })
})

describe('isUpToDate', () => {
  beforeEach(() => {
    write(dist(), program('1'))
    stamp(dist(), 'inputs')
  })

  it('is true for the folder as it was built', () => {
    expect(isUpToDate(dist(), 'inputs')).toBe(true)
  })

  it('is false for other inputs, a missing folder and a stamp that cannot be read', () => {
    expect(isUpToDate(dist(), 'others')).toBe(false)
    expect(isUpToDate(join(root, 'none'), 'inputs')).toBe(false)
    writeFileSync(join(dist(), 'build.json'), '{')
    expect(isUpToDate(dist(), 'inputs')).toBe(false)
  })

  it('is false where a file is damaged, gone or new', () => {
    const index = join(dist(), 'index.mjs')
    const text = readFileSync(index, 'utf8')
    writeFileSync(index, text.replace('version', 'vers1on'))
    expect(isUpToDate(dist(), 'inputs')).toBe(false)
    rmSync(index)
    expect(isUpToDate(dist(), 'inputs')).toBe(false)
    writeFileSync(index, text)
    expect(isUpToDate(dist(), 'inputs')).toBe(true)
    writeFileSync(join(dist(), 'left-over.js'), '')
    expect(isUpToDate(dist(), 'inputs')).toBe(false)
  })

  it('does not mind what programs keep for themselves', () => {
    writeFileSync(join(dist(), 'bin/main.mjs.v20.cache'), 'compiled')
    expect(isUpToDate(dist(), 'inputs')).toBe(true)
  })
})

describe('inputsDigest', () => {
  it('is another when a file changes, moves, comes or goes, and with another Node', () => {
    const digest = (more = 'v20') => inputsDigest([join(root, 'src'), join(root, 'package.json')], more)
    write(root, { 'src/a.ts': '1', 'src/b/c.ts': '2' })
    const digests = [digest(), digest('v22')]
    write(root, { 'src/a.ts': '3' })
    digests.push(digest())
    write(root, { 'package.json': '{}' })
    digests.push(digest())
    rmSync(join(root, 'src/b/c.ts'))
    digests.push(digest())
    write(root, { 'src/c.ts': '2' })
    digests.push(digest())
    expect(new Set(digests).size).toBe(digests.length)
    expect(digest()).toBe(digests.at(-1))
  })
})
