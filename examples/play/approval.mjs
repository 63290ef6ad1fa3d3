// A scene of npm start: a hook asks, a person answers at another terminal, and all of it is on record.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onStage } from './stage.mjs'

/** @import { Paint } from './print.mjs' */

const ASK = {
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'ask',
    permissionDecisionReason: 'Deploy to production?',
  },
}
const HOOKS = {
  hooks: {
    PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: `echo '${JSON.stringify(ASK)}'` }] }],
  },
}
const CALL = {
  hook_event_name: 'PreToolUse',
  session_id: 'played',
  tool_name: 'Bash',
  tool_input: { command: 'deploy production' },
}

/**
 * With the real command line, as Kimi Code would call it, which has no dialog for hooks.
 *
 * @param {Paint} paint
 * @param {(lines: readonly string[]) => void} print
 */
export async function playApproval(paint, print) {
  await onStage(async ({ project, carabiner }) => {
    const folder = join(project, '.amplifier', 'hooks')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'hooks.json'), JSON.stringify(HOOKS))
    await carabiner(['trust', '--yes'])
    const fire = async () => {
      const { stderr, code } = await carabiner(['fire', '--as', 'kimi'], CALL)
      const came = code === 0 ? paint.green('went on') : paint.red(`denied: ${stderr.trimEnd()}`)
      print(['    $ carabiner fire --as kimi', `      ${came}`])
    }
    print([
      '',
      paint.bold('Approval: a hook asks, and the person sits at another terminal'),
      paint.dim('    deploy production'),
    ])
    await fire()
    const { stdout } = await carabiner(['approvals', '--json'])
    const { id } = JSON.parse(stdout).open[0]
    const allowed = await carabiner(['approvals', 'allow', id])
    print([`    $ carabiner approvals allow ${id}`, `      ${allowed.stdout.trimEnd()}`])
    await fire()
    const verified = await carabiner(['audit', 'verify'])
    print(['    $ carabiner audit verify', `      ${verified.stdout.split(' in ')[0]}`])
  })
}
