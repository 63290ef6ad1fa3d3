import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { grantDigest } from '../../../src/core/base/digest.js'
import { FRESH_STATE } from '../../../src/core/session/session-store.js'
import { createHooks } from '../../../src/index.js'
import { FileApprovals } from '../../../src/store/approvals/file-approvals.js'
import { FileStore } from '../../../src/store/sessions/file-store.js'
import { madeQuestion } from '../../approvals/made-question.js'
import { asNobody, filesIn, nextTurn, withWorkers, worker, workplace, workplaceIn } from './workplace.js'

withWorkers()

const GRANT = { id: 'g', hook: 'h', event: 'e', tool: 't', cwd: '/', digest: 'd', created: 'now' }

describe('on disk', () => {
  it('reading makes nothing', () => {
    const { root, store } = workplace()
    store.load('s')
    store.load('s\u0000agent')
    store.grants()
    store.release('s')
    store.revokeGrant('g')
    store.update('s', (state) => state)
    expect(filesIn(root)).toEqual([])
  })

  it('has a folder for each project and session, for this user alone', () => {
    const { root, store } = workplace()
    store.update('s', nextTurn)
    store.update('s\u0000agent', nextTurn)
    const kept = store.keep('s', 'text')
    store.addGrant(GRANT)
    const files = filesIn(root)
    const session = relative(root, store.folderOf('s'))
    expect(session).toMatch(/^state\/sessions\/[0-9a-f]{32}\/[0-9a-f]{32}$/)
    const project = session.split('/')[2]
    expect(files.filter((path) => lstatSync(join(root, path)).isFile())).toEqual([
      'data/approvals/key',
      `data/grants/${project}/1.json`,
      `${session}/1.json`,
      expect.stringMatching(new RegExp(`^${session}/agents/[0-9a-f]{32}/1.json$`)),
      `${session}/kept/${basename(kept)}`,
    ])
    for (const path of files) {
      const stats = statSync(join(root, path))
      expect([path, stats.mode & 0o777]).toEqual([path, stats.isFile() ? 0o600 : 0o700])
    }
  })

  it('keeps projects apart', () => {
    const { root, store } = workplace()
    const other = workplaceIn(root, 'other')
    store.update('s', nextTurn)
    store.addGrant(GRANT)
    expect([other.store.load('s').turn, other.store.grants()]).toEqual([0, []])
  })

  it('a store opened later knows what was', () => {
    const { root, store } = workplace()
    store.update('s', nextTurn)
    store.addGrant(GRANT)
    const later = workplaceIn(root).store
    expect([later.load('s').turn, later.grants()]).toEqual([1, [GRANT]])
  })

  it('releasing a session takes all of it, also what others put into its folder', () => {
    const { store } = workplace()
    store.update('s', nextTurn)
    store.update('s\u0000agent', nextTurn)
    store.keep('s', 'text')
    writeFileSync(join(store.folderOf('s'), 'environment'), 'A=1')
    store.release('s\u0000agent')
    expect(readdirSync(store.folderOf('s')).sort()).toEqual(['1.json', 'agents', 'environment', 'kept'])
    store.release('s')
    expect(readdirSync(dirname(store.folderOf('s')))).toEqual([])
  })

  it('a link in place of the folder is removed, not what it leads to', () => {
    const { root, store } = workplace()
    const elsewhere = join(root, 'elsewhere')
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'precious'), '')
    mkdirSync(dirname(store.folderOf('s')), { recursive: true })
    symlinkSync(elsewhere, store.folderOf('s'))
    store.release('s')
    expect([existsSync(store.folderOf('s')), readdirSync(elsewhere)]).toEqual([false, ['precious']])
  })

  it('never forgets that a file was broken, whatever is written afterwards', () => {
    const { store } = workplace()
    store.update('s', nextTurn)
    writeFileSync(join(store.folderOf('s'), '1.json'), '{"format":1,"value":{"turn":"many"}}')
    const lost = expect.stringMatching(
      /1\.json is not valid: the state\.turn must be a whole number, 0 or more, got "many"$/,
    )
    const counts = { list: [], calls: [], lost: { why: lost, turn: 1, minute: expect.any(Number) } }
    expect(store.load('s')).toEqual({ ...FRESH_STATE, lost, counts })
    store.update('s', nextTurn)
    expect(store.load('s')).toMatchObject({ turn: 1, lost })
    expect(readdirSync(store.folderOf('s'))).toEqual(['2.json', expect.stringMatching(/^broken-1-/)])
    store.release('s')
    expect(store.load('s')).toEqual(FRESH_STATE)
  })

  const SKILL = { name: 'x', directory: '/x', hooks: {} }
  const REMOVALS: Readonly<Record<string, (folder: string) => void>> = {
    'its state': (folder) => rmSync(join(folder, '1.json')),
    'its folder': (folder) => rmSync(folder, { recursive: true }),
    'the folder of its project': (folder) => rmSync(dirname(folder), { recursive: true }),
    'its skills': (folder) => writeFileSync(join(folder, '1.json'), '{"format":1,"value":{}}'),
  }

  it.each(Object.entries(REMOVALS))('a session that loses %s has lost its skills, for good', (_, remove) => {
    const { store, root } = workplace()
    store.update('s', (state) => ({ ...state, skills: [SKILL] }))
    store.update('other', nextTurn)
    remove(store.folderOf('s'))
    const lost = `its state in ${store.folderOf('s')} was removed or emptied`
    expect(store.load('s')).toEqual({ ...FRESH_STATE, lost })
    const again = workplaceIn(root).store
    again.update('s', (state) => ({ ...state, skills: [{ ...SKILL, name: 'y' }] }))
    again.update('s', (state) => ({ ...state, skills: [] }))
    expect(again.load('s')).toMatchObject({ skills: [], lost })
    expect(again.load('other').lost).toBe('')
    again.release('s')
    expect(again.load('s')).toEqual(FRESH_STATE)
  })

  it('a session that has unloaded its skills, or was swept, has lost none', () => {
    const { store, root } = workplace()
    store.update('s', (state) => ({ ...state, skills: [SKILL] }))
    store.update('s\u0000agent', (state) => ({ ...state, skills: [SKILL] }))
    store.update('s', (state) => ({ ...state, skills: [] }))
    expect(store.load('s')).toEqual(FRESH_STATE)
    rmSync(store.folderOf('s'), { recursive: true })
    expect(store.load('s')).toEqual(FRESH_STATE)
    store.update('old', (state) => ({ ...state, skills: [SKILL] }))
    utimesSync(store.folderOf('old'), 1000, 1000)
    workplaceIn(root).store.update('new', nextTurn)
    expect(existsSync(store.folderOf('old'))).toBe(false)
    expect(store.load('old')).toEqual(FRESH_STATE)
  })

  it('a session that began in a folder around the project, and was removed there, has lost its skills', () => {
    const { store, stateDir, dataDir, projectDir } = workplace()
    store.update('s', (state) => ({ ...state, skills: [SKILL] }))
    const inner = new FileStore({
      stateDir,
      dataDir,
      projectDir: join(projectDir, 'sub'),
      around: [projectDir],
    })
    expect(inner.load('s').skills).toEqual([SKILL])
    rmSync(store.folderOf('s'), { recursive: true })
    expect(inner.load('s').lost).toContain('was removed')
    inner.folderOf('s', true)
    expect(inner.load('s').lost).toContain('was removed')
  })

  it('broken grants are none, and are kept for the user to look at', () => {
    const { dataDir, store } = workplace()
    store.addGrant(GRANT)
    const folder = join(dataDir, 'grants', basename(dirname(store.folderOf('s'))))
    writeFileSync(join(folder, '1.json'), '{"format":1,"value":[{"id":"g"}]}')
    expect(() => store.grants()).toThrow(/the list of grants\[0\]\.hook must be a string/)
    expect(store.grants()).toEqual([])
    store.addGrant(GRANT)
    expect(readdirSync(folder).filter((name) => name.startsWith('broken-1-'))).toHaveLength(1)
  })

  it.each([
    ['nothing', undefined],
    ['no project', {}],
    ['an empty project', { projectDir: '' }],
    ['an unknown option', { projectDir: '/p', stateDirectory: '/s' }],
  ])('refuses %s', (_, options) => {
    const make = () => new FileStore(options as never)
    expect(make).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }))
  })
})

describe('grants', () => {
  afterEach(() => {
    vi.unstubAllEnvs()
    vi.useRealTimers()
  })
  const later = (hours: number) => vi.setSystemTime(Date.parse('2030-01-01T12:00:00Z') + hours * 3_600_000)
  const ending = { ...GRANT, id: 'ending', expires: '2030-01-01T13:00:00.000Z' }

  it('A6: that have ended do not come back when the clock is set back, and others stay', () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    later(0)
    const { root, store } = workplace()
    store.addGrant(GRANT)
    store.addGrant(ending)
    expect(store.grants()).toEqual([GRANT, ending])
    later(1)
    expect(store.grants()).toEqual([GRANT])
    later(0.5)
    expect(workplaceIn(root).store.grants()).toEqual([GRANT])
    store.addGrant({ ...ending, id: 'new' })
    expect(store.grants()).toEqual([GRANT, { ...ending, id: 'new' }])
  })

  it('A1: are not made by an agent, but for an answer that a person gave through the queue', async () => {
    const { root, dataDir, store } = workplace()
    const queue = new FileApprovals({ stateDir: join(root, 'q'), dataDir })
    const asked = madeQuestion({ answer: { approvalOptions: ['Allow', 'Allow always', 'Deny'] } })
    const [first, second] = ['s1', 's2'].map((session) => ({ ...asked, session, binding: session }))
    const project = '/somewhere/project'
    const [once, always] = [first, second].map((one) => queue.raise(one ?? asked, { project }).id)
    void queue.answer(once ?? '', { decision: 'allow', by: 'ann' })
    void queue.answer(always ?? '', { decision: 'always', by: 'ann' })
    vi.stubEnv('CLAUDECODE', '1')
    const grant = { ...GRANT, digest: grantDigest(asked.event, asked.call) }
    const refused =
      /only a person may always allow "t", but CLAUDECODE says .* carabiner approvals allow ID --always/
    expect(() => store.addGrant(grant)).toThrow(refused)
    expect(queue.take(first ?? asked)).toMatchObject({ decision: 'allow' })
    expect(() => store.addGrant(grant)).toThrow(refused)
    const { option, proof = '' } = (await queue.take(second ?? asked)) ?? {}
    expect(option).toBe('Allow always')
    const later = new Date(Date.now() + 1e9).toISOString()
    for (const odd of [undefined, '', 'x', later, proof.replace(/^\S+/, later), `${proof}0`])
      expect(() => store.addGrant(grant, odd)).toThrow(refused)
    expect(() => store.addGrant({ ...grant, digest: 'another' }, proof)).toThrow(refused)
    store.addGrant(grant, proof)
    expect(store.grants()).toEqual([grant])
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
    expect(() => store.addGrant({ ...grant, id: 'again' }, proof)).toThrow(refused)
  })

  it('that nobody gave through Carabiner, or somebody changed, do not count and are told', () => {
    const given = { ...GRANT, by: 'ann', about: 'a', expires: '2999-01-01T00:00:00.000Z' }
    const { root, dataDir, store, troubles } = workplace()
    store.addGrant(given)
    const folder = (name: string) => join(dataDir, 'grants', name)
    const [project = ''] = readdirSync(folder(''))
    const file = join(folder(project), '1.json')
    const { format, value } = JSON.parse(readFileSync(file, 'utf8'))
    const [stored] = value
    const write = (path: string, grant: object) =>
      writeFileSync(path, JSON.stringify({ format, value: [grant] }))
    for (const key of Object.keys(stored)) {
      const { [key]: was, ...less } = stored
      const changed = { ...stored, [key]: typeof was === 'number' ? was + 1 : `${was}x` }
      for (const forged of [changed, less, { ...stored, answersOwnQuestions: false }]) {
        write(file, forged)
        troubles.length = 0
        if (key in GRANT && forged === less) expect(() => store.grants()).toThrow(/must be a string/)
        else
          expect([store.grants(), troubles[0]]).toEqual([
            [],
            expect.stringMatching(/^1 grant does not count/),
          ])
        rmSync(folder(project), { recursive: true })
        mkdirSync(folder(project))
      }
    }
    write(file, stored)
    expect(store.grants()).toEqual([given])
    // Another project has another list.
    const other = workplaceIn(root, 'other')
    other.store.addGrant(GRANT)
    for (const name of readdirSync(folder('')).filter((one) => one !== project)) {
      write(join(folder(name), '2.json'), stored)
      expect(other.store.grants()).toEqual([])
      other.store.addGrant(GRANT)
      expect(other.store.grants()).toEqual([GRANT])
    }
  })

  it('A1: of a program that answers itself count for it alone', () => {
    vi.stubEnv('CLAUDECODE', '1')
    const { stateDir, dataDir, projectDir } = workplace()
    const own = new FileStore({ stateDir, dataDir, projectDir, answersOwnQuestions: true })
    own.addGrant(GRANT)
    expect(own.grants()).toEqual([GRANT])
    expect(new FileStore({ stateDir, dataDir, projectDir }).grants()).toEqual([])
  })
})

describe('session ids', () => {
  const ids = {
    empty: '',
    'a way out': '../../../..',
    absolute: '/etc/passwd',
    dots: '..',
    newline: 'a\nb',
    emoji: '👩‍👩‍👧‍👦',
    'lone surrogate': '\ud800',
    'replacement character': '\ufffd',
    __proto__key: '__proto__',
    'as long as a page': 'x'.repeat(10_240),
    'as long, but for the end': `${'x'.repeat(10_239)}y`,
    'upper case': 'ABC',
    'lower case': 'abc',
    'a NUL at the end': 'abc\u0000',
    'only a NUL': '\u0000',
    'a way out behind a NUL': 'abc\u0000../../x',
    'many NULs': 'abc\u0000\u0000\u0000',
  }

  it('of any kind stay below the project, each its own', () => {
    const { root, store } = workplace()
    const all = Object.values(ids)
    all.forEach((id, i) => {
      store.update(id, (now) => ({ ...now, turn: i + 1 }))
      expect(readFileSync(store.keep(id, `text ${i}`), 'utf8')).toBe(`text ${i}`)
    })
    expect(all.map((id) => store.load(id).turn)).toEqual(all.map((_, i) => i + 1))
    for (const path of filesIn(root)) expect(path).toMatch(/^state(\/sessions(\/[0-9a-f]{32}(\/.*)?)?)?$/)
    for (const id of all) store.release(id)
    expect(readdirSync(dirname(store.folderOf('s')))).toEqual([])
  })
})

describe('kept texts', () => {
  it('are the newest hundred', () => {
    const { store } = workplace()
    const paths = Array.from({ length: 130 }, (_, i) => store.keep('s', `text ${i}`))
    expect(paths.map((path) => existsSync(path))).toEqual(paths.map((_, i) => i >= 30))
    expect(readFileSync(paths.at(-1) ?? '', 'utf8')).toBe('text 129')
  })

  it('are bounded in size, together and alone', () => {
    const { store } = workplace()
    const text = 'x'.repeat(5 * 1024 * 1024)
    const paths = Array.from({ length: 5 }, () => store.keep('s', text))
    expect(paths.map((path) => existsSync(path))).toEqual([false, false, true, true, true])
    expect(() => store.keep('s', text.repeat(4))).toThrow(
      /^the full text cannot be kept in .*: a text of 20971520 bytes is too large to keep$/,
    )
  })

  it('leave other files alone', () => {
    const { store } = workplace()
    const folder = dirname(store.keep('s', 'text'))
    writeFileSync(join(folder, 'mine.txt'), '')
    for (let i = 0; i < 120; i++) store.keep('s', 'text')
    expect(existsSync(join(folder, 'mine.txt'))).toBe(true)
  })
})

describe('a place that does not play along', () => {
  it.runIf(existsSync('/proc/self'))(
    'where folders cannot be made and always seem to be missing is an error, no hang',
    () => {
      const store = new FileStore({ projectDir: '/p', stateDir: '/proc/carabiner/state' })
      expect(() => store.update('s', (state) => ({ ...state, turn: 1 }))).toThrow(/cannot be written: ENOENT/)
    },
  )

  it('in the project itself is refused, also behind a link: the repository would bring grants along', () => {
    const { root, projectDir, stateDir, dataDir } = workplace()
    mkdirSync(join(projectDir, 'kept'), { recursive: true })
    symlinkSync(join(projectDir, 'kept'), join(root, 'link'))
    for (const inside of [projectDir, join(projectDir, 'kept'), join(root, 'link')]) {
      expect(() => new FileStore({ projectDir, stateDir, dataDir: inside })).toThrow(/lies in the project/)
      expect(() => new FileStore({ projectDir, dataDir, stateDir: inside })).toThrow(/CARABINER_HOME/)
    }
    expect(() => new FileStore({ projectDir, stateDir, dataDir: `${projectDir}-beside` })).not.toThrow()
  })

  it('says what, where and what to do: read-only', async () => {
    const { root } = workplace()
    const how = asNobody(root)
    // Root made it and is somebody else; any other user takes the right to write away.
    mkdirSync(join(root, 'state'), { mode: 0o555 })
    mkdirSync(join(root, 'data'), { mode: 0o555 })
    const one = worker('tryAll', root, how)
    one.go()
    const said = (await one.ended).replaceAll(root, 'ROOT').split('\n')
    const todo = 'let this user write there, or set CARABINER_HOME to a folder that allows it'
    expect(said).toEqual([
      expect.stringMatching(/^load: ok/),
      expect.stringMatching(
        new RegExp(`^update: the state of the session in ROOT/\\S+ cannot be written: EACCES.*; ${todo}$`),
      ),
      'release: ok ',
      expect.stringMatching(/^keep: the full text cannot be kept in ROOT\/\S+: EACCES/),
      'grants: ok []',
      expect.stringMatching(
        /^addGrant: the key that seals decisions, ROOT\/\S+, cannot be read or created: EACCES.* CARABINER_HOME/,
      ),
      '',
    ])
  })

  it('a broken file in a read-only folder is told each time', async () => {
    const { root, store } = workplace()
    const how = asNobody(root)
    const folder = store.folderOf('one')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, '1.json'), 'garbage')
    chmodSync(folder, 0o555)
    for (let i = 0; i < 2; i++) {
      const one = worker('tryAll', root, how)
      one.go()
      expect(await one.ended).toMatch(/^load: ok .*"lost":"[^"]*1\.json is not valid JSON/)
    }
    chmodSync(folder, 0o755)
  })

  it('says what, where and what to do: no space left, in the middle of a file', async () => {
    const { root, store } = workplace()
    store.update('one', (now) => ({ ...now, onceRan: ['x'.repeat(2000)] }))
    const one = worker('tryAll', root, { through: 'ulimit -f 1' })
    one.go()
    const said = (await one.ended).split('\n')
    expect(said[1]).toMatch(
      /^update: the state of the session in .* cannot be written: EFBIG.*; free some space/,
    )
    expect(said[3]).toMatch(/^keep: the full text cannot be kept in .*: EFBIG/)
    store.update('one', nextTurn)
    expect(store.load('one').turn).toBe(1)
  })

  it('leaves nothing half-written when no space is left', async () => {
    const { root, store } = workplace()
    const state = { onceRan: ['x'.repeat(2000)] }
    store.update('one', (now) => ({ ...now, ...state }))
    const before = filesIn(store.folderOf('one'))
    const one = worker('count', root, { through: 'ulimit -f 1; exec 2>/dev/null' })
    one.go()
    expect(await one.ended).toBe('')
    expect(filesIn(store.folderOf('one'))).toEqual(before)
    expect(store.load('one').onceRan).toEqual(state.onceRan)
  })

  it.each(['state', 'state/sessions', 'data'])('says so where a file stands in place of %s', (name) => {
    const { root, store } = workplace()
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), '')
    const work = () => (name === 'data' ? store.addGrant(GRANT) : store.update('s', nextTurn))
    expect(work).toThrow(/remove the file that is in the way of a folder$/)
  })
})

describe('in the engine', () => {
  const hooksOn = (store: FileStore) => createHooks({ store, globals: false })

  it('a session goes on in the next process', async () => {
    const { root } = workplace()
    const counts: unknown[] = []
    for (let i = 0; i < 10; i++) {
      const hooks = await hooksOn(workplaceIn(root).store)
      hooks.register('Stop', () => ({ action: 'deny', reason: 'not yet' }))
      const outcome = await hooks.session({ id: 's', cwd: root }).fire('Stop')
      counts.push(outcome.action)
    }
    expect(counts).toEqual([...Array(8).fill('deny'), 'continue', 'continue'])
  })

  it('a store that fails is told, and opens no gate', async () => {
    const { stateDir, store } = workplace()
    writeFileSync(stateDir, '')
    const hooks = await hooksOn(store)
    hooks.register('Stop', () => ({ action: 'deny', reason: 'not yet' }))
    const outcome = await hooks.session({ id: 's' }).fire('Stop')
    expect(outcome.action).toBe('deny')
    expect(outcome.diagnostics[0]?.text).toMatch(
      /^the session store failed \(load\): .*remove the file that is in the way/,
    )
  })
})

describe('trouble beside the work', () => {
  it('is a warning of the process where nobody else wants it', async () => {
    const { root, stateDir, projectDir } = workplace()
    // A file where the folder of a project should be.
    mkdirSync(join(stateDir, 'sessions'), { recursive: true })
    writeFileSync(join(stateDir, 'sessions', 'f'.repeat(32)), '')
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const store = new FileStore({ stateDir, dataDir: join(root, 'data'), projectDir })
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.9)
    store.update('not in its turn', nextTurn)
    await new Promise(setImmediate)
    random.mockReturnValue(0)
    store.update('s', nextTurn)
    expect(warn).not.toHaveBeenCalled()
    await new Promise(setImmediate)
    random.mockRestore()
    expect(warn).toHaveBeenCalledWith(
      expect.stringMatching(/^state of old sessions could not be removed: .*ENOTDIR/),
    )
    warn.mockRestore()
    expect(store.load('s').turn).toBe(1)
  })
})
