import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { count } from '../../src/files/fields.js'
import { VersionedFile, type VersionedFileOptions } from '../../src/files/versioned-file.js'
import { runs } from '../property/runs.js'
import { workplace } from '../store/sessions/workplace.js'

/** As if of another process: they share nothing but the folder. */
const counter = (folder: string, more: Partial<VersionedFileOptions<number>> = {}) =>
  new VersionedFile<number>({
    folder,
    what: 'the number',
    fresh: 0,
    check: (value) => count(value, 'the number'),
    ...more,
  })

const plusOne = (value: number) => value + 1
const newFolder = () => join(workplace().root, 'value')
const path = (folder: string, name: string) => join(folder, name)

describe('a versioned file', () => {
  it('is fresh, without a folder, until it is changed', () => {
    const folder = newFolder()
    expect(counter(folder).load()).toBe(0)
    counter(folder).update((value) => value)
    expect(() => statSync(folder)).toThrow('ENOENT')
    counter(folder).update(plusOne)
    expect(counter(folder).load()).toBe(1)
  })

  it('is one file, for this user alone', () => {
    const folder = newFolder()
    for (let i = 0; i < 5; i++) counter(folder).update(plusOne)
    expect(readdirSync(folder)).toEqual(['5.json'])
    expect(JSON.parse(readFileSync(path(folder, '5.json'), 'utf8'))).toEqual({ format: 1, value: 5 })
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(path(folder, '5.json')).mode & 0o777).toBe(0o600)
  })

  it('writes nothing where nothing changes', () => {
    const folder = newFolder()
    counter(folder).update(plusOne)
    counter(folder).update((value) => value)
    expect(readdirSync(folder)).toEqual(['1.json'])
  })

  it('leaves everything as it was when the change throws', () => {
    const folder = newFolder()
    counter(folder).update(plusOne)
    const failing = () => {
      throw new TypeError('mine')
    }
    expect(() => counter(folder).update(failing)).toThrow(new TypeError('mine'))
    expect(readdirSync(folder)).toEqual(['1.json'])
  })

  it('leaves other files of the folder alone', () => {
    const folder = newFolder()
    mkdirSync(folder)
    const others = ['0.json', '01.json', '1.json.bak', 'a.json', 'env', 'x.tmp']
    for (const name of others) writeFileSync(path(folder, name), 'mine')
    for (let i = 0; i < 3; i++) counter(folder).update(plusOne)
    expect(readdirSync(folder).sort()).toEqual([...others, '3.json'].sort())
  })

  it('is refused beyond 1 MiB, and stays as it was', () => {
    const folder = newFolder()
    const texts = new VersionedFile({ folder, what: 'the text', fresh: '', check: String })
    texts.update(() => 'short')
    expect(() => texts.update(() => 'x'.repeat(1024 * 1024))).toThrow(
      `the text in ${folder} would take 1048599 bytes, more than 1048576; it was not changed`,
    )
    expect(texts.load()).toBe('short')
  })
})

describe('two at once', () => {
  it('both count: the slower begins again', () => {
    const folder = newFolder()
    mkdirSync(folder)
    const seen: number[] = []
    counter(folder).update((value) => {
      seen.push(value)
      if (seen.length <= 3) counter(folder).update(plusOne)
      return value + 1
    })
    expect(seen).toEqual([0, 1, 2, 3])
    expect(counter(folder).load()).toBe(4)
    expect(readdirSync(folder)).toEqual(['4.json'])
  })

  it.each([10, 64, 65, 200])('a writer that sleeps through %i updates counts once', (others) => {
    const folder = newFolder()
    counter(folder).update(plusOne)
    let slept = false
    counter(folder).update((value) => {
      if (!slept) for (let i = 0; i < others; i++) counter(folder).update(plusOne)
      slept = true
      return value + 1
    })
    expect(counter(folder).load()).toBe(others + 2)
    expect(readdirSync(folder)).toHaveLength(1)
  })

  it('versions do not pile up behind a writer that sleeps', () => {
    const folder = newFolder()
    mkdirSync(folder)
    let most = 0
    let slept = false
    counter(folder).update((value) => {
      for (let i = 0; i < 500 && !slept; i++) {
        counter(folder).update(plusOne)
        most = Math.max(most, readdirSync(folder).length)
      }
      slept = true
      return value + 1
    })
    expect(most).toBeLessThan(70)
  })

  it('every update counts exactly once, however they interrupt each other', () => {
    type Tree = readonly Tree[]
    const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
      tree: fc.oneof({ maxDepth: 3 }, fc.constant([]), fc.array(tie('tree'), { maxLength: 3 })),
    }))
    const size = (node: Tree): number => 1 + node.reduce((sum, child) => sum + size(child), 0)
    const base = workplace().root
    let run = 0
    fc.assert(
      fc.property(tree, (root) => {
        const folder = join(base, String(run++))
        const write = (node: Tree) => {
          let interrupted = false
          counter(folder).update((value) => {
            if (!interrupted) for (const child of node) write(child)
            interrupted = true
            return value + 1
          })
        }
        // The folder is there, so that `change` runs only against what is in it.
        mkdirSync(folder)
        write(root)
        expect(counter(folder).load()).toBe(size(root))
        expect(readdirSync(folder)).toHaveLength(1)
      }),
      { numRuns: runs(100) },
    )
  })

  it('the folder may go meanwhile', () => {
    const folder = newFolder()
    counter(folder).update(() => 10)
    let removed = false
    counter(folder).update((value) => {
      if (!removed) rmSync(folder, { recursive: true })
      removed = true
      return value + 1
    })
    expect(counter(folder).load()).toBe(1)
  })

  it('gives up on a value that never rests, and says so', () => {
    const folder = newFolder()
    counter(folder).update(plusOne)
    let version = 1
    const restless = () =>
      counter(folder).update((value) => {
        // Another process was faster: the next version is there already.
        renameSync(path(folder, `${version}.json`), path(folder, `${++version}.json`))
        return value + 1
      })
    expect(restless).toThrow(/^the number in .* was changed by other processes 1000 times .*; try again$/)
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })
})

describe('what the dead leave behind', () => {
  it('a draft and old versions are removed by the next update', () => {
    const folder = newFolder()
    counter(folder).update(plusOne)
    // No process has such an id.
    writeFileSync(path(folder, '2147483647-0123456789abcdef.tmp'), '{"form')
    writeFileSync(path(folder, '2.json'), JSON.stringify({ format: 1, value: 7 }))
    expect(counter(folder).load()).toBe(7)
    counter(folder).update(plusOne)
    expect(counter(folder).load()).toBe(8)
    expect(readdirSync(folder)).toEqual(['3.json'])
  })

  it('drafts that look alive are removed before versions pile up', () => {
    const folder = newFolder()
    counter(folder).update(plusOne)
    writeFileSync(path(folder, `${process.pid}-0123456789abcdef.tmp`), '')
    for (let i = 0; i < 70; i++) counter(folder).update(plusOne)
    expect(readdirSync(folder)).toEqual(['71.json'])
  })
})

describe('what cannot be read', () => {
  const put = (content: string | Uint8Array) => (file: string) => writeFileSync(file, content)

  it.each<[string, (file: string) => void, string]>([
    ['garbage', put('\u0000\u0001 garbage'), 'is not valid JSON'],
    ['bytes that are no text', put(Buffer.from([0x22, 0xff, 0x22])), 'is not UTF-8'],
    ['half a file', put('{"format":1,"val'), 'is not valid JSON'],
    ['an empty file', put(''), 'is empty'],
    ['another file', put('[]'), 'is not in a Carabiner format'],
    ['no value', put('{"format":1}'), 'is not valid: the number must be a whole number, 0 or more'],
    ['a wrong value', put('{"format":1,"value":-1}'), 'is not valid: the number must be a whole number'],
    ['a folder', (file) => mkdirSync(path(file, 'full'), { recursive: true }), 'is not a regular file'],
    ['a pipe that nobody writes to', (file) => execFileSync('mkfifo', [file]), 'is not a regular file'],
    ['a link', (file) => symlinkSync('../elsewhere', file), 'is a link'],
    [
      'a file that is too large',
      (file) => {
        writeFileSync(file, '')
        truncateSync(file, 4 * 1024 * 1024 + 1)
      },
      'is larger than 4194304 bytes',
    ],
  ])('%s is moved aside and told once', (_, make, problem) => {
    const folder = newFolder()
    writeFileSync(join(folder, '..', 'elsewhere'), '{"format":1,"value":3}')
    for (let i = 0; i < 3; i++) counter(folder).update(plusOne)
    make(path(folder, '4.json'))
    expect(() => counter(folder).load()).toThrow(
      new RegExp(
        `^${folder}/4.json ${problem}.*; it was moved to ${folder}/broken-4-\\w+, and the number starts fresh$`,
      ),
    )
    expect(counter(folder).load()).toBe(0)
    counter(folder).update(plusOne)
    expect(counter(folder).load()).toBe(1)
    expect(readdirSync(folder)).toEqual(['6.json', expect.stringMatching(/^broken-4-/)])
  })

  it('what a newer version wrote stays where it is, and nothing is written over it', () => {
    const folder = newFolder()
    mkdirSync(folder)
    put('{"format":2,"value":5}')(path(folder, '7.json'))
    const told = `${folder}/7.json was written by a newer version of Carabiner (format 2; this one reads up to 1); update this one, or set CARABINER_HOME to a folder of its own`
    for (let i = 0; i < 2; i++) {
      expect(() => counter(folder).load()).toThrow(told)
      expect(() => counter(folder).update(plusOne)).toThrow(told)
    }
    expect(readdirSync(folder)).toEqual(['7.json'])
  })

  it('fails an update as well, and the next one counts', () => {
    const folder = newFolder()
    mkdirSync(folder)
    put('garbage')(path(folder, '1.json'))
    expect(() => counter(folder).update(plusOne)).toThrow(/is not valid JSON/)
    counter(folder).update(plusOne)
    expect(counter(folder).load()).toBe(1)
  })

  it('keeps its content', () => {
    const folder = newFolder()
    mkdirSync(folder)
    put('{"format":0.5,"value":"precious"}')(path(folder, '1.json'))
    expect(() => counter(folder).load()).toThrow()
    const [aside = ''] = readdirSync(folder).filter((name) => name.startsWith('broken-1-'))
    expect(readFileSync(path(folder, aside), 'utf8')).toContain('precious')
  })

  it('an update under way while it is moved counts once', () => {
    const folder = newFolder()
    counter(folder).update(plusOne)
    let slept = false
    counter(folder).update((value) => {
      if (!slept) {
        put('garbage')(path(folder, '2.json'))
        expect(() => counter(folder).load()).toThrow(/is not valid JSON/)
        counter(folder).update(plusOne)
      }
      slept = true
      return value + 1
    })
    expect(counter(folder).load()).toBe(2)
  })

  it('has no number after the highest', () => {
    const folder = newFolder()
    mkdirSync(folder)
    put('{"format":1,"value":3}')(path(folder, '999999999999.json'))
    expect(counter(folder).load()).toBe(3)
    expect(() => counter(folder).update(plusOne)).toThrow(/there is no version after 999999999999/)
    expect(readdirSync(folder)).toEqual(['999999999999.json'])
  })
})

describe('a place that cannot be written', () => {
  it('a file where the folder should be', () => {
    const folder = newFolder()
    writeFileSync(folder, '')
    const says =
      /^the number in .* cannot be (read|written): .*; remove the file that is in the way of a folder$/
    expect(() => counter(folder).load()).toThrow(says)
    expect(() => counter(folder).update(plusOne)).toThrow(says)
    expect(() => counter(join(folder, 'deeper')).update(plusOne)).toThrow(says)
  })

  it('a link that leads nowhere where the folder should be', () => {
    const folder = newFolder()
    symlinkSync('nowhere', folder)
    expect(() => counter(folder).update(plusOne)).toThrow(/cannot be written: /)
  })

  it('a file system without hard links', async () => {
    const folder = newFolder()
    vi.resetModules()
    vi.doMock('node:fs', async (original) => ({
      ...(await original<typeof import('node:fs')>()),
      linkSync: () => {
        throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' })
      },
    }))
    const mocked = await import('../../src/files/versioned-file.js')
    vi.doUnmock('node:fs')
    const file = new mocked.VersionedFile({ folder, what: 'the number', fresh: 0, check: Number })
    expect(() => file.update(plusOne)).toThrow(
      /set CARABINER_HOME to a folder on a file system that has hard links$/,
    )
    expect(readdirSync(folder)).toEqual([])
  })
})
