// A scene of npm start: a plugin that came with a project runs once it is trusted; when it changes, the trusted version guards on.

import { appendFile, cp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onStage } from './stage.mjs'

/** @import { Outcome } from 'carabiner' */
/** @import { Paint } from './print.mjs' */

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))
const PLUGIN = 'bash-validator'
const CALL = { tool_name: 'Bash', tool_input: { command: 'rm -rf ~/*' } }

/**
 * With the real command line, in a project and a home of its own.
 *
 * @param {Paint} paint
 * @param {(lines: readonly string[]) => void} print
 */
export async function playTrust(paint, print) {
  await onStage(async ({ project, carabiner }) => {
    const plugin = join(project, '.amplifier', 'hooks', PLUGIN)
    await cp(here(`../${PLUGIN}`), plugin, { recursive: true })
    const fire = async () => {
      const { stdout } = await carabiner(['fire', 'PreToolUse', '--json'], CALL)
      print([`    $ carabiner fire PreToolUse`, ...outcomeLines(JSON.parse(stdout), paint)])
    }
    print(['', paint.bold('Trust: the same plugin, but it came with a project'), paint.dim(`    rm -rf ~/*`)])
    await fire()
    const { stdout } = await carabiner(['trust', PLUGIN, '--yes'])
    const said = stdout.split('\n').find((line) => line.startsWith('trusted')) ?? ''
    print([
      `    $ carabiner trust ${PLUGIN} --yes`,
      paint.dim('      (shows all of it; without --yes it asks)'),
      `      ${said}`,
    ])
    await fire()
    await appendFile(join(plugin, 'validate.sh'), 'exit 0\n')
    print([
      paint.dim('    somebody weakens the script; the copy that you trusted still runs'),
      `    $ echo 'exit 0' >> .amplifier/hooks/${PLUGIN}/validate.sh`,
    ])
    await fire()
  })
}

/**
 * @param {Outcome} outcome
 * @param {Paint} paint
 */
function outcomeLines({ action, reason, hooks }, paint) {
  const [hook] = hooks
  const skipped = hook?.status === 'skipped' ? paint.yellow(` skipped: ${hook.why}`) : ` ${hook?.status}`
  const came =
    action === 'deny' ? paint.red(`denied: ${reason}`) : paint.yellow('went on, unguarded, and says so')
  return [`      ${hook?.name}${skipped}`, `      ${came}`]
}
