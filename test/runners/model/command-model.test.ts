// Models that are commands: real programs that read the question and print a reply.

import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { HookError } from 'carabiner'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FOREVER, Workshop } from '../command/workshop.js'
import { Asking } from './asking.js'

let workshop: Workshop
let asking: Asking

beforeEach(() => {
  workshop = new Workshop()
  vi.stubEnv('CARABINER_TEST_MARK', workshop.mark)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await asking.programs.idle()
  workshop.close()
})

function command(...words: readonly string[]): Asking {
  asking = Asking.settings({ command: words })
  return asking
}
const shell = (script: string) => command('/bin/sh', '-c', script, 'model', workshop.folder)

async function failure(one: Asking): Promise<HookError> {
  const error = await one.run(one.prompt()).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(HookError)
  return error as HookError
}

describe('a command', () => {
  it('reads rules and question on its standard input', async () => {
    const one = shell('cat > "$1/asked"; echo \'{"ok": true}\'')
    expect(await one.run(one.prompt({ prompt: 'Safe? $ARGUMENTS' }))).toEqual({ action: 'continue' })
    const asked = await workshop.made('asked')
    expect(asked).toMatch(
      /^A hook of an AI agent.*Answer with one JSON object.*Safe\? \n<data-\w{32}>\n\{"hook_event/s,
    )
  })

  it('says no', async () => {
    const one = shell('echo \'{"ok": false, "reason": "bad"}\'')
    expect(await one.run(one.prompt({ continueOnBlock: true }))).toEqual({ action: 'deny', reason: 'bad' })
  })

  it('gets nothing of the payload as an argument or as syntax', async () => {
    const one = shell('echo "$#" > "$1/count"; cat >/dev/null; echo yes')
    const data = { tool_name: 'Bash', tool_input: { command: '"; touch "$1/pwned"; $(touch "$1/pwned") \'' } }
    expect(await one.run(one.prompt(), { data })).toEqual({ action: 'continue' })
    expect(await workshop.made('count')).toBe('1\n')
    expect(existsSync(workshop.path('pwned'))).toBe(false)
  })

  it('runs in the home folder, as no part of the session that asks', async () => {
    vi.stubEnv('CLAUDECODE', '1')
    vi.stubEnv('CLAUDE_CODE_SESSION_ID', 's')
    vi.stubEnv('CLAUDE_CODE_OAUTH_TOKEN', 'needed')
    const one = shell('pwd > "$1/cwd"; env > "$1/env"; echo yes')
    await one.run(one.prompt())
    expect(await workshop.made('cwd')).toBe(`${homedir()}\n`)
    const env = await workshop.made('env')
    expect(env).not.toMatch(/^(?:CLAUDECODE|CLAUDE_CODE_SESSION_ID)=/m)
    expect(env).toMatch(/^CLAUDE_CODE_OAUTH_TOKEN=needed$/m)
  })

  it('is not asked by its own hooks in an endless loop', async () => {
    vi.stubEnv('CARABINER_WITHIN_MODEL', '1')
    const one = shell('touch "$1/asked"; echo yes')
    expect(await failure(one)).toMatchObject({
      code: 'MODEL_FAILED',
      message: expect.stringContaining('this hook runs inside'),
    })
  })

  it('marks what runs inside it', async () => {
    const one = shell('echo "$CARABINER_WITHIN_MODEL" > "$1/mark"; echo yes')
    await one.run(one.prompt())
    expect(await workshop.made('mark')).toBe('1\n')
  })

  it('ignores another model name, and that is reported', async () => {
    const one = shell('echo yes')
    await one.run(one.prompt({ model: 'haiku' }))
    expect(one.codes).toEqual(['model-ignored'])
  })
})

describe('a bad command', () => {
  it.each([
    ['prose', 'echo I am not sure'],
    ['half JSON', 'printf \'{"ok": tr\''],
    ['nothing', 'true'],
    ['two answers', 'echo yes; echo no'],
  ])('that prints %s has given no verdict', async (_, script) => {
    expect(await failure(shell(script))).toMatchObject({ code: 'ANSWER_INVALID' })
  })

  it('that prints 10 MB gives no verdict, and uses no more memory than a short one', async () => {
    const one = shell('head -c 10485760 /dev/zero | tr "\\0" x')
    expect(await failure(one)).toMatchObject({ code: 'HOOK_OUTPUT' })
  })

  it('that prints a yes and 10 MB has given no verdict; with a no it has', async () => {
    const flood = 'head -c 10485760 /dev/zero | tr "\\0" " "'
    expect(await failure(shell(`echo '{"ok": true}'; ${flood}`))).toMatchObject({ code: 'HOOK_OUTPUT' })
    const one = shell(`echo '{"ok": false, "reason": "bad"}'; ${flood}`)
    expect(await one.run(one.prompt())).toMatchObject({ action: 'abort_turn', reason: 'bad' })
    expect(one.codes).toEqual(['HOOK_OUTPUT'])
  })

  it('that fails has failed, whatever it printed', async () => {
    const error = await failure(shell('echo \'{"ok": true}\'; echo not logged in >&2; exit 3'))
    expect(error).toMatchObject({
      code: 'MODEL_FAILED',
      message: expect.stringContaining('exited with 3: not logged in'),
    })
    expect(asking.printed).toEqual([{ stdout: '{"ok": true}\n', stderr: 'not logged in\n' }])
  })

  it('that fails after a no has said no', async () => {
    const one = shell('echo \'{"ok": false, "reason": "bad"}\'; exit 3')
    expect(await one.run(one.prompt())).toMatchObject({ action: 'abort_turn', reason: 'bad' })
    expect(one.codes).toEqual(['MODEL_FAILED'])
  })

  it('that is killed has failed', async () => {
    expect(await failure(shell('kill -9 $$'))).toMatchObject({
      code: 'MODEL_FAILED',
      message: expect.stringContaining('SIGKILL'),
    })
  })

  it('that is not there cannot be started', async () => {
    expect(await failure(command('no-such-model-here'))).toMatchObject({
      code: 'HOOK_NOT_STARTED',
      message: expect.stringContaining('no-such-model-here'),
    })
  })

  it('that is not executable is reported as the model in the settings', async () => {
    const script = workshop.file('model.sh', '#!/bin/sh\necho yes\n')
    expect(await failure(command(script))).toMatchObject({
      code: 'HOOK_NOT_STARTED',
      message: `the model's command: Could not start ${JSON.stringify(script)}: it is not executable (chmod +x)`,
      hint: expect.stringMatching(
        /^The command is set as "model" under "hooks" in ~\/\.amplifier\/settings\.json/,
      ),
    })
  })

  it('that hangs is ended at the deadline, with all it started', async () => {
    const one = shell(`sleep ${FOREVER} & echo $! > "$1/started"; wait`)
    const controller = new AbortController()
    const answer = one.run(one.prompt(), {}, controller.signal)
    await workshop.made('started')
    controller.abort(new Error('overdue'))
    await expect(answer).rejects.toThrow('overdue')
    await workshop.noneRunning()
  })

  it('that does not read its input still works', async () => {
    const one = shell('exec 0<&-; echo yes')
    const data = { tool_name: 'Bash', tool_input: { command: 'x'.repeat(500_000) } }
    expect(await one.run(one.prompt(), { data })).toEqual({ action: 'continue' })
    expect(one.codes).toEqual([])
  })
})
