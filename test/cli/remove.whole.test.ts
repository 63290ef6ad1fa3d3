// `carabiner remove`: undoes setup and moves what Carabiner keeps into a backup, which brings it back.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HOME_FOLDERS } from '../../src/files/homes.js'
import { Project, programFile, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const remove = (...args: string[]) => project.call(['remove', ...args])
const user = () => join(project.home, '.claude/settings.json')
const data = () => join(project.home, '.local/share/carabiner')
const state = () => join(project.home, '.local/state/carabiner')
const read = (path: string) => readFileSync(path, 'utf8')

const CALL = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const fire = () => project.call(['fire', 'PreToolUse'], { input: CALL })

/** A guard that is set up, a hook that is trusted, and an event on record. */
async function used(settings = '{\n\t"model": "x"\n}'): Promise<void> {
  mkdirSync(dirname(user()))
  writeFileSync(user(), settings)
  await project.call(['setup', 'claude-code'])
  await project.call(['new', 'gate', '--matcher', 'Bash'])
  expect((await fire()).code).toBe(0)
}

const gemini = () => join(project.home, '.gemini/settings.json')
const zed = () => join(project.folder, '.zed/settings.json')

/** Servers behind the proxy: in a file of their own, and in one with hooks. */
async function proxied(): Promise<void> {
  const servers = { files: { command: 'npx', args: ['files'] } }
  mkdirSync(dirname(gemini()))
  writeFileSync(gemini(), JSON.stringify({ mcpServers: servers }))
  project.file('.zed/settings.json', { context_servers: servers })
  await project.call(['setup', '--mcp', 'gemini', 'zed'])
  await project.call(['setup', 'gemini'])
  for (const file of [gemini(), zed()]) expect(read(file)).toContain('"mcp"')
  expect(read(gemini())).toContain('hook pre-tool-use')
}

/** The program under the name that the backup calls it by. */
function withCarabiner(): Record<string, string> {
  const bin = join(project.base, 'bin')
  mkdirSync(bin, { recursive: true })
  const line = `#!/bin/sh\nexec "${process.execPath}" "${programFile()}" "$@"\n`
  writeFileSync(join(bin, 'carabiner'), line, { mode: 0o755 })
  return { PATH: `${bin}:${process.env.PATH}` }
}

const KILLED_AT = fileURLToPath(new URL('../scripts/killed-at.mjs', import.meta.url))

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
}

const MEMORY = '/dev/shm'
const isElsewhere = (folder: string) => existsSync(folder) && statSync(folder).dev !== statSync(tmpdir()).dev

describe('carabiner remove', () => {
  it('gives the settings back, moves all that is kept, and the backup brings it back', async () => {
    await used()
    const registered = read(user())
    const { code, stdout, stderr } = await remove('--yes')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('  ~/.claude/settings.json: 4 hooks of Carabiner\n')
    expect(stdout).toMatch(/ {2}~\/\.local\/share\/carabiner: audit, .*trust.* \(\d+ files\)\n/)
    expect(read(user())).toBe('{\n\t"model": "x"\n}')
    expect([existsSync(data()), existsSync(state())]).toEqual([false, false])
    expect((await project.call(['list'])).stdout).toContain('1 untrusted')

    const backup = join(project.home, /^backup ~\/(.*)$/m.exec(stdout)?.[1] ?? '')
    expect(statSync(backup).mode & 0o777).toBe(0o700)
    expect(readdirSync(backup)).toEqual([
      '1-settings.json',
      '1-settings.json.left',
      'complete',
      'data',
      'restore.sh',
      'state',
    ])
    expect(read(join(backup, '1-settings.json'))).toBe(registered)
    expect(readdirSync(join(backup, 'data/audit'))).toHaveLength(1)

    const restore = /^restore (.*)$/m.exec(stdout)?.[1] ?? ''
    const env = withCarabiner()
    // Listing made a folder of its own, which nothing overwrites.
    mkdirSync(join(data(), 'trust'), { recursive: true })
    const refused = await project.run('sh', ['-c', restore], { env })
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('already exists')])
    await project.run('rm', ['-rf', data(), state()])
    expect(await project.run('sh', ['-c', restore], { env })).toMatchObject({ code: 0, stderr: '' })
    expect(read(user())).toBe(registered)
    expect((await project.call(['list'])).stdout).toContain('1 ready')
    expect((await project.call(['audit', 'verify'])).stdout).toContain('whole: 1 entry')
  })

  it('leaves entries of others, and the settings of every project that setup changed', async () => {
    const other = { hooks: { Stop: [{ hooks: [{ type: 'command', command: './mine.sh' }] }] } }
    const text = JSON.stringify(other, null, 4)
    await used(text)
    project.file('.claude/settings.json', '{}')
    await project.call(['setup', 'claude-code', '--project', '--engine'])
    expect((await remove('--yes')).stdout).toContain('.claude/settings.json: 30 hooks of Carabiner')
    expect([read(user()), project.read('.claude/settings.json')]).toEqual([text, '{}'])
  })

  it.skipIf(!isElsewhere(MEMORY))('keeps folders private in a backup on another file system', async () => {
    const elsewhere = mkdtempSync(`${MEMORY}/carabiner-`)
    try {
      const [name] = HOME_FOLDERS.state
      mkdirSync(join(elsewhere, 'carabiner', name, 'inner'), { recursive: true, mode: 0o700 })
      const { stdout } = await project.call(['remove', '--yes'], { env: { XDG_STATE_HOME: elsewhere } })
      const backup = join(project.home, /^backup ~\/(.*)$/m.exec(stdout)?.[1] ?? '')
      const modes = [name, `${name}/inner`].map((path) => statSync(join(backup, 'state', path)).mode & 0o777)
      expect(modes).toEqual([0o700, 0o700])
    } finally {
      rmSync(elsewhere, { recursive: true })
    }
  })

  it.skipIf(!isElsewhere(MEMORY))('removes nothing if something cannot be moved', async () => {
    const elsewhere = mkdtempSync(`${MEMORY}/carabiner-`)
    try {
      await used()
      const env = { XDG_STATE_HOME: elsewhere }
      await project.call(['list'], { env })
      const [first, second] = HOME_FOLDERS.state.toReversed()
      for (const name of [first, second])
        mkdirSync(join(elsewhere, 'carabiner', name as string), { recursive: true })
      await project.run('mkfifo', [join(elsewhere, 'carabiner', first as string, 'pipe')])
      const kept = () =>
        [data(), elsewhere]
          .flatMap((one) => readdirSync(one, { recursive: true, encoding: 'utf8' }).sort())
          .filter((name) => !name.startsWith('setup/'))
      const before = [read(user()), kept()]
      const { code, stderr } = await project.call(['remove', '--yes'], { env })
      expect([code, stderr]).toEqual([1, expect.stringContaining(`${first} could not be moved: `)])
      expect(stderr).toContain('Nothing was removed: the hooks are registered as before.')
      expect(read(user())).toBe(before[0])
      expect(kept()).toEqual(before[1])
      expect(readdirSync(dirname(data()))).toEqual(['carabiner'])
      // Nor is the record lost by which the file gets its bytes back.
      await remove('--yes')
      expect(read(user())).toBe('{\n\t"model": "x"\n}')
    } finally {
      rmSync(elsewhere, { recursive: true })
    }
  })

  it('--keep-state only undoes setup', async () => {
    await used()
    const { stdout } = await remove('--keep-state', '--yes')
    expect(stdout).toContain('restore carabiner setup claude-code --only guard,stop,start,preferences\n')
    expect(stdout).not.toContain('npm uninstall')
    expect(read(user())).toBe('{\n\t"model": "x"\n}')
    expect((await project.call(['list'])).stdout).toContain('1 ready')
  })

  it('--keep-state names the backup of every settings file', async () => {
    await used()
    const there = join(project.base, 'other/.claude/settings.json')
    mkdirSync(dirname(there), { recursive: true })
    writeFileSync(there, '{}')
    const cwd = dirname(dirname(there))
    await project.call(['setup', 'claude-code', '--project', '--only', 'guard'], { cwd })
    const before = [read(user()), read(there)]
    const { stdout } = await remove('--keep-state', '--yes')
    const backups = [...stdout.matchAll(/^backup ~\/(.*)$/gm)].map(([, path = '']) =>
      join(project.home, path),
    )
    expect(backups.map(read)).toEqual(before)
  })

  it('has removed all of it if only the records of setup cannot be cleaned up', async () => {
    await used()
    const busy = JSON.stringify(join(data(), 'setup'))
    const load = project.file(
      '../busy.cjs',
      `const fs = require('node:fs'), remove = fs.rmSync
      fs.rmSync = (path, options) => { if (path === ${busy}) throw Error('EBUSY'); remove(path, options) }
      require('node:module').syncBuiltinESMExports()`,
    )
    const env = { NODE_OPTIONS: `--require "${load}"` }
    const { code, stdout } = await project.carabiner(['remove', '--yes'], { env })
    expect([code, existsSync(join(data(), 'trust'))]).toEqual([0, false])
    expect(stdout).toMatch(
      /^backup ~.*\nrestore sh .*restore\.sh\nnote ~.*setup could not be removed: EBUSY/m,
    )
  })

  it('has no command for hooks that setup does not know', async () => {
    const nope = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "carabiner hook nope"}]}]}}'
    mkdirSync(dirname(user()))
    writeFileSync(user(), nope)
    const { stdout } = await remove('--keep-state', '--yes')
    expect(stdout).toMatch(/^backup /m)
    expect(stdout).not.toMatch(/^restore /m)
    writeFileSync(user(), nope)
    await remove('--yes')
    writeFileSync(user(), '{"model":"y"}')
    const [backup = ''] = readdirSync(dirname(data())).filter((name) => name.includes('-backup-'))
    const { stderr } = await project.run('sh', [join(dirname(data()), backup, 'restore.sh')])
    expect(stderr).toBe(`not restored: ${user()}, because it has changed since\n`)
  })

  it('--dry-run and --json tell the same, and remove nothing', async () => {
    await used()
    const { code, stdout } = await remove('--dry-run', '--json')
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      {
        removed: false,
        mcp: [],
        settings: [{ file: user(), hooks: 4 }],
        kept: [
          { folder: data(), names: expect.arrayContaining(['audit', 'trust']), files: expect.any(Number) },
          { folder: state(), names: expect.arrayContaining(['audit']), files: expect.any(Number) },
        ],
        left: [],
        backups: [],
        restore: null,
        service: null,
        notes: [],
      },
    ])
    expect((await project.call(['list'])).stdout).toContain('1 ready')
    const done = JSON.parse((await remove('--yes', '--json')).stdout)
    expect(done).toMatchObject({ removed: true, restore: `sh ${join(done.backups[0], 'restore.sh')}` })
  })

  it('says that nothing is there', async () => {
    const { code, stdout } = await remove()
    expect([code, stdout]).toEqual([
      0,
      'nothing to remove\nnext npm uninstall -g carabiner   # the program itself\n',
    ])
  })

  it('touches nothing of others in its folders, and says what runs it elsewhere', async () => {
    await used()
    writeFileSync(join(data(), 'mine.txt'), 'x')
    const handler = { type: 'command', command: 'npx carabiner hook stop' }
    project.file('.claude/settings.local.json', { hooks: { Stop: [{ hooks: [handler] }] } })
    const { stdout } = await remove('--yes')
    expect(stdout).toContain(
      'stays .claude/settings.local.json:8 runs Carabiner, but setup on this machine did not',
    )
    expect(stdout).toContain("stays ~/.local/share/carabiner/mine.txt is not Carabiner's")
    expect(readdirSync(data())).toEqual(['mine.txt'])
  })

  it('removes nothing if settings cannot be changed', async () => {
    await used()
    writeFileSync(user(), `${read(user())}}`)
    const { code, stderr } = await remove('--yes')
    expect([code, stderr]).toEqual([1, expect.stringContaining('is not valid JSON')])
    expect(existsSync(join(data(), 'trust'))).toBe(true)
  })
})

describe('restore.sh', () => {
  const restore = async () => {
    const [backup = ''] = readdirSync(dirname(data())).filter((name) => name.includes('-backup-'))
    return project.run('sh', [join(dirname(data()), backup, 'restore.sh')])
  }

  it('restores hooks of the pack next to the engine, and a file that setup created', async () => {
    await project.call(['setup', 'claude-code', '--engine', '--with', 'guard,memory'])
    const registered = read(user())
    await remove('--yes')
    expect(existsSync(user())).toBe(false)
    expect(await restore()).toMatchObject({ code: 0, stderr: '' })
    expect(read(user())).toBe(registered)
    await remove('--yes')
    expect(existsSync(dirname(user()))).toBe(false)
  })

  it('restores everything after a removal that was killed at any moment', { timeout: 600_000 }, async () => {
    await proxied()
    await used()
    // A look at what is trusted may write a new version of its record.
    const inAnyVersion = (file: string) => file.replace(/\/\d+\.json$/, '/N.json')
    const everything = () =>
      [
        ...filesBelow(data()).map(inAnyVersion),
        ...filesBelow(state()),
        ...[user(), gemini(), zed()].map(read),
      ].filter((file) => !file.startsWith('setup/'))
    const before = everything()
    let isKilled = true
    let at = 0
    while (isKilled) {
      at++
      const args = ['--import', KILLED_AT, programFile(), 'remove', '--yes']
      const { code } = await project.run(process.execPath, args, { env: { KILLED_AT: String(at) } })
      isKilled = code < 0
      const cutShort = (await project.call(['doctor'])).stdout.includes('removal-cut-short')
      const backups = readdirSync(dirname(data())).filter(
        (name) => /-backup-\d/.test(name) && existsSync(join(dirname(data()), name, 'restore.sh')),
      )
      expect([at, cutShort]).toEqual([
        at,
        backups.some((name) => !existsSync(join(dirname(data()), name, 'complete'))),
      ])
      for (const backup of backups) {
        const script = join(dirname(data()), backup, 'restore.sh')
        expect([at, await project.run('sh', [script])]).toMatchObject([at, { code: 0, stderr: '' }])
        rmSync(dirname(script), { recursive: true })
      }
      expect([at, ...everything()]).toEqual([at, ...before])
    }
    expect(at).toBeGreaterThan(10)
  })

  it('puts servers behind the proxy again', async () => {
    await proxied()
    const before = [read(gemini()), read(zed())]
    const { stdout } = await remove('--yes')
    expect(stdout).toContain('removed carabiner mcp from ~/.gemini/settings.json')
    for (const file of [gemini(), zed()]) expect(read(file)).not.toContain('carabiner')
    expect(await restore()).toMatchObject({ code: 0, stderr: '' })
    expect([read(gemini()), read(zed())]).toEqual(before)

    const { restore: again } = JSON.parse((await remove('--keep-state', '--yes', '--json')).stdout)
    expect(again).toBe(
      `cd '${project.folder}' && carabiner setup --mcp zed && carabiner setup --mcp gemini && ` +
        'carabiner setup gemini --only guard,stop,start,preferences',
    )
    const { code } = await project.run('sh', ['-c', again], { env: withCarabiner() })
    expect([code, read(zed())]).toEqual([0, before[1]])
    expect(read(gemini())).toMatch(/"mcp".*hook pre-tool-use|hook pre-tool-use.*"mcp"/s)
  })

  it('restores the settings in CLAUDE_CONFIG_DIR', async () => {
    const env = { CLAUDE_CONFIG_DIR: join(project.home, 'cc') }
    await project.call(['setup', 'claude-code'], { env })
    const registered = read(join(project.home, 'cc/settings.json'))
    const undone = await project.call(['remove', '--keep-state', '--yes', '--json'], { env })
    expect(JSON.parse(undone.stdout).restore).toContain(
      `env CLAUDE_CONFIG_DIR=${join(project.home, 'cc')} carabiner setup claude-code --only guard`,
    )
    await project.call(['setup', 'claude-code'], { env })
    await project.call(['remove', '--yes'], { env })
    expect(await restore()).toMatchObject({ code: 0, stderr: '' })
    expect([read(join(project.home, 'cc/settings.json')), existsSync(user())]).toEqual([registered, false])
  })

  it('goes on past settings that it cannot restore, names them, and can be run again', async () => {
    await used()
    const places = ['a', 'b', 'c'].map((name) => join(project.base, name))
    for (const place of places) {
      mkdirSync(join(place, '.git'), { recursive: true })
      await project.call(['setup', 'claude-code', '--project', '--only', 'guard'], { cwd: place })
    }
    const [a = '', b = '', c = ''] = places.map((place) => join(place, '.claude/settings.json'))
    const registered = read(c)
    await remove('--yes')
    rmSync(dirname(dirname(a)), { recursive: true })
    mkdirSync(dirname(b))
    writeFileSync(b, '{"model":"y"}')
    for (const times of [1, 2]) {
      const { code, stderr } = await restore()
      expect([times, code, stderr.split('\n').sort()]).toEqual([
        times,
        1,
        [
          '',
          `not restored: ${a}, because ${dirname(dirname(a))} is gone`,
          `not restored: ${b}, because it has changed since. To set it up again: cd ${dirname(dirname(b))} && ` +
            'carabiner setup claude-code --project --only guard',
        ],
      ])
      expect([read(b), read(c)]).toEqual(['{"model":"y"}', registered])
      expect(read(user())).toContain('hook pre-tool-use')
    }
    mkdirSync(dirname(dirname(a)))
    rmSync(b)
    expect(await restore()).toMatchObject({ code: 0, stderr: '' })
    expect([read(a), read(b)]).toEqual([registered, registered])
    expect((await project.call(['list'])).stdout).toContain('1 ready')
  })
})

describe('who may', () => {
  it('nobody, unless it is asked or sure', async () => {
    await used()
    const before = read(user())
    const { code, stderr } = await remove()
    expect([code, stderr]).toEqual([1, expect.stringContaining('there is no terminal to ask at')])
    expect((await remove('--json')).code).toBe(1)
    const no = await project.onTerminal(['remove'], { input: '\n' })
    expect([no.code, no.stdout]).toEqual([1, expect.stringContaining('nothing was removed')])
    expect([read(user()), existsSync(join(data(), 'trust'))]).toEqual([before, true])
    expect((await project.onTerminal(['remove'], { input: 'y\n' })).code).toBe(0)
    expect(existsSync(data())).toBe(false)
  })

  it('two at once: one removes, and the other says so', async () => {
    await used()
    const both = await Promise.all([1, 2].map(() => project.carabiner(['remove', '--yes'])))
    expect(both.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ])
    const outputs = both.map(({ stdout }) => stdout)
    expect(outputs.filter((text) => text.includes('removed the hooks from'))).toHaveLength(1)
    const [other] = outputs.filter((text) => !text.includes('removed the hooks from'))
    // It names the backup only if it saw the files that are in it.
    expect(other).toMatch(
      /another carabiner remove has just removed all of this\n(?:backup ~.*-backup-\d.*\nrestore sh |$)|nothing to remove/,
    )
    expect(readdirSync(dirname(data())).filter((name) => name.startsWith('carabiner'))).toHaveLength(1)
  })

  it('no agent', async () => {
    await used()
    for (const args of [['--yes'], ['--keep-state', '--yes'], []]) {
      const { code, stderr } = await project.call(['remove', ...args], { env: { CLAUDECODE: '1' } })
      expect([code, stderr]).toEqual([1, expect.stringContaining('Removing Carabiner is for a person')])
    }
    expect(existsSync(join(data(), 'trust'))).toBe(true)
    expect((await project.call(['remove', '--dry-run'], { env: { CLAUDECODE: '1' } })).code).toBe(0)
  })
})

it('knows every folder that a home has', () => {
  const { files } = JSON.parse(
    read(new URL('../fixtures/home-0.1.0/files.json', import.meta.url).pathname),
  ) as {
    files: Record<string, unknown>
  }
  const known = [...HOME_FOLDERS.data, ...HOME_FOLDERS.state.map((name) => `state/${name}`)]
  const kept = Object.keys(files).filter((path) => path.startsWith('carabiner/'))
  const unknown = kept.filter((path) => !known.some((name) => path.startsWith(`carabiner/${name}/`)))
  expect(unknown).toEqual([])
})
