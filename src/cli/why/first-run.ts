// The first minute at a terminal: offers the things to begin with, and does what is chosen.

import { quoted } from '../../core/base/text.js'
import { type Context, readCommandLine } from '../command.js'
import { answerTo, isLeaving } from '../confirm.js'
import { Output, plainData } from '../output.js'
import { columns } from '../print/lines.js'
import { GUARDED_CALL, TRY_GUARD } from '../print/next-command.js'
import { painter } from '../print/terminal.js'
import { EXIT } from '../refusal.js'
import { FIRST } from './first-steps.js'

interface Step {
  readonly does: string
  readonly line: string
  run(output: Output, context: Context): Promise<number>
}

const STEPS: readonly Step[] = [
  {
    does: 'Guard Claude Code',
    line: 'carabiner setup claude-code',
    run: (output, context) => called(['setup', 'claude-code'], output, context),
  },
  {
    does: 'Write a first hook',
    line: `carabiner new ${FIRST.join(' ')}`,
    run: (output, context) => called(['new', ...FIRST], output, context),
  },
  {
    does: 'See the guard block a call',
    line: TRY_GUARD,
    async run(output, context) {
      const reason = await denialOf(GUARDED_CALL, context)
      const said = reason === undefined ? ['The call was not denied.'] : [`denied: ${reason}`, DENIED]
      await output.print([`$ ${TRY_GUARD}`, ...said, 'next carabiner setup claude-code'])
      return EXIT.ok
    },
  },
]

const DENIED = 'The call was denied, and nothing ran.'

/** The guard's reason. Its answer is for an agent. Undefined if it does not deny. */
async function denialOf(call: string, context: Context): Promise<string | undefined> {
  let answer = ''
  const quiet = new Output(false, (fd, text) => {
    if (fd === 1) answer += text
  })
  await called(['hook', 'pre-tool-use'], quiet, { ...context, stdin: call })
  const { hookSpecificOutput: said } = JSON.parse(answer || '{}') as {
    hookSpecificOutput?: { permissionDecision: string; permissionDecisionReason: string }
  }
  return said?.permissionDecision === 'deny' ? plainData(said.permissionDecisionReason) : undefined
}

/** `found`: lines about what is wrong already, shown below the list. */
export async function firstRun(
  title: string,
  found: readonly string[],
  output: Output,
  context: Context,
): Promise<number> {
  const paint = painter(1)
  const rows = columns(STEPS.map(({ does, line }, i) => [`  ${i + 1}  ${does}`, line]))
  await output.print([
    title,
    '  Nothing is set up here yet. Where do you want to begin?',
    ...rows.map(([does = '', line = '']) => `${does}  ${paint.dim(line)}`),
    ...found,
  ])
  for (;;) {
    const typed = await answerTo('Type 1, 2 or 3. Press Enter or q to leave: ', output)
    if (typed === undefined || isLeaving(typed) || typed === '') return EXIT.ok
    const step = STEPS[Number(typed) - 1]
    if (step) return step.run(output, context)
    await output.print([`${quoted(typed)} is not on the list.`])
  }
}

async function called(
  [name = '', ...args]: readonly string[],
  output: Output,
  context: Context,
): Promise<number> {
  const { command } = (await context.commands[name]?.()) ?? {}
  if (!command) throw new Error(`there is no command ${name}`)
  const given = readCommandLine(command, args)
  command.mayRun?.(given)
  return command.run(given, output, context)
}
