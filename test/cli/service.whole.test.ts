// The service as users meet it: setup makes clip for it, `carabiner service` shows and stops it, doctor and remove know it.

import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { USUAL_CHOICES } from '../../src/hosts/entries.js'
import { callerFrames, encodeToCaller, type FromCaller } from '../../src/rpc/frames.js'
import { engineEntries, packEntries } from '../hosts/grouped.js'
import { Project, programFile, type Run, withProgram } from './program.js'

withProgram('own')

let project: Project
beforeEach(() => {
  project = new Project()
  writeFileSync(beside('clip.c'), 'int main(void);\n')
  rmSync(beside('prebuilt'), { recursive: true, force: true })
  tool('cc', COMPILER)
})
afterEach(() => project.remove())

/** "Compiles" what clip does without a service: it runs its arguments. */
const COMPILER = `echo "$*" >> "$HOME/compiled"
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\nexec "$@"\\n' > "$2"`

const beside = (name: string) => join(dirname(programFile()), name)
const settings = () => join(project.home, '.claude/settings.json')
const clip = () => join(project.home, '.local/share/carabiner/bin/clip')
const folder = () => join(project.home, '.local/state/carabiner/service')
const tools = () => join(project.base, 'tools')
const read = (path: string) => readFileSync(path, 'utf8')
const program = () => ({ node: process.execPath, script: programFile() })
const compiled = () =>
  existsSync(join(project.home, 'compiled')) ? read(join(project.home, 'compiled')) : ''

function tool(name: string, script: string, place = tools()): void {
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
}

/** With these tools and those of the system but for its compilers. */
function call(args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Run> {
  for (const name of ['sh', 'dash', 'bash']) {
    const real = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim()
    if (real !== '' && !existsSync(join(tools(), name))) tool(name, `exec ${real} "$@"`)
  }
  return project.call(args, { env: { PATH: tools(), CARABINER_SERVICE: '', ...more } })
}
const setup = (...args: string[]) => call(['setup', 'claude-code', ...args])

const commands = () =>
  (Object.values(JSON.parse(read(settings())).hooks) as { hooks: { command: string }[] }[][])
    .flat()
    .flatMap(({ hooks }) => hooks.map(({ command }) => command))
const expected = (withClip: boolean, engine = false) => {
  const start = withClip ? { ...program(), clip: clip() } : program()
  const entries = [...packEntries(start, USUAL_CHOICES), ...(engine ? engineEntries(start) : [])]
  return entries.map(({ group }) => group.hooks[0].command).sort()
}

describe('setup', () => {
  it('makes clip, and registers commands that start through it', async () => {
    const { code, stdout, stderr } = await setup()
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('\nservice on: hooks ask a program that stays ready, instead of starting Node\n')
    expect(commands().sort()).toEqual(expected(true))
    expect([clip(), dirname(clip())].map((path) => statSync(path).mode & 0o777)).toEqual([0o755, 0o700])
    const version = commands()[0]?.replace(/ hook .*/, ' --version') ?? ''
    expect(spawnSync('sh', ['-c', version], { encoding: 'utf8', env: project.env() }).stdout).toMatch(
      /^\d+\./,
    )
  })

  it('compiles it once, and again if its source or the program changed', async () => {
    await setup()
    const once = compiled()
    const { stdout } = await setup('--json')
    expect(JSON.parse(stdout)).toMatchObject({ changes: false, service: { on: true, why: null } })
    expect(compiled()).toBe(once)
    writeFileSync(beside('clip.c'), 'int main(void); // newer\n')
    await setup()
    expect(compiled().split('\n')).toHaveLength(3)
    writeFileSync(clip(), '#!/bin/sh\nexit 0\n')
    await setup()
    expect(compiled().split('\n')).toHaveLength(4)
  })

  it('goes over to it and back, with each hook registered once, and keeps what is registered', async () => {
    for (const [args, isWarm] of [
      [['--engine', '--no-service'], false],
      [[], true],
      [['--no-service'], false],
      [['--engine'], true],
      [['--yes'], true],
    ] as const) {
      expect(
        (
          await setup(
            ...args,
            ...(args.includes('--engine' as never) ? ['--with', 'guard,stop,start,preferences'] : []),
          )
        ).code,
      ).toBe(0)
      expect(commands().sort()).toEqual(expected(isWarm, true))
    }
    await setup('--remove')
    expect(existsSync(settings())).toBe(false)
  })

  it('writes nothing under --dry-run', async () => {
    const { stdout } = await setup('--dry-run')
    expect(stdout).toContain('\nservice would be on: ')
    expect([compiled(), existsSync(clip()), existsSync(settings())]).toEqual(['', false, false])
  })

  it('takes the program that came with the release before any compiler', async () => {
    const prebuilt = beside(`prebuilt/${process.platform}-${process.arch}`)
    tool('clip', '# ready\nexec "$@"', prebuilt)
    chmodSync(join(prebuilt, 'clip'), 0o644) // as some ways of unpacking leave it
    expect((await setup()).stdout).toContain('service on')
    expect([compiled(), read(clip())]).toEqual(['', read(join(prebuilt, 'clip'))])
  })

  describe('registers commands that start Node', () => {
    const off = (why: string) => `service off: every hook starts Node. ${why}`
    const oneLine = ({ stdout }: Run) => stdout.replace(/\s+/g, ' ')

    it.each([
      ['apt-get', 'Install one: apt-get install gcc libc6-dev.'],
      ['apk', 'Install one: apk add gcc musl-dev.'],
      ['other', 'Install gcc or clang.'],
    ])('without a compiler, and says which package has one: %s', async (manager, fix) => {
      rmSync(join(tools(), 'cc'))
      tool(manager, '')
      const run = await setup()
      expect(run.code).toBe(0)
      expect(oneLine(run)).toContain(off(`There is no C compiler. ${fix} Then run this again.`))
      expect(commands().sort()).toEqual(expected(false))
    })

    it.each([
      [
        'fails',
        'echo "clip.c:1: fatal error: stdio.h: No such file" >&2; exit 1',
        'failed: clip.c:1: fatal error',
      ],
      ['makes nothing', 'exit 0', 'ENOENT'],
      [
        'makes a program that does nothing',
        COMPILER.replace('exec "$@"', 'exit 0'),
        'does not start Carabiner',
      ],
      ['makes a program that fails', COMPILER.replace('exec "$@"', 'exit 7'), 'does not start: '],
    ])('if the compiler %s, and leaves no half-made program', async (_, script, why) => {
      tool('cc', script)
      const run = await setup()
      expect(oneLine(run)).toContain('service off: every hook starts Node. clip could not be made in ')
      expect(oneLine(run)).toContain(why)
      expect(commands().sort()).toEqual(expected(false))
      expect(spawnSync('ls', ['-A', dirname(clip())], { encoding: 'utf8' }).stdout).toBe('')
    })

    it('if the folder for clip is open to others', async () => {
      mkdirSync(dirname(clip()), { recursive: true })
      chmodSync(dirname(clip()), 0o777)
      expect(oneLine(await setup())).toContain('is writable by others (mode 777)')
      expect([compiled(), commands().sort()]).toEqual(['', expected(false)])
    })

    it('if CARABINER_SERVICE=off is set', async () => {
      const run = await call(['setup', 'claude-code'], { CARABINER_SERVICE: 'off' })
      expect(run.stdout).toContain(off('CARABINER_SERVICE=off is set.'))
      expect([compiled(), commands().sort()]).toEqual(['', expected(false)])
    })

    it('if its own files would be in the project', async () => {
      const run = await call(['setup', 'claude-code'], { CARABINER_HOME: project.path('own') })
      expect(oneLine(run)).toContain('own is in a project, which could replace the program that asks it.')
      expect(commands().sort()).toEqual(expected(false))
    })
  })

  it("does not run a project's compiler", async () => {
    const bin = project.path('node_modules/.bin')
    tool('cc', COMPILER.replace('exec "$@"', 'echo 9.9.9'), bin)
    await call(['setup', 'claude-code'], { PATH: `${bin}:${tools()}` })
    expect(read(clip())).toContain('exec "$@"')
  })

  describe("in an agent's shell", () => {
    const agent = { CLAUDECODE: '1' }

    it('neither compiles nor registers clip', async () => {
      const { code, stdout } = await call(['setup', 'claude-code'], agent)
      expect([code, compiled()]).toEqual([0, ''])
      expect(stdout).toContain('service off: every hook starts Node. An agent runs this.')
      expect(commands().sort()).toEqual(expected(false))
    })

    it('keeps the clip that a person registered', async () => {
      await setup()
      const before = compiled()
      writeFileSync(beside('clip.c'), 'int main(void); // newer\n')
      expect((await call(['setup', 'claude-code', '--with', 'transcript'], agent)).code).toBe(0)
      expect(commands().every((one) => one.includes(`"${clip()}"`))).toBe(true)
      expect(compiled()).toBe(before)
    })

    it('registers no clip of another home, and none that was changed', async () => {
      await setup()
      const other = join(project.base, 'other')
      await call(['setup', 'claude-code'], { CARABINER_HOME: other })
      expect(commands()[0]).toContain(join(other, 'bin/clip'))
      await setup()
      expect(commands().sort()).toEqual(expected(true))
      await call(['setup', 'claude-code'], { ...agent, CARABINER_HOME: other })
      expect(commands().sort()).toEqual(expected(false))
      await setup()
      writeFileSync(clip(), '#!/bin/sh\nexit 0\n')
      await call(['setup', 'claude-code'], agent)
      expect(commands().sort()).toEqual(expected(false))
    })
  })
})

// ---- a service that runs --------------------------------------------------------------------------------------

const BUILD = () => read(beside('build-id')).trim()
const STATUS = {
  pid: 4711,
  startedAt: '2026-11-16T15:00:00.000Z',
  calls: 214,
  active: 1,
  memory: 78_000_000,
  warm: 2,
}

class FakeService {
  readonly asked: FromCaller['kind'][] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  /** Without a status, it accepts and says nothing. */
  constructor(status: object | null) {
    this.#server = createServer((socket) => {
      const frames = callerFrames()
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('data', (chunk: Buffer) => {
        for (const { kind } of frames.push(chunk)) {
          this.asked.push(kind)
          if (kind === 'status' && status)
            socket.write(encodeToCaller({ kind, json: JSON.stringify(status) }))
          if (kind === 'stop') socket.end(encodeToCaller({ kind: 'stopped' }), () => this.#server.close())
        }
      })
    })
  }

  async listen(name: string): Promise<this> {
    mkdirSync(folder(), { recursive: true, mode: 0o700 })
    const back = process.cwd()
    process.chdir(folder())
    await new Promise<void>((resolve) => void this.#server.listen(`${name}.sock`, resolve))
    process.chdir(back)
    services.push(this)
    return this
  }

  async end(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => void this.#server.close(resolve))
  }
}

let services: FakeService[] = []
afterEach(async () => {
  for (const one of services) await one.end()
  services = []
})
const serve = (name: string, status: object | null = STATUS) => new FakeService(status).listen(name)

describe('carabiner service', () => {
  beforeEach(async () => void (await setup()))

  it('shows what runs, and of which build', async () => {
    await serve(`${BUILD()}.here.1.2.3`)
    await serve('0123456789abcdef.here.1.2.3', { ...STATUS, pid: 4712, calls: 1, active: 0, warm: 1 })
    const { code, stdout } = await call(['service'])
    const lines = stdout.replace(/\n {2}/g, ' ').split('\n')
    expect(code).toBe(0)
    expect(lines).toEqual([
      expect.stringMatching(
        /^running service of another build, process 4712, since 2026-11-\d\d \d\d:\d\d:00: 1 call, 78 MB, 1 warm process$/,
      ),
      expect.stringMatching(
        /^running service, process 4711, since .*: 214 calls, 1 under way, 78 MB, 2 warm processes$/,
      ),
      'next carabiner service stop   # the next event starts a new one',
      '',
    ])
    const { services: found } = JSON.parse((await call(['service', '--json'])).stdout)
    expect(found).toMatchObject([
      { state: 'running', isCurrent: false, status: { pid: 4712 } },
      { state: 'running', isCurrent: true, build: BUILD(), status: STATUS },
    ])
  })

  it('is not forgotten by those who do without it', async () => {
    await serve(`${BUILD()}.here.1.2.3`)
    const { stdout } = await setup('--no-service')
    expect(stdout).toContain('next carabiner service stop   # one still runs\n')
    expect(stdout).toContain('next carabiner setup claude-code --no-service --with ')
    expect((await call(['doctor'])).stdout).toContain('not used, 1 service still running')
  })

  it('stops all of them', async () => {
    const [one, other] = [await serve('a.here.1.2.3'), await serve('b.here.1.2.3', { ...STATUS, pid: 4712 })]
    const { code, stdout } = await call(['service', 'stop'])
    expect([code, stdout]).toEqual([
      0,
      'stopped the service (process 4711)\nstopped the service (process 4712)\n',
    ])
    expect([one.asked, other.asked]).toEqual([
      ['status', 'stop'],
      ['status', 'stop'],
    ])
    expect((await call(['service', 'stop'])).stdout).toBe('No service runs.\n')
  })

  it.each([
    ['says nothing', null],
    ['says something else', { pid: 'x' }],
  ])('tells of one that %s, and how to end it', async (_, status) => {
    const name = `${BUILD()}.here.1.2.3`
    await serve(name, status)
    const kill = `pkill -KILL -f 'service run .* ${name}'`
    const { code, stdout } = await call(['service'])
    expect([code, stdout]).toEqual([1, expect.stringContaining(`next ${kill}   # the next event`)])
    expect(stdout.replace(/\s+/g, ' ')).toContain(`silent service ${name} did not answer within a second.`)
    const stopped = await call(['service', 'stop'])
    expect([stopped.code, stopped.stderr.replace(/\s+/g, ' ')]).toEqual([
      1,
      expect.stringContaining(`does not answer To end it: ${kill}`),
    ])
  })

  it('does not count sockets that nobody listens on, nor talk through a folder that others can enter', async () => {
    const service = await serve(`${BUILD()}.here.1.2.3`)
    chmodSync(folder(), 0o755)
    const { stdout } = await call(['service'])
    expect(stdout).toContain('No service runs.\nnote ')
    expect(stdout).toContain('is open to others (mode 755), so hooks start Node.')
    expect(service.asked).toEqual([])
    chmodSync(folder(), 0o700)
    for (const name of ['file', 'folder']) {
      if (name === 'file') writeFileSync(join(folder(), 'file.sock'), '')
      else mkdirSync(join(folder(), 'folder.sock'))
    }
    const { services: found } = JSON.parse((await call(['service', '--json'])).stdout)
    expect(found.map(({ state }: { state: string }) => state)).toEqual(['running', 'elsewhere', 'elsewhere'])
  })
})

describe('doctor', () => {
  beforeEach(async () => void (await setup()))

  async function found(more: Readonly<Record<string, string>> = {}) {
    const { stdout } = await call(['doctor', '--json'], more)
    const { findings } = JSON.parse(stdout) as { findings: Record<string, string>[] }
    return findings.filter(({ family, code }) => family === 'service' || code === 'registration')
  }

  it('finds nothing right after setup', async () => {
    expect(await found()).toEqual([])
  })

  it.each([
    [
      'is gone',
      () => rmSync(clip()),
      'broken',
      'registration',
      /bin\/clip", which does not exist, so Claude Code blocks/,
    ],
    ['cannot be executed', () => chmodSync(clip(), 0o644), 'broken', 'clip-unusable', /cannot be executed/],
    [
      'was changed',
      () => writeFileSync(clip(), 'x'),
      'broken',
      'clip-unusable',
      /is not the program that setup made/,
    ],
    [
      'has no record',
      () => rmSync(`${clip()}.json`),
      'broken',
      'clip-unusable',
      /is not the program that setup/,
    ],
    [
      'is of another build',
      () => writeFileSync(beside('clip.c'), '//'),
      'warning',
      'clip-older',
      /another version/,
    ],
  ] as const)('tells that clip %s, and setup repairs it', async (_, harm, severity, code, text) => {
    harm()
    expect(await found()).toMatchObject([
      { severity, code, text: expect.stringMatching(text), fix: 'carabiner setup claude-code' },
    ])
    await setup()
    expect(await found()).toEqual([])
  })

  it('tells of another clip in the settings', async () => {
    const other = join(project.base, 'tools/clip')
    tool('clip', 'exec "$@"')
    writeFileSync(settings(), read(settings()).replaceAll(clip(), other))
    expect(await found()).toMatchObject([{ severity: 'warning', code: 'clip-unusable' }])
  })

  it('tells why the service is not used', async () => {
    mkdirSync(folder(), { recursive: true })
    chmodSync(folder(), 0o750)
    expect(await found()).toMatchObject([
      { severity: 'warning', code: 'service-unused', fix: expect.stringMatching(/^chmod 700 /) },
    ])
    expect(await found({ CARABINER_SERVICE: 'off' })).toMatchObject([
      { severity: 'note', code: 'service-unused', fix: 'unset CARABINER_SERVICE' },
    ])
  })

  it('tells what is missing for it', async () => {
    await setup('--no-service')
    expect(await found()).toEqual([])
    rmSync(clip())
    expect(await found()).toMatchObject([{ severity: 'note', fix: 'carabiner setup claude-code' }])
    rmSync(join(tools(), 'cc'))
    expect(await found()).toMatchObject([
      { severity: 'note', text: expect.stringContaining('There is no C compiler.') },
    ])
  })

  it('tells of a service that does not answer', async () => {
    await serve(`${BUILD()}.here.1.2.3`, { pid: 'x' })
    expect(await found()).toMatchObject([
      { severity: 'warning', code: 'service-silent', fix: expect.stringMatching(/^pkill -KILL -f /) },
    ])
  })

  it('tells of a service that failed', async () => {
    mkdirSync(folder(), { recursive: true, mode: 0o700 })
    writeFileSync(join(folder(), 'failed.txt'), '2026-11-16T15:00:00.000Z\nError: no memory\n    at x.js:1\n')
    expect(await found()).toMatchObject([
      {
        severity: 'warning',
        code: 'service-failed',
        text: 'the service ended with an error at 2026-11-16T15:00:00.000Z: Error: no memory',
        fix: expect.stringMatching(/^rm .*failed\.txt/),
      },
    ])
  })
})

describe('remove', () => {
  it('takes clip and the service with it, and the backup brings clip back', async () => {
    await setup()
    const service = await serve(`${BUILD()}.here.1.2.3`)
    const made = read(clip())
    const { stdout } = await call(['remove', '--dry-run'])
    expect(stdout).toContain('~/.local/share/carabiner: bin, setup (3 files)\n')
    expect(stdout).toContain('~/.local/state/carabiner/service: the service, which is stopped\n')
    const { code, stdout: json } = await call(['remove', '--yes', '--json'])
    const { restore, notes } = JSON.parse(json)
    expect([code, notes, service.asked]).toEqual([0, [], ['status', 'stop']])
    expect([settings(), clip(), folder()].map(existsSync)).toEqual([false, false, false])
    expect(spawnSync('sh', ['-c', restore], { env: project.env() }).status).toBe(0)
    expect([read(clip()), statSync(clip()).mode & 0o777]).toEqual([made, 0o755])
    expect(commands().sort()).toEqual(expected(true))
  })

  it('says that agents must be restarted, and leaves the service to --keep-state', async () => {
    await setup()
    const service = await serve(`${BUILD()}.here.1.2.3`)
    expect((await call(['remove', '--keep-state', '--yes'])).stdout).toContain(
      'it runs these hooks until then',
    )
    expect([service.asked, existsSync(clip()), existsSync(folder())]).toEqual([[], true, true])
    await setup()
    const { stdout } = await call(['remove', '--yes'])
    expect(stdout.replace(/\s+/g, ' ')).toContain(
      'it still tries to run these hooks, and may block every call',
    )
  })
})
