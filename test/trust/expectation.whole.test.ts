// A trust record is an expectation: the gates of what was trusted stay armed, whatever becomes of its files.

import {
  chmodSync,
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createHooks, type Hooks, type HooksOptions, type Outcome } from 'carabiner'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type ConfigSources, loadConfig, loadSkills } from '../../src/config/load.js'
import { unitsOf } from '../../src/config/units.js'
import { reviewCommand, takeCommand } from '../../src/trust/expectation.js'
import { trustStore } from '../../src/trust/trust-store.js'
import type { Unit } from '../../src/trust/unit.js'
import { isLarge, sample } from '../property/runs.js'
import { removeAll } from './hostile-project.js'

let base: string
let project: string
let data: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-expectation-')))
  project = join(base, 'project')
  data = join(base, 'data')
  mkdirSync(project)
  mkdirSync(join(base, 'home'))
  vi.stubEnv('CARABINER_HOME', data)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    removeAll(base)
  })
})

const sources = (more: Partial<ConfigSources> = {}): ConfigSources => ({
  projectDir: project,
  homeDir: join(base, 'home'),
  ...more,
})

function write(path: string, content: unknown, mode = 0o644): string {
  const at = join(project, path)
  mkdirSync(dirname(at), { recursive: true })
  writeFileSync(at, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  chmodSync(at, mode)
  return at
}

const command = (event: string, line: string, more: object = {}) => ({
  hooks: { [event]: [{ matcher: 'Bash', hooks: [{ type: 'command', command: line, ...more }] }] },
})

const DENIES = '#!/bin/sh\necho no >&2\nexit 2\n'

function plugin(name = 'guard', more: object = {}): string {
  write(`.amplifier/hooks/${name}/gate.sh`, DENIES, 0o755)
  write(`.amplifier/hooks/${name}/note.sh`, '#!/bin/sh\necho noted\n', 0o755)
  const hooks = {
    ...command('PreToolUse', '"$CLAUDE_PLUGIN_ROOT"/gate.sh', more).hooks,
    SessionStart: [{ hooks: [{ type: 'command', command: '"$CLAUDE_PLUGIN_ROOT"/note.sh' }] }],
  }
  return dirname(write(`.amplifier/hooks/${name}/hooks.json`, { hooks }))
}

async function trustAll(more: Partial<ConfigSources> = {}): Promise<void> {
  const { specs } = await loadConfig(sources(more))
  const store = trustStore({ dataDir: data })
  for (const unit of unitsOf(specs).keys()) store.trust(unit, store.look(unit).digest)
}

async function opened(options: HooksOptions = {}): Promise<Hooks> {
  const hooks = await createHooks({
    projectDir: project,
    home: join(base, 'home'),
    globals: false,
    ...options,
  })
  onTestFinished(() => hooks.close())
  return hooks
}

const CALL = { tool_name: 'Bash', tool_input: { command: 'ls' } }

async function fired(
  event = 'PreToolUse',
  call: object = CALL,
  options: HooksOptions = {},
): Promise<Outcome> {
  return (await opened(options)).session({ cwd: project }).fire(event, call)
}

const textsOf = ({ messages }: Outcome) => messages.map(({ text }) => text).join('\n')

const EDITS: Readonly<Record<string, (folder: string) => void>> = {
  'G1: its folder was renamed': (f) => renameSync(f, join(dirname(f), '.guard')),
  'G1: its folder was renamed to another name': (f) => renameSync(f, join(dirname(f), 'other')),
  'G2: .amplifier was removed': () => rmSync(join(project, '.amplifier'), { recursive: true }),
  'G2: its hooks file was renamed': (f) => renameSync(join(f, 'hooks.json'), join(f, 'hooks.jsonc')),
  'G2: its hooks file was emptied': (f) => writeFileSync(join(f, 'hooks.json'), ''),
  'G2: its hooks file is {}': (f) => writeFileSync(join(f, 'hooks.json'), '{}'),
  'G2: its hooks file is no JSON any more': (f) => writeFileSync(join(f, 'hooks.json'), '{"hooks":'),
  'G2: its matcher was edited': (f) => edit(join(f, 'hooks.json'), '"Bash"', '"Bsh"'),
  'G2: its event was edited': (f) => edit(join(f, 'hooks.json'), '"PreToolUse"', '"PreTolUse"'),
  'G3: a file was added': (f) => writeFileSync(join(f, 'new.txt'), ''),
  'G3: a byte was changed': (f) => edit(join(f, 'gate.sh'), 'exit 2', 'exit 0'),
  'G3: a mode was changed': (f) => chmodSync(join(f, 'gate.sh'), 0o644),
  ...(process.getuid?.() !== 0 && { 'its folder cannot be read': (f: string) => chmodSync(f, 0) }),
  'a file is where its folder was': (f) => {
    rmSync(f, { recursive: true })
    writeFileSync(f, '')
  },
}

function edit(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8')
  expect(text).toContain(from)
  writeFileSync(path, text.replaceAll(from, to))
}

describe('a plugin that was trusted still guards', () => {
  it.each(Object.entries(EDITS))('%s', async (_, change) => {
    const folder = plugin()
    await trustAll()
    expect(await fired()).toMatchObject({ action: 'deny', reason: 'no' })
    change(folder)
    const outcome = await fired()
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no' })
    expect(textsOf(outcome)).toMatch(
      /guard \(trusted \d+ \w+\) (?:is not as you trusted it|is no longer in this project and still guards it|has no hook|no longer has any hooks)/,
    )
    expect(textsOf(outcome)).toContain('carabiner untrust guard')
    const [expectation] = (await opened()).expectations()
    expect(expectation).toMatchObject({
      unit: { name: 'guard', path: folder },
      guardedBy: 'copy',
      gates: [{ name: 'guard:PreToolUse#1', event: 'PreToolUse', matcher: 'Bash' }],
    })
  })

  it('until the trust is taken back', async () => {
    const folder = plugin()
    await trustAll()
    rmSync(folder, { recursive: true })
    const hooks = await opened()
    const store = trustStore({ dataDir: data })
    for (const record of store.records()) store.untrust(record)
    expect((await hooks.session({ cwd: project }).fire('PreToolUse', CALL)).action).toBe('continue')
    expect(await fired()).toMatchObject({ action: 'continue', messages: [] })
  })

  it('and in the words of the documentation', async () => {
    const folder = plugin()
    await trustAll()
    rmSync(folder, { recursive: true })
    const [told] = (await fired('PreToolUse', { tool_name: 'Read', tool_input: {} })).messages
    expect(told?.text).toMatch(
      /^guard \(trusted \d+ \w+\) is no longer in this project and still guards it\. To keep it, do nothing\. To stop trusting it: carabiner untrust guard\.$/,
    )
  })
})

it('a plugin that was changed runs whole as it was trusted; one that is gone only guards', async () => {
  const folder = plugin()
  await trustAll()
  writeFileSync(join(folder, 'new.txt'), '')
  const start = { source: 'startup' }
  expect((await fired('SessionStart', start)).injections).toMatchObject([{ text: 'noted' }])
  rmSync(folder, { recursive: true })
  expect((await fired('SessionStart', start)).injections).toEqual([])
})

describe('a file of hooks that was trusted still guards', () => {
  const FILES = { root: '.amplifier/hooks/hooks.json', settings: '.amplifier/settings.json' } as const
  const EDITS_OF_FILES: Readonly<Record<string, (file: string) => void>> = {
    'G2: it was removed': (file) => rmSync(file),
    'G2: it was renamed': (file) => renameSync(file, `${file}.off`),
    'G2: it was emptied': (file) => writeFileSync(file, ''),
    'G2: it is {}': (file) => writeFileSync(file, '{}'),
    'G2: it is no JSON any more': (file) => writeFileSync(file, '{"hooks'),
    'G2: its matcher was edited': (file) => edit(file, '"Bash"', '"Nothing"'),
    'G2: its event was edited': (file) => edit(file, '"PreToolUse"', '"PreTolUse"'),
    'its command was edited': (file) => edit(file, 'exit 2', 'exit 0'),
    'one of its hooks was removed': (file) => {
      const { hooks } = JSON.parse(readFileSync(file, 'utf8'))
      writeFileSync(file, JSON.stringify({ hooks: { Stop: hooks.Stop } }))
    },
    'it is a folder': (file) => {
      rmSync(file)
      mkdirSync(file)
    },
  }

  describe.each(Object.entries(FILES))('%s', (_, file) => {
    it.each(Object.entries(EDITS_OF_FILES))('%s', async (_name, change) => {
      const { hooks } = command('PreToolUse', 'echo no >&2; exit 2')
      write(file, { hooks: { ...hooks, Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] } })
      await trustAll()
      change(join(project, file))
      const outcome = await fired()
      expect(outcome).toMatchObject({ action: 'deny', reason: 'no' })
      expect(textsOf(outcome)).toContain('carabiner untrust .amplifier/')
    })
  })
})

describe('a script that a trusted command names', () => {
  const COMMANDS = {
    relative: './scripts/gate.sh',
    interpreter: 'sh scripts/gate.sh --strict',
    variable: '"$CLAUDE_PROJECT_DIR"/scripts/gate.sh',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the file
    'variable in quotes': 'sh "${AMPLIFIER_PROJECT_DIR}/scripts/gate.sh"',
  }
  const CHANGES: Readonly<Record<string, (script: string) => void>> = {
    changed: (script) => writeFileSync(script, '#!/bin/sh\nexit 0\n'),
    removed: (script) => rmSync(script),
    'not executable': (script) => chmodSync(script, 0o644),
    'a link': (script) => {
      renameSync(script, `${script}.old`)
      writeFileSync(script, '#!/bin/sh\nexit 0\n')
    },
  }
  const everyCase = Object.entries(COMMANDS).flatMap(([form, line]) =>
    Object.entries(CHANGES).map(([what, change]) => [form, what, line, change] as const),
  )

  it.each(sample(everyCase))('%s, %s: runs as it was reviewed', async (_form, _what, line, change) => {
    const script = write('scripts/gate.sh', DENIES, 0o755)
    write('.amplifier/hooks/hooks.json', command('PreToolUse', line))
    await trustAll()
    expect(await fired()).toMatchObject({ action: 'deny', reason: 'no' })
    change(script)
    const outcome = await fired()
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no' })
    expect(textsOf(outcome)).toContain('To review and accept the change: carabiner trust --mine.')
  })

  it('in a command without a shell runs as it was reviewed', async () => {
    const script = write('scripts/gate.sh', DENIES, 0o755)
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the file
    const args = ['${CLAUDE_PROJECT_DIR}/scripts/gate.sh', 'x y']
    write('.amplifier/hooks/hooks.json', command('PreToolUse', 'sh', { args }))
    await trustAll()
    rmSync(script)
    expect(await fired()).toMatchObject({ action: 'deny', reason: 'no' })
  })

  it.each([
    'if true; then sh scripts/gate.sh; fi',
    'X=1 sh scripts/gate.sh',
    'cd scripts && sh ./gate.sh',
    'sh scripts/gate.sh | cat',
  ])('in %s closes the gate, and says what to do', async (line) => {
    const script = write('scripts/gate.sh', '#!/bin/sh\nexit 0\n', 0o755)
    write('.amplifier/hooks/hooks.json', command('PreToolUse', line))
    await trustAll()
    expect((await fired()).action).toBe('continue')
    writeFileSync(script, '#!/bin/sh\nexit 0 # other\n')
    const outcome = await fired()
    expect(outcome).toMatchObject({ action: 'deny', hooks: [{ status: 'failed', why: 'HOOK_NOT_TRUSTED' }] })
    expect(outcome.reason).toContain('carabiner trust --mine')
  })

  it.each([
    [
      'looks for files beside itself',
      '[ ! -f "$(dirname "$0")"/rules.sh ] || exit 2',
      'To review and accept the change',
    ],
    ['fails', '[ ! -f scripts/gone ] || exit 1', 'The reviewed version was run instead, and failed'],
  ])('that %s closes the gate', async (_, line, why) => {
    const script = write('scripts/gate.sh', `#!/bin/sh\n${line}\n`, 0o755)
    write('.amplifier/hooks/hooks.json', command('PreToolUse', 'sh "$CLAUDE_PROJECT_DIR"/scripts/gate.sh'))
    await trustAll()
    expect((await fired()).action).toBe('continue')
    writeFileSync(script, '#!/bin/sh\nexit 0\n')
    write('scripts/gone', '')
    const outcome = await fired()
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toContain(why)
  })

  it('in JavaScript is not broken by a package.json that appears', async () => {
    write('scripts/gate.js', "require('fs').writeSync(2, 'no')\nprocess.exitCode = 2\n")
    write('.amplifier/hooks/hooks.json', command('PreToolUse', 'node scripts/gate.js'))
    await trustAll()
    write('scripts/package.json', '')
    const outcome = await fired()
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no' })
    expect(textsOf(outcome)).toContain('To review and accept the change: carabiner trust --mine.')
  })

  it('means the reviewed one in whatever folder the agent is', async () => {
    write('scripts/gate.sh', DENIES, 0o755)
    write('.amplifier/hooks/hooks.json', command('PreToolUse', './scripts/gate.sh'))
    await trustAll()
    write('sub/scripts/gate.sh', '#!/bin/sh\nexit 0\n', 0o755)
    const outcome = await fired('PreToolUse', { ...CALL, cwd: join(project, 'sub') })
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no' })
  })

  const NAMED = {
    './scripts/gate.sh': {},
    'scripts/gate.sh': {},
    'sh scripts/gate.sh': {},
    "bash 'scripts/gate.sh' x": {},
    'sh ./scripts/gate.sh < /dev/null': {},
    'cat | ./scripts/gate.sh': {},
    'true && ./scripts/gate.sh': {},
    'cd "$CLAUDE_PROJECT_DIR" && ./scripts/gate.sh': {},
    sh: { args: ['scripts/gate.sh'] },
    './scripts/gate.sh\0': { args: ['x'] },
  }
  it.each(Object.entries(NAMED))('guards below the project, where %j finds nothing', async (line, more) => {
    // It looks for a file beside itself.
    write('scripts/gate.sh', '#!/bin/sh\n. "$(dirname "$0")"/rules.sh\n', 0o755)
    write('scripts/rules.sh', 'echo no >&2\nexit 2\n')
    write('.amplifier/hooks/hooks.json', command('PreToolUse', line.replace('\0', ''), more))
    await trustAll()
    mkdirSync(join(project, 'sub', 'scripts'), { recursive: true })
    for (const cwd of ['sub', 'scripts']) {
      const { action, reason } = await fired('PreToolUse', { ...CALL, cwd: join(project, cwd) })
      expect([cwd, action]).toEqual([cwd, 'deny'])
      if (reason !== 'no')
        expect(reason).toMatch(/Write "\$CLAUDE_PROJECT_DIR"\/\S+gate.sh in .*hooks.json:\d+/)
      // A line of plain words, and one that goes to the project, need no help.
      if (!/[|<]|true/.test(line)) expect([cwd, reason]).toEqual([cwd, 'no'])
    }
  })

  // They would end with 0, and nobody would have judged.
  const SILENT = [
    'test -x scripts/gate.sh && exec scripts/gate.sh || true',
    '[ -f ./scripts/gate.sh ] || exit 0; ./scripts/gate.sh',
    'if [ -x "scripts"/gate.sh ]; then "scripts"/gate.sh; fi',
    'sh scripts/gate.sh 2>/dev/null || test $? -ne 2',
    "bash -c 'test -x scripts/gate.sh && exec scripts/gate.sh'; exit 0",
    'S=scripts/gate.sh; [ -x "$S" ] || exit 0; exec "$S"',
    'cat scripts/gate.sh 2>/dev/null | sh',
    'sh -c "$(cat scripts/gate.sh)"',
    '[ -f scripts/gate.sh ] || exit 0; exit 3',
  ]
  it.each(SILENT)('closes its gate below the project, where %j would pass in silence', async (line) => {
    write('scripts/gate.sh', DENIES, 0o755)
    write('.amplifier/hooks/hooks.json', command('PreToolUse', line))
    await trustAll()
    mkdirSync(join(project, 'sub', 'scripts'), { recursive: true })
    const { action, reason } = await fired('PreToolUse', { ...CALL, cwd: join(project, 'sub') })
    expect(action).toBe('deny')
    expect(reason).toMatch(/Write "\$CLAUDE_PROJECT_DIR"\/\S+gate.sh in .*hooks.json:\d+/)
  })

  const GOING = [
    'cd scripts && ./gate.sh',
    'cd scripts 2>/dev/null; test -x gate.sh && exec ./gate.sh || true',
    '(cd ./scripts && sh gate.sh) || exit $?',
    'cd "$CLAUDE_PROJECT_DIR"; ./scripts/gate.sh',
    'cd "$CLAUDE_PROJECT_DIR" && test -x scripts/gate.sh && exec scripts/gate.sh || true',
  ]
  it.each(GOING)('is found from the project by a line that goes somewhere itself: %j', async (line) => {
    write('scripts/gate.sh', '#!/bin/sh\ngrep -q push || exit 0\necho no >&2\nexit 2\n', 0o755)
    write('.amplifier/hooks/hooks.json', command('PreToolUse', line))
    await trustAll()
    const cwd = join(project, 'sub')
    mkdirSync(cwd)
    const answers = ['git push', 'ls'].map((text) =>
      fired('PreToolUse', { ...CALL, tool_input: { command: text }, cwd }),
    )
    const [refused, admitted] = await Promise.all(answers)
    expect(refused).toMatchObject({ action: 'deny', reason: 'no' })
    expect(admitted).toMatchObject({ action: 'continue', messages: [] })
  })

  it.each([
    ['is only spoken of', 'PreToolUse', '[ "$1" != x ] || echo "see scripts/gate.sh"; exit 0'],
    [
      'is of a hook that does not guard',
      'SessionStart',
      '[ -f scripts/gate.sh ] && sh scripts/gate.sh || true',
    ],
  ])('that %s stops nobody below the project', async (_, event, line) => {
    write('scripts/gate.sh', DENIES, 0o755)
    write('.amplifier/hooks/hooks.json', {
      hooks: { [event]: [{ hooks: [{ type: 'command', command: line }] }] },
    })
    await trustAll()
    mkdirSync(join(project, 'sub'))
    const outcome = await fired(event, { ...CALL, source: 'startup', cwd: join(project, 'sub') })
    expect(outcome).toMatchObject({ action: 'continue', messages: [] })
  })

  it('is not missed for a line with the whole path of another one that has its name', async () => {
    write('scripts/gate.sh', '#!/bin/sh\nexit 0\n', 0o755)
    write('lib/gate.sh', '#!/bin/sh\ntest "$(basename "$PWD")" = sub || exit 1\n', 0o755)
    const lines = ['./scripts/gate.sh', '"$CLAUDE_PROJECT_DIR"/lib/gate.sh || exit 2']
    const hooks = lines.map((line) => ({ type: 'command', command: line }))
    write('.amplifier/hooks/hooks.json', { hooks: { PreToolUse: [{ hooks }] } })
    await trustAll()
    mkdirSync(join(project, 'sub'))
    const outcome = await fired('PreToolUse', { ...CALL, cwd: join(project, 'sub') })
    expect(outcome).toMatchObject({ action: 'continue', messages: [] })
  })

  it('is missed only for hooks that name it: another one of the file fails as it asked', async () => {
    write('scripts/gate.sh', '#!/bin/sh\nexit 0\n', 0o755)
    const lines = ['./scripts/gate.sh', 'echo broken >&2; exit 1']
    const hooks = lines.map((line) => ({ type: 'command', command: line }))
    write('.amplifier/hooks/hooks.json', { hooks: { PreToolUse: [{ hooks }] } })
    await trustAll()
    mkdirSync(join(project, 'sub'))
    const outcome = await fired('PreToolUse', { ...CALL, cwd: join(project, 'sub') })
    expect([outcome.action, outcome.hooks.map(({ why }) => why)]).toEqual([
      'continue',
      [undefined, 'HOOK_EXIT'],
    ])
  })

  it('of a hook that does not guard fails loudly, and stops nobody', async () => {
    const script = write('scripts/note.sh', '#!/bin/sh\necho noted\n', 0o755)
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command: 'cat x | sh scripts/note.sh' }] }] }
    write('.amplifier/hooks/hooks.json', { hooks })
    await trustAll()
    rmSync(script)
    const outcome = await fired('SessionStart', { source: 'startup' })
    expect(outcome.action).toBe('continue')
    expect(textsOf(outcome)).toContain('carabiner trust --mine')
  })
})

describe('a copy that cannot run', () => {
  it.each<readonly [string, () => void]>([
    ['is gone', () => removeAll(join(data, 'copies'))],
    [
      'was changed',
      () => {
        const copy = trustStore({ dataDir: data }).keptOf(trustStore({ dataDir: data }).records()[0] as never)
        if (!('copy' in copy)) throw new Error('no copy')
        chmodSync(join(copy.copy, 'gate.sh'), 0o755)
        writeFileSync(join(copy.copy, 'gate.sh'), '#!/bin/sh\nexit 0\n')
      },
    ],
  ])('because it %s closes the gates', async (_, change) => {
    const folder = plugin()
    await trustAll()
    const hooks = await opened()
    change()
    for (const step of [() => undefined, () => rmSync(folder, { recursive: true })]) {
      step()
      const outcome = await fired()
      expect(outcome.action).toBe('deny')
      expect(outcome.reason).toMatch(/carabiner (?:un)?trust guard/)
      const other = await fired('PreToolUse', { tool_name: 'Read', tool_input: { file_path: 'x' } })
      expect(other.action).toBe('continue')
    }
    // Hooks that were read before it happened.
    expect((await hooks.session({ cwd: project }).fire('PreToolUse', CALL)).action).toBe('deny')
  })

  it('because a program is gone closes the gates', async () => {
    const bin = join(base, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'judge'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
    vi.stubEnv('PATH', `${bin}:${process.env.PATH}`)
    write('.amplifier/hooks/hooks.json', command('PreToolUse', 'judge'))
    await trustAll()
    expect((await fired()).action).toBe('continue')
    rmSync(join(bin, 'judge'))
    const outcome = await fired()
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toContain('The program judge was')
  })
})

describe.runIf(process.platform === 'linux')(
  'a reviewed script that is open for writing, so that it cannot be executed',
  () => {
    const GATE = '"$CLAUDE_PROJECT_DIR"/gate.sh'
    const held = async (hooksFile: object) => {
      write('gate.sh', '#!/bin/sh\necho no >&2\nexit 2\n')
      chmodSync(join(project, 'gate.sh'), 0o755)
      write('.amplifier/hooks/hooks.json', hooksFile)
      await trustAll()
      const fd = openSync(join(project, 'gate.sh'), 'r+')
      onTestFinished(() => closeSync(fd))
      return fired()
    }

    it('runs from its kept copy', async () => {
      expect(await held(command('PreToolUse', GATE))).toMatchObject({ action: 'deny', reason: 'no' })
    })

    it.each([
      ['part of a longer command', command('PreToolUse', `${GATE} || true`)],
      ['a resident process', { processes: { gate: { command: ['./gate.sh'], intercept: ['before_tool'] } } }],
    ])('closes the gate of %s', async (_, file) => {
      const outcome = await held(file)
      expect([outcome.action, outcome.hooks[0]?.why]).toEqual(['deny', 'HOOK_NOT_TRUSTED'])
      expect(outcome.reason).toContain('cannot be executed while it is open for writing')
    })
  },
)

describe('trust_missing', () => {
  const settings = (trust_missing: 'keep' | 'block' | 'tell') => ({ settings: { trust_missing } })

  it('"block" refuses what a gate that is gone would judge; "tell" only tells', async () => {
    rmSync(plugin(), { recursive: true })
    const folder = plugin()
    await trustAll()
    rmSync(folder, { recursive: true })
    const blocked = await fired('PreToolUse', CALL, settings('block'))
    expect(blocked.action).toBe('deny')
    expect(blocked.reason).toMatch(/is no longer in this project\. Everything .* carabiner untrust guard\.$/)
    const told = await fired('PreToolUse', CALL, settings('tell'))
    expect(told).toMatchObject({ action: 'continue', diagnostics: [{ code: 'trust-unguarded' }] })
    expect(textsOf(told)).toContain('Nothing guards calls in its place.')
  })

  it('of a project cannot loosen the user’s', async () => {
    const folder = plugin()
    await trustAll()
    rmSync(folder, { recursive: true })
    write('.amplifier/settings.json', { hooks: { trust_missing: 'tell' } })
    expect((await fired()).action).toBe('deny')
    write('.amplifier/settings.json', { hooks: { trust_missing: 'block' } })
    expect((await fired()).reason).toContain('is refused')
  })
})

it.runIf(isLarge)('more plugin folders than are read do not crowd out one that was trusted', async () => {
  plugin('zz-guard')
  await trustAll()
  for (let i = 0; i < 1001; i++) mkdirSync(join(project, `.amplifier/hooks/a${i}`))
  expect(await fired()).toMatchObject({ action: 'deny', reason: 'no' })
})

describe('settings of a project', () => {
  it.each([
    { enabled: false },
    { allow_project_hooks: false },
    { max_timeout: 0.001 },
    { default_timeout: 0.001 },
    { trust_missing: 'tell' },
    { on_failure: 'continue' },
  ])('%j do not switch off a gate that was trusted', async (hooks) => {
    plugin()
    await trustAll()
    write('.amplifier/settings.json', { hooks })
    expect((await fired()).action).toBe('deny')
  })

  it('disableAllHooks does not either, and says so', async () => {
    plugin()
    await trustAll()
    write('.amplifier/settings.json', { disableAllHooks: true })
    const hooks = await opened()
    expect((await hooks.session({ cwd: project }).fire('PreToolUse', CALL)).action).toBe('deny')
    expect(
      (await hooks.session({ cwd: project }).fire('SessionStart', { source: 'startup' })).injections,
    ).toEqual([])
    expect(hooks.diagnostics.map(({ text }) => text)).toContain(
      '"disableAllHooks": true in a project does not switch off the gates that you trusted; use carabiner disable',
    )
  })

  it('of the user do', async () => {
    plugin()
    await trustAll()
    expect((await fired('PreToolUse', CALL, { settings: { enabled: false } })).action).toBe('continue')
  })
})

describe('G4: records that cannot be read', () => {
  const GATES: readonly (readonly [string, object])[] = [
    ['PreToolUse', CALL],
    ['PreToolUse', { tool_name: 'Read', tool_input: {} }],
    ['UserPromptSubmit', { prompt: 'x' }],
    ['PermissionRequest', CALL],
  ]
  const recordFiles = () => {
    const folder = join(data, 'trust')
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json'))
      .map((name) => join(folder, name))
  }
  const DAMAGE: Readonly<Record<string, () => void>> = {
    'of this project are truncated': () => truncateSync(recordFiles()[0] as string, 100),
    'of this project are of a newer version': () => {
      const [file = ''] = recordFiles()
      chmodSync(file, 0o600)
      edit(file, '"format":1', '"format":2')
    },
    'are a file': () => {
      rmSync(join(data, 'trust'), { recursive: true })
      writeFileSync(join(data, 'trust'), '')
    },
    'can be written by anybody': () => chmodSync(join(data, 'trust'), 0o777),
    'of this project are gone': () => rmSync(dirname(recordFiles()[0] as string), { recursive: true }),
    'of this project are gone and their folder is empty': () => rmSync(recordFiles()[0] as string),
    'are gone, and only their index is left': () => rmSync(join(data, 'trust'), { recursive: true }),
  }

  it.each(Object.entries(DAMAGE))(
    'because they %s close every event that can be blocked',
    async (_, damage) => {
      const folder = plugin()
      await trustAll()
      damage()
      for (const step of [() => undefined, () => rmSync(folder, { recursive: true })]) {
        step()
        for (const [event, payload] of GATES) {
          for (let again = 0; again < 2; again++) {
            const outcome = await fired(event, payload)
            expect([event, outcome.action]).toEqual([event, 'deny'])
            expect(outcome.reason).toContain('Your trust records cannot be read')
            expect(outcome.reason).toContain(join(data, 'trust'))
          }
        }
        expect((await fired('Stop', { stop_hook_active: false })).action).toBe('continue')
        expect((await fired('SessionStart', { source: 'startup' })).action).toBe('continue')
      }
      const [expectation] = (await opened()).expectations().filter(({ state }) => state === 'unreadable')
      expect(expectation).toMatchObject({
        guardedBy: 'closed',
        repair: expect.stringContaining('carabiner trust'),
      })
    },
  )

  it('that are gone are missed by name, until a person takes the trust back or reviews it again', async () => {
    const folder = plugin()
    await trustAll()
    const where = dirname(recordFiles()[0] as string)
    rmSync(where, { recursive: true })
    const { reason } = await fired()
    for (const text of [where, folder, 'carabiner trust', `carabiner untrust ${folder}`])
      expect(reason).toContain(text)
    await trustAll()
    expect(await fired()).toMatchObject({ action: 'deny', reason: 'no' })
    rmSync(where, { recursive: true })
    expect(trustStore().untrust({ kind: 'folder', path: folder, projectDir: project })).toBe(true)
    expect(await fired()).toMatchObject({ action: 'continue', hooks: [{ why: 'untrusted' }] })
    expect(trustStore().untrust({ kind: 'folder', path: folder, projectDir: project })).toBe(false)
  })

  it.each(Object.entries(DAMAGE))(
    'because they %s close a running session only until they are repaired',
    async (_, damage) => {
      plugin()
      await trustAll()
      const before = join(base, 'before')
      cpSync(data, before, { recursive: true, preserveTimestamps: true })
      damage()
      const session = (await opened()).session({ cwd: project })
      const read = { tool_name: 'Read', tool_input: {} }
      for (let i = 0; i < 2; i++) expect((await session.fire('PreToolUse', read)).action).toBe('deny')
      removeAll(data)
      cpSync(before, data, { recursive: true, preserveTimestamps: true })
      expect((await session.fire('PreToolUse', read)).action).toBe('continue')
      expect(await session.fire('PreToolUse', CALL)).toMatchObject({ action: 'deny', reason: 'no' })
    },
  )

  it('close other projects too, if nobody can tell whose they are', async () => {
    plugin()
    await trustAll()
    rmSync(join(data, 'trust-projects'), { recursive: true })
    truncateSync(recordFiles()[0] as string, 100)
    const other = join(base, 'other')
    mkdirSync(other)
    const hooks = await opened({ projectDir: other })
    expect((await hooks.session({ cwd: other }).fire('PreToolUse', CALL)).action).toBe('deny')
  })

  it('and that are not there at all are those of a new user', async () => {
    plugin()
    await trustAll()
    removeAll(data)
    expect(await fired()).toMatchObject({ action: 'continue', hooks: [{ why: 'untrusted' }] })
  })

  it('are made again by a review', async () => {
    plugin()
    await trustAll()
    truncateSync(recordFiles()[0] as string, 100)
    await trustAll()
    expect(await fired()).toMatchObject({ action: 'deny', reason: 'no' })
  })
})

describe('a list of pre-trusted digests is an expectation', () => {
  async function listed(): Promise<HooksOptions> {
    const { specs } = await loadConfig(sources())
    const [unit] = unitsOf(specs).keys()
    const { digest } = trustStore({ dataDir: data }).look(unit as Unit)
    const file = join(base, 'digests')
    writeFileSync(file, `${digest}  # guard\n`)
    return { preTrusted: file }
  }

  it.each(Object.entries(EDITS))('on a machine that knows it: %s', async (_, change) => {
    const folder = plugin()
    const options = await listed()
    expect(await fired('PreToolUse', CALL, options)).toMatchObject({ action: 'deny', reason: 'no' })
    change(folder)
    expect(await fired('PreToolUse', CALL, options)).toMatchObject({ action: 'deny', reason: 'no' })
    // Without the list nothing is trusted.
    expect((await fired()).action).toBe('continue')
  })

  it('G1: on a machine that does not know it, it is missed', async () => {
    const folder = plugin()
    const options = await listed()
    renameSync(folder, join(dirname(folder), '.guard'))
    const outcome = await fired('PreToolUse', CALL, options)
    expect(outcome).toMatchObject({ action: 'continue', diagnostics: [{ code: 'trust-unguarded' }] })
    expect(textsOf(outcome)).toMatch(
      /guard \([0-9a-f]{12}\) is on your list of trusted digests, but not in this project/,
    )
    const block = { ...options, settings: { trust_missing: 'block' as const } }
    expect((await fired('PreToolUse', CALL, block)).action).toBe('deny')
    expect((await opened(options)).expectations()).toMatchObject([{ state: 'missing', guardedBy: 'nothing' }])
  })
})

describe('a process that was trusted', () => {
  const processes = { judge: { command: ['sh', 'scripts/judge.sh'], intercept: ['before_tool'] } }
  const other = { tool_name: 'Read', tool_input: {} }

  it.each<readonly [string, () => void]>([
    ['names a script that was changed', () => write('scripts/judge.sh', 'exit 0\n')],
    ['is gone, with its script', () => rmSync(join(project, '.amplifier'), { recursive: true })],
  ])('and %s guards or is closed', async (_, change) => {
    write('scripts/judge.sh', 'exit 1\n')
    write('.amplifier/hooks/hooks.json', { processes })
    await trustAll()
    change()
    const outcome = await fired('PreToolUse', other)
    expect(outcome.action).toBe('deny')
    expect([outcome.reason, textsOf(outcome)].join('\n')).toContain('carabiner untrust .amplifier/')
  })
})

it('a trusted skill that was changed closes its gates', async () => {
  const script = write('skills/deploy/gate.sh', DENIES, 0o755)
  const { hooks } = command('PreToolUse', './gate.sh')
  const skill = { name: 'deploy', directory: dirname(script), hooks }
  const ofSkill = await loadSkills([skill], sources(), await loadConfig(sources()))
  const store = trustStore({ dataDir: data })
  for (const unit of unitsOf(ofSkill.specs).keys()) store.trust(unit, store.look(unit).digest)
  const loaded = { skill_name: 'deploy', skill_directory: dirname(script), hooks }
  const verdict = async () => {
    const session = (await opened()).session({ cwd: project })
    await session.fire('skill:loaded', loaded)
    return session.fire('PreToolUse', CALL)
  }
  expect(await verdict()).toMatchObject({ action: 'deny', reason: 'no' })
  writeFileSync(script, '#!/bin/sh\nexit 0\n')
  const outcome = await verdict()
  expect(outcome.action).toBe('deny')
  expect(outcome.reason).toContain('carabiner untrust')
})

describe('a trusted gate with the same words as another hook runs itself', () => {
  const LINE = 'sh "$CLAUDE_PROJECT_DIR"/gate.sh'

  it('beside a trusted one of a project below', async () => {
    write('.amplifier/settings.json', command('PreToolUse', LINE))
    write('gate.sh', DENIES)
    await trustAll()
    const below = dirname(write('below/gate.sh', 'exit 0\n'))
    write('below/.amplifier/settings.json', command('PreToolUse', LINE))
    await trustAll({ projectDir: below })
    const hooks = await opened({ projectDir: below })
    const outcome = await hooks.session({ cwd: below }).fire('PreToolUse', CALL)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no' })
  })

  it('beside one of the user, which runs the script of now', async () => {
    write('.amplifier/settings.json', command('PreToolUse', LINE))
    write('gate.sh', DENIES)
    await trustAll()
    write('../home/.amplifier/settings.json', command('PreToolUse', LINE))
    write('gate.sh', 'exit 0\n')
    expect(await fired()).toMatchObject({ action: 'deny', reason: 'no' })
  })
})

describe('a trusted gate runs without variables that load code of the project', () => {
  const VARIABLES: Readonly<Record<string, () => string>> = {
    BASH_ENV: () => join(project, 'other.sh'),
    SHELLOPTS: () => 'noexec',
  }

  it.each(Object.keys(VARIABLES))('%s, though no file sets it any more', async (name) => {
    write('other.sh', 'exit 0\n')
    write('.amplifier/hooks/guard/gate.sh', DENIES)
    const line = 'bash "$CLAUDE_PLUGIN_ROOT"/gate.sh'
    write('.amplifier/hooks/guard/hooks.json', command('PreToolUse', line))
    await trustAll()
    vi.stubEnv(name, VARIABLES[name]?.())
    expect(await fired()).toMatchObject({ action: 'deny', reason: 'no' })
  })
})

it.each([
  ['no hooks', undefined],
  ['an empty list', { PreToolUse: [] }],
  ['none', {}],
])('a trusted skill that brings %s any more closes its gates', async (_, left) => {
  const script = write('skills/deploy/gate.sh', DENIES, 0o755)
  const { hooks } = command('PreToolUse', './gate.sh')
  const directory = dirname(script)
  const ofSkill = await loadSkills(
    [{ name: 'deploy', directory, hooks }],
    sources(),
    await loadConfig(sources()),
  )
  const store = trustStore({ dataDir: data })
  for (const unit of unitsOf(ofSkill.specs).keys()) store.trust(unit, store.look(unit).digest)
  const session = (await opened()).session({ cwd: project })
  expect((await session.fire('PreToolUse', CALL)).action).toBe('continue')
  await session.fire('skill:loaded', { skill_name: 'deploy', skill_directory: directory, hooks: left })
  const outcome = await session.fire('PreToolUse', CALL)
  expect(outcome.action).toBe('deny')
  expect(outcome.reason).toContain('carabiner untrust')
  await session.fire('skill:unloaded', { skill_name: 'deploy', skill_directory: directory })
  expect((await session.fire('PreToolUse', CALL)).action).toBe('continue')
})

describe('the command to type for a unit', () => {
  const outer = { kind: 'folder', name: 'guard', projectDir: '/outer/my work' } as const
  const unit = { ...outer, path: '/outer/my work/.amplifier/hooks/guard' }

  it('names the project of a unit that is not of the project where one types', () => {
    expect([reviewCommand(unit, '/outer/my work/app'), takeCommand(unit, '/outer/my work/app')]).toEqual([
      "carabiner trust guard --project '/outer/my work'",
      "carabiner trust --mine --project '/outer/my work'",
    ])
  })

  it.each([unit.projectDir, undefined])('names no project where one types in %j', (here) => {
    expect(reviewCommand(unit, here)).toBe('carabiner trust guard')
  })
})
