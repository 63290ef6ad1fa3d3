import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { deleteSettings, replaceSettings } from '../../src/hosts/settings-file.js'
import { carryOut, planInstall, planRemove } from '../../src/hosts/setup.js'
import { SetupProblem } from '../../src/hosts/setup-problem.js'
import { SetupRecord } from '../../src/hosts/setup-record.js'
import { sample } from '../property/runs.js'
import { corpusFiles, corpusIsHere } from '../systems/claude-code/replay.js'
import { engineEntries, packEntries } from './grouped.js'
import { workplace } from './workplace.js'

// Each change is written to the disk for good, which takes a busy machine its time.

const PROGRAM = { node: '/usr/bin/node', script: '/opt/carabiner/dist/bin/carabiner.js' }
const PACK = packEntries(PROGRAM)
const ENGINE = engineEntries(PROGRAM)
const MINE = { hooks: { Stop: [{ hooks: [{ type: 'command', command: './mine.sh' }] }] } }

const ORIGINALS: Readonly<Record<string, string>> = {
  'an empty object': '{}',
  'an empty object with a line': '{}\n',
  'an empty file': '',
  'blanks alone': ' \n\n',
  'an empty hooks': '{"hooks":{}}',
  'empty lists': '{\n  "hooks": { "Stop": [], "PreToolUse": [ ] }\n}',
  'hooks of others': JSON.stringify(MINE, null, 2),
  'tabs and no last line': JSON.stringify({ model: 'x', ...MINE }, null, '\t'),
  'CRLF and a mark': `\uFEFF${JSON.stringify(MINE, null, 4).replaceAll('\n', '\r\n')}\r\n`,
  comments: '// top\n{\n  // model\n  "model": "x", // why\n  "hooks": { /* none */ },\n}\n// end',
  'odd blanks': '\n\n {"a" :1 ,\n\n"hooks":{ "Stop"\n:[ ] } }\n ',
  'no ASCII': '{"ключ": "значение \\u0000 \\ud83d", "emoji": "🧗"}',
}

describe('install, install, remove gives back the bytes of', () => {
  it.each(Object.entries(ORIGINALS))('%s', async (_, original) => {
    for (const entries of [PACK, ENGINE]) {
      const { write, text, install, remove } = workplace()
      write(original)
      expect((await install(entries)).changes).toBe(true)
      const installed = text()
      expect((await install(entries)).changes).toBe(false)
      expect(text()).toBe(installed)
      await remove()
      expect(text()).toBe(original)
      expect((await remove()).changes).toBe(false)
    }
  })

  it('one setup after another, of either kind', async () => {
    const { write, text, install, remove } = workplace()
    write('{ "hooks": {} }')
    for (const entries of [PACK, ENGINE, packEntries({ ...PROGRAM, node: '/new/node' }), PACK])
      await install(entries)
    expect(JSON.parse(text() ?? '').hooks.Stop).toEqual([PACK[1]?.group])
    await remove()
    expect(text()).toBe('{ "hooks": {} }')
  })

  it.skipIf(!corpusIsHere)('every real file of the corpus that is an object', async () => {
    const { write, text, install, remove } = workplace()
    const refused: string[] = []
    for (const name of sample(corpusFiles('configs'))) {
      const original = readFileSync(new URL(`../../../shared/corpus/${name}`, import.meta.url), 'utf8')
      write(original)
      try {
        await install(PACK)
      } catch (error) {
        expect(error).toBeInstanceOf(SetupProblem)
        expect(text()).toBe(original)
        refused.push(`${name}: ${(error as Error).message}`)
        continue
      }
      expect((await install(PACK)).changes, name).toBe(false)
      await install(ENGINE)
      await remove()
      expect(text(), name).toBe(original)
    }
    expect(refused).toEqual([])
  })
})

describe('a file that was not there', () => {
  it('goes with what was put into it, and so does its folder', async () => {
    const { text, install, remove, files } = workplace()
    await install(PACK)
    expect(JSON.parse(text() ?? '')).toEqual({ hooks: expect.any(Object) })
    await install(ENGINE)
    await remove()
    expect(files()).toEqual([])
  })

  it('stays where somebody else wrote into it; so does a folder', async () => {
    const { text, write, install, remove, files, project } = workplace()
    await install(PACK)
    write(JSON.stringify({ model: 'x', ...JSON.parse(text() ?? '') }, null, 2))
    await remove()
    expect(JSON.parse(text() ?? '')).toEqual({ model: 'x' })
    write('')
    const other = workplace()
    await other.install(PACK)
    writeFileSync(join(other.project, '.claude/commands.md'), '')
    await other.remove()
    expect(other.files()).toEqual(['.claude', '.claude/commands.md'])
    expect(files()).toEqual(['.claude', '.claude/settings.json'])
    expect(project).not.toBe(other.project)
  })

  it('goes, too, where others left nothing in it', async () => {
    const { text, write, install, remove, files } = workplace()
    await install(PACK)
    write(JSON.stringify(JSON.parse(text() ?? ''), null, 7))
    await remove()
    expect(files()).toEqual([])
  })
})

describe('pruning', () => {
  const THERE = { node: '/nowhere/node', script: '' }
  const alive = (root: string) => {
    const script = join(root, 'carabiner.js')
    writeFileSync(script, '')
    return packEntries({ ...THERE, script })
  }

  it('leaves working entries, the project’s hooks and other people’s entries alone', async () => {
    const { root, write, text, install, prune } = workplace()
    for (const entries of [alive(root), ENGINE]) {
      await install(entries)
      expect((await prune()).changes).toBe(false)
    }
    const mine = { type: 'command', command: `${PACK[1]?.group.hooks[0].command} && ./mine.sh` }
    const original = JSON.stringify({
      hooks: { Stop: [{ hooks: [mine, { type: 'command', command: 'carabiner hook stop' }] }] },
    })
    write(original)
    expect((await prune()).changes).toBe(false)
    expect(text()).toBe(original)
  })

  it('removes dead entries, and keeps the record of the others', async () => {
    const { root, write, text, install, remove, prune } = workplace()
    write('{ "model": "x" }')
    const entries = alive(root)
    await install(entries)
    const installed = JSON.parse(text() ?? '')
    write(
      JSON.stringify({
        ...installed,
        hooks: { ...installed.hooks, Stop: [PACK[1]?.group, ...installed.hooks.Stop] },
      }),
    )
    expect((await prune()).changes).toBe(true)
    expect(JSON.parse(text() ?? '')).toEqual(installed)
    expect((await prune()).changes).toBe(false)
    await remove()
    expect(JSON.parse(text() ?? '')).toEqual({ model: 'x' })
  })

  it.each(Object.entries(ORIGINALS))(
    'gives back the bytes where nothing else of ours is there: %s',
    async (_, original) => {
      const { write, text, install, prune } = workplace()
      write(original)
      await install(PACK)
      await prune()
      expect(text()).toBe(original)
    },
  )

  it('makes no file, and removes one that was made for them', async () => {
    const { files, install, prune } = workplace()
    expect((await prune()).changes).toBe(false)
    expect(files()).toEqual([])
    await install(PACK)
    await prune()
    expect(files()).toEqual([])
  })
})

describe('a file that others changed since', () => {
  it('loses ours alone', async () => {
    const { text, write, install, remove } = workplace()
    write('{\n  "model": "x"\n}\n')
    await install(PACK)
    const edited = JSON.parse(text() ?? '')
    edited.hooks.Stop.push({ hooks: [{ type: 'command', command: './late.sh' }] })
    edited.model = 'y'
    write(JSON.stringify(edited, null, 2))
    await remove()
    expect(JSON.parse(text() ?? '')).toEqual({
      model: 'y',
      hooks: { Stop: [{ hooks: [{ type: 'command', command: './late.sh' }] }] },
    })
  })

  it('is healed, and what they wrote is the original from then on', async () => {
    const { text, write, install, remove } = workplace()
    write('{\n  "model": "x"\n}\n')
    await install(PACK)
    const installed = text() ?? ''
    // Another order, another time-out, one lost, one twice, and a new setting.
    const { hooks } = JSON.parse(installed)
    hooks.UserPromptSubmit.reverse()
    hooks.SessionStart[0].hooks[0].timeout = 99
    hooks.Stop = []
    hooks.PreToolUse.push(hooks.PreToolUse[0])
    write(JSON.stringify({ model: 'y', hooks }, null, 2))
    expect((await install(PACK)).changes).toBe(true)
    expect(JSON.parse(text() ?? '')).toEqual({ ...JSON.parse(installed), model: 'y' })
    await remove()
    expect(JSON.parse(text() ?? '')).toEqual({ model: 'y', hooks: { Stop: [] } })
  })

  it('is as good as it was where only its layout changed', async () => {
    const { text, write, install } = workplace()
    await install(PACK)
    const dense = JSON.stringify(JSON.parse(text() ?? ''))
    write(dense)
    expect((await install(PACK)).changes).toBe(false)
    expect(text()).toBe(dense)
  })

  it('loses our entries even without a record of who added them', async () => {
    const { text, write, install, remove, forget } = workplace()
    write(JSON.stringify(MINE, null, 2))
    await install(ENGINE)
    forget()
    await remove()
    expect(text()).toBe(JSON.stringify(MINE, null, 2))
  })

  it('is planned anew where that happened after it was shown', async () => {
    const { place, text, write } = workplace()
    write('{}')
    const plan = planInstall(place, PACK)
    write('{ "model": "x" }')
    expect(await carryOut(plan, () => planInstall(place, PACK))).toBeUndefined()
    expect(text()).toBe('{ "model": "x" }')
  })
})

describe('stale entries', () => {
  it('of another place are replaced, with those of others around them left', async () => {
    const { text, write, install } = workplace()
    const [old] = packEntries({ node: '/old/node', script: '/old/lib/carabiner.js' })
    const mixed = { matcher: 'startup', hooks: [old?.group.hooks[0], { type: 'command', command: 'mine' }] }
    write(JSON.stringify({ hooks: { SessionStart: [mixed, old?.group], Gone: [old?.group] } }, null, 2))
    await install(PACK)
    const { hooks } = JSON.parse(text() ?? '')
    expect(hooks.SessionStart).toEqual([PACK[0]?.group, { ...mixed, hooks: [mixed.hooks[1]] }])
    expect(hooks).not.toHaveProperty('Gone')
    expect(text()).not.toContain('/old/')
  })
})

describe('the file', () => {
  it('keeps its mode and its owner', async () => {
    const { file, write, install, remove } = workplace()
    write('{}')
    chmodSync(file, 0o640)
    if (process.getuid?.() === 0) chownSync(file, 1234, 4321)
    const { uid, gid } = statSync(file)
    await install(PACK)
    expect(statSync(file)).toMatchObject({ uid, gid, mode: 0o100640 })
    await remove()
    expect(statSync(file)).toMatchObject({ uid, gid, mode: 0o100640 })
  })

  it('is replaced, not written: who has it open reads on, and no draft stays', async () => {
    const { file, write, install, files } = workplace()
    write('{}')
    const { ino } = statSync(file)
    await install(PACK)
    expect(statSync(file).ino).not.toBe(ino)
    expect(files()).toEqual(['.claude', '.claude/settings.json'])
  })

  it('is kept as it was before, where only its user can read it', async () => {
    const { root, place, write } = workplace()
    write('{"env": {"TOKEN": "x"}}')
    const again = () => planInstall(place, PACK)
    const done = await carryOut(again(), again)
    expect(readFileSync(done?.backup ?? '', 'utf8')).toBe('{"env": {"TOKEN": "x"}}')
    expect(done?.backup?.startsWith(join(root, 'carabiner/setup/'))).toBe(true)
    expect(statSync(done?.backup ?? '').mode & 0o077).toBe(0)
    expect(statSync(dirname(done?.backup ?? '')).mode & 0o077).toBe(0)
  })

  it('stays a link where the link leads to a file in the same project', async () => {
    const { project, file, install, remove, write } = workplace()
    write('')
    const real = join(project, 'claude.json')
    renameSync(file, real)
    writeFileSync(real, '{"a":1}')
    symlinkSync('../claude.json', file)
    await install(PACK)
    expect(lstatSync(file).isSymbolicLink()).toBe(true)
    expect(JSON.parse(readFileSync(real, 'utf8'))).toMatchObject({ a: 1, hooks: { Stop: [PACK[1]?.group] } })
    await remove()
    expect(readFileSync(real, 'utf8')).toBe('{"a":1}')
  })
})

describe('left alone, with a reason', () => {
  const cases: Readonly<Record<string, readonly [string, (place: ReturnType<typeof workplace>) => void]>> = {
    'a link out of the project': [
      'which is outside',
      ({ root, file }) => {
        writeFileSync(join(root, 'outside.json'), '{}')
        symlinkSync(join(root, 'outside.json'), file)
      },
    ],
    'a link to nothing': ['is a broken link', ({ file, root }) => symlinkSync(join(root, 'nothing'), file)],
    'a link to itself': ['is a broken link', ({ file }) => symlinkSync('settings.json', file)],
    'a folder': ['is a folder', ({ file }) => mkdirSync(file)],
    'a pipe': ['is not a regular file', ({ file }) => void spawnSync('mkfifo', [file])],
    'a file that is read-only': [
      'is read-only',
      ({ file, write }) => {
        write('{}')
        chmodSync(file, 0o444)
      },
    ],
    'bytes that are no text': ['is not UTF-8', ({ write }) => write(Uint8Array.of(0x7b, 0xff, 0x7d))],
    'UTF-16': ['is not UTF-8', ({ write }) => write(Buffer.from('\uFEFF{}', 'utf16le'))],
    'no JSON': [':1 is not valid JSON', ({ write }) => write('hello')],
    'a list': ['is not a JSON object', ({ write }) => write('[]')],
    'hooks that are none': ['"hooks" is not an object', ({ write }) => write('{"hooks": "no"}')],
    'more than anybody has': ['is larger than', ({ write }) => write(`{"a":"${'x'.repeat(5_000_000)}"}`)],
  }

  it.each(Object.entries(cases))('%s', (_, [why, make]) => {
    const place = workplace()
    mkdirSync(dirname(place.file))
    make(place)
    const state = () => {
      const { ino, mode, size, mtimeMs, ctimeMs } = lstatSync(place.file)
      return { ino, mode, size, mtimeMs, ctimeMs }
    }
    const before = state()
    const plan = () => planInstall(place.place, PACK)
    expect(plan).toThrow(SetupProblem)
    expect(plan).toThrow(why)
    expect(plan).toThrow(place.file)
    expect(state()).toEqual(before)
    if (why !== '"hooks" is not an object') expect(() => planRemove(place.place)).toThrow(why)
  })

  it('a folder that leads out of the project', () => {
    const { root, project, place } = workplace()
    mkdirSync(join(root, 'elsewhere'))
    symlinkSync(join(root, 'elsewhere'), join(project, '.claude'))
    expect(() => planInstall(place, PACK)).toThrow('which is outside')
    expect(readdirSync(join(root, 'elsewhere'))).toEqual([])
  })

  it.skipIf(process.getuid?.() === 0)('a folder that cannot be written', async () => {
    const { file, write, install, text } = workplace()
    write('{}')
    chmodSync(dirname(file), 0o555)
    await expect(install(PACK)).rejects.toThrow('cannot be written')
    expect(text()).toBe('{}')
  })

  it('where the system does not let it be written', () => {
    const file = {
      path: 'settings.json',
      real: '/proc/none/settings.json',
      text: undefined,
      stats: undefined,
    }
    expect(() => replaceSettings(file, '{}')).toThrow(SetupProblem)
    expect(() => replaceSettings(file, '{}')).toThrow('settings.json cannot be written')
    expect(() => deleteSettings(file, [])).toThrow('settings.json cannot be written')
  })

  it('a file in place of the folder', async () => {
    const { project, install } = workplace()
    writeFileSync(join(project, '.claude'), '')
    await expect(install(PACK)).rejects.toThrow(SetupProblem)
    expect(readFileSync(join(project, '.claude'), 'utf8')).toBe('')
  })
})

describe('of several setups at once', () => {
  /** A record whose newest version says that another holds the lock. */
  async function heldBy(pid: number, at: number): Promise<SetupRecord> {
    const { root, file } = workplace()
    const record = new SetupRecord(file, { patienceMs: 0 })
    await record.alone((save) => save(null))
    const [name = ''] = readdirSync(join(root, 'carabiner/setup'))
    const value = { holder: { pid, at, nonce: 'other' }, installed: null }
    writeFileSync(join(root, 'carabiner/setup', name, '999.json'), JSON.stringify({ format: 1, value }))
    return record
  }

  it('another waits for one that is at work, and says for whom', async () => {
    const record = await heldBy(process.pid, Date.now())
    await expect(record.alone(() => 'done')).rejects.toThrow(`process ${process.pid}) is running`)
  })

  it('the lock of a dead one is taken over', async () => {
    const { pid } = spawnSync('true')
    const record = await heldBy(pid, Date.now())
    expect(await record.alone(() => 'done')).toBe('done')
  })

  it('so is one that was held for longer than anybody takes', async () => {
    const record = await heldBy(process.pid, Date.now() - 3_600_000)
    expect(await record.alone(() => 'done')).toBe('done')
  })

  it('who lost the lock writes nothing', async () => {
    const { file } = workplace()
    const record = new SetupRecord(file)
    const late: { save?: (installed: null) => void } = {}
    await record.alone((save) => {
      late.save = save
    })
    expect(() => late.save?.(null)).toThrow(SetupProblem)
  })

  it('what fails within lets go of the lock', async () => {
    const { file } = workplace()
    const record = new SetupRecord(file, { patienceMs: 0 })
    const work = () => {
      throw new Error('no')
    }
    await expect(record.alone(work)).rejects.toThrow('no')
    expect(await record.alone(() => 'done')).toBe('done')
  })

  it('a crash between the record and the file loses nothing', async () => {
    const { file, write, text, install, remove } = workplace()
    write('{ "hooks": {} }')
    await install(PACK)
    const before = text() ?? ''
    // As if the process had ended before the file was replaced.
    await install(ENGINE)
    writeFileSync(file, before)
    await remove()
    expect(text()).toBe('{ "hooks": {} }')
  })
})
