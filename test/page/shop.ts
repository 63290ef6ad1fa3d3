// A project with hooks of every temper, and records that the engine made of real events.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Project } from '../cli/program.js'

type Hooks = Readonly<Record<string, readonly { readonly matcher?: string; readonly command: string }[]>>

const PLUGINS: Readonly<Record<string, Hooks>> = {
  'bash-guard': {
    PreToolUse: [
      {
        matcher: 'Bash',
        command: `! grep -q 'rm -rf' || { echo 'This command deletes a home folder and was not run.' >&2; exit 2; }`,
      },
    ],
  },
  'deploy-gate': {
    PreToolUse: [
      {
        matcher: 'Bash',
        command: `grep -q 'deploy' && echo '{"action":"ask_user","approval_prompt":"Deploy to production?","approval_options":["Allow once","Allow always","Deny"]}' || true`,
      },
    ],
  },
  formatter: {
    PreToolUse: [
      {
        matcher: 'Write',
        command: `printf '%s' '{"action":"modify","data":{"tool_input":{"file_path":"src/checkout.ts","content":"const total = 1;\\n"}}}'`,
      },
    ],
  },
  briefing: {
    UserPromptSubmit: [
      { command: `echo '{"action":"inject_context","context_injection":"Prices are in cents."}'` },
    ],
  },
  'broken-check': {
    PostToolUse: [{ matcher: 'Bash', command: 'echo cannot find its settings >&2; exit 1' }],
  },
}

/** Puts these hooks into the home of the project's user, who trusts them. */
export function shopHooks(project: Project): void {
  for (const [name, events] of Object.entries(PLUGINS)) {
    const hooks = Object.fromEntries(
      Object.entries(events).map(([event, entries]) => [
        event,
        entries.map(({ matcher, command }) => ({
          ...(matcher !== undefined && { matcher }),
          hooks: [{ type: 'command', command }],
        })),
      ]),
    )
    const file = join(project.home, '.amplifier/hooks', name, 'hooks.json')
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, JSON.stringify({ hooks }))
  }
}

const call = (command: string) => ({ tool_name: 'Bash', tool_input: { command } })

/** What an agent did in this project. The strings are only ever read. */
const DAY: readonly (readonly [event: string, payload: object])[] = [
  ['UserPromptSubmit', { prompt: 'Round totals half even' }],
  ['PreToolUse', { tool_name: 'Read', tool_input: { file_path: 'src/checkout.ts' } }],
  ['PreToolUse', call('npm test -- checkout')],
  ['PostToolUse', { ...call('npm test -- checkout'), tool_response: { stdout: 'ok' } }],
  [
    'PreToolUse',
    { tool_name: 'Write', tool_input: { file_path: 'src/checkout.ts', content: 'const total = 1\n' } },
  ],
  ['PreToolUse', call('rm -rf ~/*')],
  ['PreToolUse', call("git commit -am 'Round totals half even'")],
  ['PreToolUse', call('deploy production --service checkout')],
  ['Stop', {}],
]

/** `before`: called before each event, with its number. */
export async function shopDay(project: Project, before?: (i: number) => void): Promise<void> {
  for (const [i, [event, payload]] of DAY.entries()) {
    before?.(i)
    await project.call(['fire', event], { input: { session_id: 's-91c4', ...payload } })
  }
}

/** Fires one more event, in the process of the test. */
export async function fireBash(project: Project, command: string, session = 's-91c4'): Promise<void> {
  await project.call(['fire', 'PreToolUse'], { input: { session_id: session, ...call(command) } })
}
