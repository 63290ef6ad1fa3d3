// A command as a hook: what it is given, how it is started, and what becomes of its answer.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like this

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  createHooks,
  type Data,
  type Diagnostic,
  type HookContext,
  HookError,
  type Message,
  type Outcome,
} from 'carabiner'
import { type HookEvent, HookRegistry } from 'carabiner/core'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Printed } from '../../../src/core/hooks/hook.js'
import { type CommandHandler, commandHook } from '../../../src/runners/command/command-hook.js'
import { HandedOn } from '../../../src/runners/command/handed-on.js'
import { Programs } from '../../../src/runners/command/programs.js'
import type { Place, Surroundings } from '../../../src/runners/hook-spec.js'
import { laneHook } from '../../core/made-hook.js'
import { FOREVER, Workshop } from './workshop.js'

let workshop: Workshop
let programs: Programs
const handedOn = new HandedOn()
let shown: Message[]
let notes: Diagnostic[]
let prints: Printed[]

beforeEach(() => {
  workshop = new Workshop()
  programs = new Programs()
  shown = []
  notes = []
  prints = []
  vi.stubEnv('CARABINER_TEST_MARK', workshop.mark)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await programs.idle()
  workshop.close()
})

interface Setup {
  readonly place?: Partial<Place>
  readonly surroundings?: Partial<Surroundings>
  readonly env?: 'inherit' | 'minimal'
  readonly data?: Data
  readonly session?: HookEvent['session']
  readonly signal?: AbortSignal
}

const placeOf = (more: Partial<Place> = {}): Place => ({
  projectDir: workshop.folder,
  hooksDir: workshop.folder,
  ...more,
})

function made(handler: CommandHandler, { place, surroundings, env = 'inherit' }: Setup = {}) {
  const { run: _, ...hook } = laneHook('guard')
  const outside: Surroundings = {
    display: (message) => shown.push(message),
    report: () => {},
    ...surroundings,
  }
  return commandHook(
    { hook, handler, place: placeOf(place), env, longestMs: 300_000 },
    outside,
    programs,
    handedOn,
  )
}

/** Runs the hook on a PreToolUse. */
function answer(handler: CommandHandler, setup: Setup = {}): Promise<unknown> {
  const session = 'session' in setup ? setup.session : { id: 's1', cwd: workshop.folder }
  const data = {
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    ...setup.data,
  }
  const context: HookContext = {
    signal: setup.signal ?? new AbortController().signal,
    onAbort: () => {},
    session,
    outcome: undefined,
    note: (d) => notes.push(d),
    onFailure: 'continue',
    printed: (output) => prints.push(output),
    lastWord: () => {},
  }
  return Promise.resolve(made(handler, setup).run({ name: 'PreToolUse', data, session }, context))
}

/** What the command printed. */
async function printedBy(handler: CommandHandler, setup: Setup = {}): Promise<string | undefined> {
  await answer(handler, setup)
  return prints.at(-1)?.stdout
}

async function failure(handler: CommandHandler, setup: Setup = {}): Promise<HookError> {
  const error = await answer(handler, setup).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(HookError)
  return error as HookError
}

describe('in a session', () => {
  async function fire(handler: CommandHandler, more = {}): Promise<Outcome> {
    const registry = new HookRegistry({ scope: 'global' })
    registry.add({ ...made(handler), ...more })
    return (await createHooks({ globals: registry }))
      .session({ id: 's1', cwd: workshop.folder })
      .fire('PreToolUse', {
        tool_name: 'Bash',
        tool_input: { command: 'rm -rf /' },
      })
  }

  test('exit 2 denies, with what it wrote to stderr', async () => {
    const { action, reason } = await fire({ command: "grep -q 'rm -rf' && { echo no >&2; exit 2; }" })
    expect([action, reason]).toEqual(['deny', 'no'])
  })

  test('exit 2 of a shell that cannot read the script denies too, but the hook failed', async () => {
    workshop.file('hook.sh', 'if true; then\nfi\n')
    for (const command of ['sh ./hook.sh', 'bash ./hook.sh', 'sh ./hook.sh; echo >&2; echo no >&2; exit 2']) {
      const { action, reason, hooks } = await fire({ command }, { onFailure: 'continue' })
      const isOwn = command.includes('exit 2')
      expect([command, action]).toEqual([command, 'deny'])
      expect(hooks).toMatchObject([
        isOwn ? { status: 'ran' } : { status: 'failed', why: 'HOOK_BROKEN', countsAs: 'deny' },
      ])
      expect(reason).toMatch(isOwn ? /no$/ : /is broken, so it blocks: its script cannot run: .*hook\.sh: /)
    }
  })

  test.each([
    ['Stop', 'deny', 'HOOK_BROKEN'],
    ['PostToolUse', 'continue', 'HOOK_BROKEN'],
    ['SessionStart', 'continue', 'HOOK_EXIT'],
  ])('on %s too, as exit code 2 counts there', async (event, action, why) => {
    const registry = new HookRegistry({ scope: 'global' })
    registry.add({
      ...made({ command: 'if true; then' }),
      events: 'all',
      matcher: null,
      onFailure: 'continue',
    })
    const session = (await createHooks({ globals: registry })).session({ id: 's1', cwd: workshop.folder })
    const outcome = await session.fire(event, {
      source: 'startup',
      tool_name: 'Bash',
      tool_input: {},
      tool_response: '',
    })
    expect(outcome).toMatchObject({ action, hooks: [{ status: 'failed', why }] })
  })

  test('JSON is its answer, and what it printed is in the trace', async () => {
    const json = JSON.stringify({ decision: 'block', reason: 'not here' })
    const { action, reason, hooks } = await fire({ command: `echo '${json}'; echo noise >&2` })
    expect([action, reason]).toEqual(['deny', 'not here'])
    expect(hooks).toMatchObject([{ status: 'ran', stdout: `${json}\n`, stderr: 'noise\n' }])
  })

  test('a hook that hangs fails at its deadline, and is gone afterwards', async () => {
    const { hooks } = await fire({ command: `trap '' TERM; sleep ${FOREVER}` }, { timeoutMs: 200 })
    expect(hooks).toMatchObject([{ status: 'failed' }])
    await programs.idle()
    expect(workshop.running()).toEqual([])
  })

  test('with onFailure "block" a command that cannot start closes the gate', async () => {
    const { action, reason } = await fire({ command: '/no/such/guard', args: [] }, { onFailure: 'block' })
    expect(action).toBe('deny')
    expect(reason).toContain('there is no such file')
  })

  test('a process left behind is a diagnostic', async () => {
    const script = `require('child_process').spawn('sleep', ['${FOREVER}'], { detached: true, stdio: 'inherit' }).unref()`
    const { action, diagnostics } = await fire({ command: process.execPath, args: ['-e', script] })
    expect(action).toBe('continue')
    expect(diagnostics.map(({ code }) => code)).toContain('left-running')
  })
})

describe('what it is given', () => {
  test('the payload, as one line of JSON', async () => {
    await answer({ command: 'cat >&2' })
    const line = prints[0]?.stderr
    expect(line?.endsWith('\n')).toBe(true)
    expect(JSON.parse(line ?? '')).toMatchObject({ tool_name: 'Bash', tool_input: { command: 'ls' } })
  })

  test('project, hooks folder and session', async () => {
    const command =
      'echo "$CLAUDE_PROJECT_DIR|$AMPLIFIER_HOOKS_DIR|$AMPLIFIER_SESSION_ID|$CLAUDE_CODE_SESSION_ID"'
    expect(await printedBy({ command }, { place: { hooksDir: '/hooks' } })).toBe(
      `${workshop.folder}|/hooks|s1|s1\n`,
    )
  })

  test('the session of the payload, if it is fired outside one', async () => {
    const setup = { session: undefined, data: { session_id: 's2' } }
    expect(await printedBy({ command: 'echo "$AMPLIFIER_SESSION_ID"' }, setup)).toBe('s2\n')
  })

  test('the environment of now, or the least of it', async () => {
    vi.stubEnv('CARABINER_SECRET', 'secret')
    const handler = { command: 'echo "$CARABINER_SECRET|$CARABINER_TEST_MARK"' }
    const minimal = { env: 'minimal' as const }
    expect(await printedBy(handler)).toBe(`secret|${workshop.mark}\n`)
    expect(await printedBy(handler, minimal)).toBe('|\n')
    expect(await printedBy({ ...handler, envPassthrough: ['CARABINER_SECRET'] }, minimal)).toBe('secret|\n')
  })
})

describe('where it runs', () => {
  const pwd = { command: 'pwd' }

  test('in the folder of the event, else of the session, else of the project', async () => {
    const [event, session] = [workshop.path('event'), workshop.path('session')]
    for (const folder of [event, session]) mkdirSync(folder)
    const setup = { data: { cwd: event }, session: { id: 's1', cwd: session } }
    expect(await printedBy(pwd, setup)).toBe(`${event}\n`)
    rmSync(event, { recursive: true })
    expect(await printedBy(pwd, setup)).toBe(`${session}\n`)
    rmSync(session, { recursive: true })
    expect(await printedBy(pwd, setup)).toBe(`${workshop.folder}\n`)
  })

  test('a folder that does not exist, is a file, or has a NUL is skipped', async () => {
    const file = workshop.file('file', '')
    for (const cwd of [5, null, file, `${file}/below`, 'a\0b', '']) {
      expect(await printedBy(pwd, { data: { cwd }, session: { id: 's1' } })).toBe(`${workshop.folder}\n`)
    }
  })

  test('nowhere, if even the project is gone: it says so', async () => {
    const projectDir = workshop.path('gone')
    const error = await failure(pwd, { place: { projectDir }, session: { id: 's1' } })
    expect([error.code, error.message]).toEqual([
      'HOOK_NOT_STARTED',
      `There is no folder to run it in: even the project folder "${projectDir}" is gone`,
    ])
  })
})

describe('how it is started', () => {
  test('by /bin/sh, or by the shell it names', async () => {
    const which = { command: 'echo "${BASH_VERSION:+bash}"; [ -n "$BASH" ] && [[ 1 ]] && echo yes; true' }
    expect(await printedBy({ ...which, shell: 'bash' })).toBe('bash\nyes\n')
    expect(await printedBy({ command: 'ps -o args= -p $$ | cut -c1-10' })).toBe('/bin/sh -c\n')
    expect(await printedBy({ command: 'ps -o args= -p $$ | cut -c1-10', shell: 'sh' })).toBe('/bin/sh -c\n')
  })

  /** Programs of a project do not count. */
  const beside: Setup = {
    get place() {
      return { projectDir: workshop.path('project') }
    },
  }

  test('by pwsh, if there is one', async () => {
    mkdirSync(workshop.path('bin'))
    workshop.file('bin/pwsh', '#!/bin/sh\nprintf "%s|" "$@"\n', 0o755)
    vi.stubEnv('PATH', `${workshop.path('bin')}:${process.env.PATH}`)
    const handler = { command: 'Write "${CLAUDE_PROJECT_DIR}"', shell: 'powershell' as const }
    expect(await printedBy(handler, beside)).toBe('-Command|Write "${env:CLAUDE_PROJECT_DIR}"|')
  })

  test('not without the shell it names', async () => {
    vi.stubEnv('PATH', workshop.path('bin'))
    const error = await failure({ command: 'ls', shell: 'powershell' }, beside)
    expect([error.code, error.message]).toEqual([
      'HOOK_NOT_STARTED',
      'Could not start "pwsh": there is no such program on the PATH',
    ])
    expect(await failure({ command: 'ls', shell: 'bash' }, beside)).toMatchObject({
      code: 'HOOK_NOT_STARTED',
    })
  })

  test('with args: no shell reads them, each stays one, and `shell` does not count', async () => {
    const args = ['%s|', 'a b', '$HOME', '`id`', "'", '"', '', '*', 'x\ny', '${HOME}']
    expect(await printedBy({ command: 'printf', args, shell: 'powershell' })).toBe(
      `${args.slice(1).join('|')}|`,
    )
  })

  test.each([
    'plain',
    'with space',
    'quo\'te"s',
    '$(touch pwned)',
    '`touch pwned`',
    'new\nline',
    '$HOME;&|*',
    '-n',
  ])('from a plugin folder called %j, in both forms', async (name) => {
    const root = join(workshop.folder, name)
    mkdirSync(root)
    writeFileSync(join(root, 'hook.sh'), '#!/bin/sh\nprintf "%s|" "$@"\n', { mode: 0o755 })
    const setup = { place: { plugin: { name: 'p', root, dataDir: join(root, 'data') } } }
    const shell = { command: '"${CLAUDE_PLUGIN_ROOT}"/hook.sh "$CLAUDE_PLUGIN_DATA"' }
    const exec = { command: '${CLAUDE_PLUGIN_ROOT}/hook.sh', args: ['${CLAUDE_PLUGIN_DATA}'] }
    expect(await printedBy(shell, setup)).toBe(`${root}/data|`)
    expect(await printedBy(exec, setup)).toBe(`${root}/data|`)
    expect(existsSync(join(workshop.folder, 'pwned'))).toBe(false)
  })

  test.each<CommandHandler>([
    { command: 'echo x >"$PWD/started"; ls ${CLAUDE_PLUGIN_ROOT}/x' },
    { command: 'ls', args: ['${CLAUDE_PLUGIN_ROOT}/x'] },
  ])('not with a placeholder it cannot have: %j', async (handler) => {
    const error = await failure(handler)
    expect([error.code, error.message]).toEqual([
      'HOOK_NOT_STARTED',
      'Could not start: it uses ${CLAUDE_PLUGIN_ROOT}, which only hooks of a plugin have',
    ])
    expect(existsSync(workshop.path('started'))).toBe(false)
  })

  test('not when it is aborted already', async () => {
    const reason = new Error('overdue')
    const signal = AbortSignal.abort(reason)
    await expect(answer({ command: 'echo x >started' }, { signal })).rejects.toBe(reason)
    expect(existsSync(workshop.path('started'))).toBe(false)
  })
})

describe('what is reported', () => {
  test('the status message, before the start, fit for a terminal', async () => {
    let startedBefore: boolean | undefined
    const display = (message: Message) => {
      startedBefore = existsSync(workshop.path('started'))
      shown.push(message)
    }
    await answer(
      { command: 'echo x >started', statusMessage: 'Check\u001b[2Jing' },
      { surroundings: { display } },
    )
    expect([shown, startedBefore]).toEqual([[{ text: 'Checking', level: 'info', source: 'guard' }], false])
  })

  test('nothing, where there is nothing to tell', async () => {
    await answer({ command: 'true' })
    await answer({ command: 'true', statusMessage: 'x' }, { surroundings: { display: undefined } })
    expect([shown, notes, prints]).toEqual([[], [], []])
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ])('that a display %s; the hook runs all the same', async (_, display) => {
    const denied = await answer({ command: 'exit 2', statusMessage: 'x' }, { surroundings: { display } })
    expect(denied).toMatchObject({ action: 'deny' })
    expect(notes).toEqual([{ code: 'host-failed', text: 'display failed: broken' }])
  })

  test('what was printed, to a bound, cut between two characters', async () => {
    await answer({
      command: `i=0; while [ $i -lt 500 ]; do printf '😀😀😀😀'; i=$((i+1)); done; echo short >&2`,
    })
    const { stdout = '', stderr } = prints[0] ?? {}
    expect(stderr).toBe('short\n')
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(4096)
    expect(stdout).toMatch(/^😀{1000,}…$/u)
  })

  test('what was printed by a hook that failed', async () => {
    const error = await failure({ command: 'echo out; echo err >&2; exit 3' })
    expect([error.code, prints]).toEqual(['HOOK_EXIT', [{ stdout: 'out\n', stderr: 'err\n' }]])
  })

  test('that the output was too long', async () => {
    expect(await failure({ command: 'head -c 2000000 /dev/zero' })).toMatchObject({ code: 'HOOK_OUTPUT' })
  })
})

test('the file it names is found from the folder it runs in', async () => {
  const file = workshop.file('hook.sh', '#!/bin/sh\necho ran\n', 0o755)
  expect(dirname(file)).toBe(workshop.folder)
  expect(await printedBy({ command: './hook.sh', args: [] })).toBe('ran\n')
})
