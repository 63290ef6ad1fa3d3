// What hooks of a session hand on to later ones, by real shells: which file, who sees it, what may stand there, when it goes.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a shell reads it

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Hooks, type HooksOptions, MemoryStore, type Outcome, type Session } from 'carabiner'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Diagnostic } from '../../../src/core/base/errors.js'
import { HandedOn } from '../../../src/runners/command/handed-on.js'
import { codes, group, has, NO_HANG, quoted, ShellProject } from '../../conformance/shell-project.js'
import { isLarge } from '../../property/runs.js'

const BASH = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const FILE = '"$CLAUDE_ENV_FILE"'
/** Appends this text to the environment file. */
const appending = (text: string) => `printf %s ${quoted(text)} >> ${FILE}`
/** Denies, with what it finds in these variables as its reason. */
const telling = (...names: readonly string[]) =>
  `printf %s "${names.map((name) => `[\${${name}-unset}]`).join('')}" >&2; exit 2`

let project: ShellProject
beforeEach(() => {
  project = new ShellProject()
})
afterEach(() => project.remove())

interface Opened {
  readonly hooks: Hooks
  readonly session: Session
  readonly started: Outcome
}

/** A session whose SessionStart hook does this, and whose PreToolUse hook tells these variables. */
async function started(set: string, told: readonly string[], options: HooksOptions = {}): Promise<Opened> {
  project.root({
    SessionStart: [group(set)],
    CwdChanged: [group('echo again >> "$CLAUDE_PROJECT_DIR/again"')],
    PreToolUse: [group({ command: telling(...told), shell: 'bash' })],
  })
  const hooks = await project.open(options)
  const session = hooks.session({ id: 's1', cwd: project.dir })
  return { hooks, session, started: await session.fire('SessionStart', { source: 'startup' }) }
}

/** Another hook that may hand something on. */
const another = (session: Session) => session.fire('CwdChanged', { old_cwd: '/', new_cwd: '/' })
const toldBy = async (session: Session) => (await session.fire('PreToolUse', BASH)).reason

/** A store whose sessions have folders. */
class FolderStore extends MemoryStore {
  readonly base = mkdtempSync(join(tmpdir(), 'carabiner-folders-'))
  folderOf(session: string, make = false): string {
    const folder = join(this.base, session)
    if (make) mkdirSync(folder, { recursive: true })
    return folder
  }
  override release(session: string): void {
    super.release(session)
    rmSync(this.folderOf(session), { recursive: true, force: true })
  }
}

describe('an environment file', NO_HANG, () => {
  it.each<[string, string, string]>([
    ['export', 'export A=1\n', '[1]'],
    ['no export', 'A=1', '[1]'],
    ['quotes', `A="x 'y'"' "z"'`, `[x 'y' "z"]`],
    ['comments', '# A=0\nA=1 # one\n', '[1]'],
    ['several lines in quotes', `A='x\ny'`, '[x\ny]'],
    ['Windows line ends', 'A=1\r\n', '[1]'],
    ['an empty value', 'A=', '[]'],
    ['other variables', 'B=x\nA="$B-${B}"', '[x-x]'],
    ['what is set twice', 'A=1\nA=2', '[2]'],
    ['text of any script', 'A="日本 💥"', '[日本 💥]'],
  ])('may hold %s', async (_what, text, expected) => {
    const { session, started: outcome } = await started(appending(text), ['A'])
    expect(outcome.diagnostics).toEqual([])
    expect(await toldBy(session)).toBe(expected)
  })

  it.skipIf(!has('bash'))('may hold what `export -p` and `printf %q` print in bash', async () => {
    const set = [
      'before=$(export -p | sort)',
      `export A='it is "quoted"' B=$'two\\n'"lines \\$x"`,
      `comm -13 <(echo "$before") <(export -p | sort) | grep -v SHLVL >> ${FILE}`,
      `printf 'export C=%q D=\\n' "a 'b' \\$c" > /dev/null; printf 'C=%q\\n' "a 'b' \\$c" >> ${FILE}`,
    ].join('\n')
    project.root({
      SessionStart: [group({ command: set, shell: 'bash' })],
      PreToolUse: [group({ command: telling('A', 'C'), shell: 'bash' })],
    })
    const session = (await project.open()).session({ cwd: project.dir })
    await session.fire('SessionStart', {})
    expect(await toldBy(session)).toBe(`[it is "quoted"][a 'b' $c]`)
  })

  it('is there for each hook under both names, empty at first, for its owner alone', async () => {
    const look = `[ "$AMPLIFIER_ENV_FILE" = ${FILE} ] && ls -l ${FILE} > "$CLAUDE_PROJECT_DIR/seen"`
    await started(look, [])
    expect(project.read('seen')).toMatch(/^-rw-------.* 0 /)
  })

  it('keeps what several hooks append', async () => {
    project.root({
      SessionStart: [group(appending('A=1\n'), appending('B=2\n'))],
      CwdChanged: [group(appending('C=3\n'))],
      PreToolUse: [group(telling('A', 'B', 'C'))],
    })
    const session = (await project.open()).session({ cwd: project.dir })
    await session.fire('SessionStart', {})
    await session.fire('CwdChanged', { old_cwd: '/', new_cwd: '/' })
    expect(await toldBy(session)).toBe('[1][2][3]')
  })

  it('may extend PATH, and a program found there runs', async () => {
    project.script('bin/mine', '#!/bin/sh\necho from mine >&2\nexit 2\n')
    project.root({
      SessionStart: [group(`echo "export PATH=\\"$CLAUDE_PROJECT_DIR/bin:\\$PATH\\"" >> ${FILE}`)],
      PreToolUse: [group('mine')],
    })
    const session = (await project.open()).session({ cwd: project.dir })
    await session.fire('SessionStart', {})
    expect(await toldBy(session)).toBe('from mine')
  })

  it('overrides nothing of ours, under any of its names', async () => {
    const ours = ['AMPLIFIER_PROJECT_DIR', 'CLAUDE_PROJECT_DIR', 'CLAUDE_CODE_SESSION_ID']
    const set = [...ours, 'CLAUDE_X', 'AMPLIFIER_X', 'PLUGIN_ROOT'].map((name) => `${name}=evil`).join('\n')
    const { session } = await started(appending(set), [...ours, 'CLAUDE_X', 'AMPLIFIER_X', 'PLUGIN_ROOT'])
    const { dir } = project
    expect(await toldBy(session)).toBe(`[${dir}][${dir}][s1][unset][unset][unset]`)
  })

  it('is not inherited from an agent around us', async () => {
    process.env.CLAUDE_ENV_FILE = '/somewhere'
    try {
      project.root({ PreToolUse: [group(telling('CLAUDE_ENV_FILE'))] })
      expect(await toldBy((await project.open()).session())).toBe('[unset]')
    } finally {
      delete process.env.CLAUDE_ENV_FILE
    }
  })

  it('reaches hooks of a subagent', async () => {
    const { session } = await started(appending('A=1'), ['A'])
    expect(await toldBy(session.child({ agentId: 'a1' }))).toBe('[1]')
  })

  it('does not reach another session', async () => {
    const { hooks } = await started(appending('A=1'), ['A'])
    expect(await toldBy(hooks.session({ id: 's2', cwd: project.dir }))).toBe('[unset]')
  })

  it('reaches hooks that inherit a minimal environment', async () => {
    const { session } = await started(appending('A=1'), ['A'], { settings: { env: 'minimal' } })
    expect(await toldBy(session)).toBe('[1]')
  })
})

describe('project and user', NO_HANG, () => {
  const user = (hooks: object) => project.json('../home/.amplifier/hooks/hooks.json', { hooks })
  const saying = (name: string) => `printf %s "\${A-unset}" > "$CLAUDE_PROJECT_DIR/${name}"`

  async function run(): Promise<readonly string[]> {
    const session = (await project.open()).session({ cwd: project.dir })
    await session.fire('SessionStart', {})
    await session.fire('PreToolUse', BASH)
    return [project.read('user'), project.read('project')]
  }

  it('what a hook of the project hands on never reaches a hook of the user', async () => {
    project.root({ SessionStart: [group(appending('A=1'))], PreToolUse: [group(saying('project'))] })
    user({ PreToolUse: [group(saying('user'))] })
    expect(await run()).toEqual(['unset', '1'])
  })

  it('variables from the hooks of a user reach all hooks, and the project may replace them for its own', async () => {
    user({ SessionStart: [group(appending('A=1'))], PreToolUse: [group(saying('user'))] })
    project.root({ PreToolUse: [group(saying('project'))] })
    expect(await run()).toEqual(['1', '1'])
    project.root({ SessionStart: [group(appending('A=2'))], PreToolUse: [group(saying('project'))] })
    expect(await run()).toEqual(['1', '2'])
  })
})

describe('where the file is, and when it is removed', NO_HANG, () => {
  const path = `echo ${FILE} >> "$CLAUDE_PROJECT_DIR/paths"`
  const paths = () => project.lines('paths')

  it('in a folder of its own below the system’s, removed when the session is closed', async () => {
    const { session } = await started(path, [])
    const [file = ''] = paths()
    expect(file.startsWith(tmpdir())).toBe(true)
    expect(existsSync(file)).toBe(true)
    await session.close()
    expect(existsSync(dirname(file))).toBe(false)
  })

  it('removed when all is closed, and when the session was only left', async () => {
    for (const leave of [false, true]) {
      const { hooks, session } = await started(path, [])
      if (leave) await session.leave()
      await hooks.close()
      expect(existsSync(dirname(paths().at(-1) ?? ''))).toBe(false)
    }
  })

  it('stays when a subagent is closed', async () => {
    const { session } = await started(appending('A=1'), ['A'])
    await session.child({ agentId: 'a1' }).close()
    expect(await toldBy(session)).toBe('[1]')
  })

  it('is in the folder of the session if the store has one, for processes that continue the session', async () => {
    const store = new FolderStore()
    const { session, hooks } = await started(`${path}; ${appending('A=1')}`, ['A'], { store })
    expect(dirname(paths()[0] ?? '')).toBe(store.folderOf('s1'))
    await session.leave()
    await hooks.close()
    const again = (await project.open({ store })).session({ id: 's1', cwd: project.dir })
    expect(await toldBy(again)).toBe('[1]')
    await again.close()
    expect(readdirSync(store.base)).toEqual([])
  })

  it('makes no folder for hooks that may not hand anything on', async () => {
    const store = new FolderStore()
    project.root({ PreToolUse: [group('exit 0')] })
    await (await project.open({ store })).session({ id: 's1' }).fire('PreToolUse', BASH)
    expect(readdirSync(store.base)).toEqual([])
  })

  it('is reported as missing if its folder cannot be created, and the hook still runs', async () => {
    const store = new FolderStore()
    writeFileSync(store.folderOf('s1'), 'in the way')
    const { started: outcome, session } = await started(
      `printf %s "[\${CLAUDE_ENV_FILE-unset}]" > "$CLAUDE_PROJECT_DIR/seen"`,
      ['A'],
      { store },
    )
    expect(project.read('seen')).toBe('[unset]')
    expect(outcome.hooks).toMatchObject([{ status: 'ran' }])
    expect(codes(outcome.diagnostics)).toContain('host-failed')
    expect(await toldBy(session)).toBe('[unset]')
  })

  it.runIf(isLarge)(
    'a host that never closes its sessions does not fill the disk: the oldest of a thousand goes',
    () => {
      const handedOn = new HandedOn()
      const noted: Diagnostic[] = []
      const files = Array.from(
        { length: 1001 },
        (_, i) => handedOn.fileFor(`s${i}`, { scope: 'project' }, (d) => noted.push(d)) ?? '',
      )
      try {
        expect([
          existsSync(files[0] ?? ''),
          existsSync(files[1] ?? ''),
          existsSync(files[1000] ?? ''),
        ]).toEqual([false, true, true])
      } finally {
        handedOn.close((d) => expect.unreachable(d.text))
      }
      expect([files.filter((file) => existsSync(file)), noted]).toEqual([[], []])
    },
  )
})

describe('what a hook puts in its place', NO_HANG, () => {
  const replaced = (by: string) => `rm -f ${FILE}; ${by}`

  it.each([
    ['a pipe that nobody fills', replaced(`mkfifo ${FILE}`)],
    ['a folder', replaced(`mkdir ${FILE}`)],
    [
      'a link to a file',
      replaced(`echo A=evil > "$CLAUDE_PROJECT_DIR/x"; ln -s "$CLAUDE_PROJECT_DIR/x" ${FILE}`),
    ],
    ['a link to itself', replaced(`ln -s ${FILE} ${FILE}`)],
    ['a link to a device', replaced(`ln -s /dev/zero ${FILE}`)],
  ])('%s holds nobody up, counts for nothing, and is told', async (_what, set) => {
    const { session, started: outcome } = await started(set, ['A'])
    expect(outcome.hooks).toMatchObject([{ status: 'ran' }])
    expect(codes(outcome.diagnostics)).toEqual(['host-failed'])
    const next = await session.fire('PreToolUse', BASH)
    expect([next.reason, codes(next.diagnostics)]).toEqual(['[unset]', ['host-failed']])
    const again = await another(session)
    expect(again.hooks).toMatchObject([{ status: 'ran' }])
    expect(codes(again.diagnostics)).toContain('host-failed')
  })

  it('nothing: a deleted file is created again for the next hook, and the loss is reported', async () => {
    const { session, started: outcome } = await started(`${appending('A=1')}; rm ${FILE}`, ['A'])
    expect(codes(outcome.diagnostics)).toEqual(['host-failed'])
    expect(await toldBy(session)).toBe('[unset]')
    expect(await another(session)).toMatchObject({ hooks: [{ status: 'ran' }], diagnostics: [] })
  })

  it('no folder at all: the hooks after it run, and the session can be closed', async () => {
    const { session } = await started(`rm -r "$(dirname ${FILE})"`, ['A'])
    expect(await toldBy(session)).toBe('[unset]')
    expect((await another(session)).hooks).toMatchObject([{ status: 'ran' }])
    await session.close()
  })

  it('a huge file: its first lines count, and the loss of the rest is reported', async () => {
    const set = `echo A=1 >> ${FILE}; head -c 3000000 /dev/zero | tr '\\0' '#' >> ${FILE}; echo >> ${FILE}; echo B=2 >> ${FILE}`
    const { session, started: outcome } = await started(set, ['A', 'B'])
    expect(outcome.diagnostics).toMatchObject([{ code: 'malformed-field' }])
    expect(outcome.diagnostics[0]?.text).toContain('larger than')
    expect(await toldBy(session)).toBe('[1][unset]')
  })

  it('a huge file of nonsense: its size is among the first things reported', async () => {
    const { started: outcome } = await started(`yes nonsense | head -n 100000 >> ${FILE}`, [])
    expect(outcome.diagnostics.length).toBeLessThan(5)
    expect(outcome.diagnostics.some(({ text }) => text.includes('larger than'))).toBe(true)
  })

  it('arbitrary bytes: lines that are assignments count, the others are reported', async () => {
    const set = `printf 'A=1\\n\\000\\377\\376\\nB=\\000x\\nC=3\\n' >> ${FILE}`
    const { session, started: outcome } = await started(set, ['A', 'B', 'C'])
    expect(codes(outcome.diagnostics)).toEqual(['malformed-field', 'malformed-field'])
    expect(await toldBy(session)).toBe('[1][unset][3]')
  })

  it('zeros: every later hook still starts', async () => {
    const { session } = await started(`head -c 1000000 /dev/zero >> ${FILE}`, ['A'])
    expect(await toldBy(session)).toBe('[unset]')
  })

  it('values that double: every later hook still starts, and the excess is reported', async () => {
    const set = `echo A=${'x'.repeat(100)} >> ${FILE}; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo 'A=$A$A' >> ${FILE}; done`
    const { session, started: outcome } = await started(set, ['B'])
    expect(codes(outcome.diagnostics)).toContain('malformed-field')
    expect(await toldBy(session)).toBe('[unset]')
  })

  it('values that are long in bytes: every later hook still starts', async () => {
    const wide = '€'.repeat(13_000)
    const set = `A=${wide}\nB=$A$A$A$A\n`
    project.file('wide', set)
    const { session } = await started(`cat "$CLAUDE_PROJECT_DIR/wide" >> ${FILE}`, ['C'])
    expect(await toldBy(session)).toBe('[unset]')
  })

  it.runIf(isLarge)('ten thousand variables: every later hook still starts', async () => {
    const { session } = await started(`seq -f 'V%.0f=1' 10000 >> ${FILE}`, ['V7'])
    expect(await toldBy(session)).toBe('[1]')
  })

  it('names that objects have are names like others, and change nothing', async () => {
    const set = appending('__proto__=evil\nconstructor=c\ntoString=t\nA=1\n')
    const { session, started: outcome } = await started(set, ['constructor', 'toString', 'A'])
    expect(outcome.diagnostics).toEqual([])
    expect(await toldBy(session)).toBe('[c][t][1]')
    expect(({} as Record<string, unknown>).evil).toBeUndefined()
  })

  it('a command is not run, and told', async () => {
    const set = appending('A=$(touch "$CLAUDE_PROJECT_DIR/pwned")\ntouch pwned\nB=`touch pwned`\n')
    const { session, started: outcome } = await started(set, ['A', 'B'])
    expect(codes(outcome.diagnostics)).toEqual(Array(3).fill('malformed-field'))
    expect(await toldBy(session)).toBe('[unset][unset]')
    expect(existsSync(project.path('pwned'))).toBe(false)
  })

  it('a read-only file: passing on variables fails in the hook', async () => {
    const { session } = await started(`${appending('A=1\n')}; chmod 000 ${FILE}`, ['A'])
    // The superuser reads it all the same.
    expect(await toldBy(session)).toBe(process.getuid?.() === 0 ? '[1]' : '[unset]')
    expect((await another(session)).hooks).toMatchObject([{ status: 'ran' }])
  })
})

describe('a disk that is full', NO_HANG, () => {
  it('takes nothing: the hook runs, and a gate still guards', async ({ skip }) => {
    const disk = project.path('disk')
    mkdirSync(disk)
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', disk])
    if (status !== 0) skip('only the superuser of a whole machine may mount a small disk')
    try {
      spawnSync('sh', ['-c', `cat /dev/zero > ${quoted(join(disk, 'full'))}`])
      const store = new FolderStore()
      store.folderOf = (session, make = false) => {
        if (make) mkdirSync(join(disk, session), { recursive: true })
        return join(disk, session)
      }
      const { session, started: outcome } = await started(appending(`A=${'x'.repeat(5000)}`), ['A'], {
        store,
      })
      expect([outcome.action, outcome.hooks.length]).toEqual(['continue', 1])
      expect(outcome.messages.length + outcome.diagnostics.length).toBeGreaterThan(0)
      expect((await session.fire('PreToolUse', BASH)).action).toBe('deny')
    } finally {
      spawnSync('umount', [disk])
    }
  })
})
