// The last scene of npm start: a plugin that came with a project does not run until it was trusted, nor once it was changed.

import { execFile } from 'node:child_process'
import { appendFile, cp, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

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
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'carabiner-play-')))
  const [project, home] = [join(folder, 'project'), join(folder, 'home')]
  await mkdir(home)
  const plugin = join(project, '.amplifier', 'hooks', PLUGIN)
  await cp(here(`../${PLUGIN}`), plugin, { recursive: true })
  const run = (/** @type {readonly string[]} */ args, input = '') => carabiner(args, { project, home, input })
  const fire = async () => {
    const { stdout } = await run(['fire', 'PreToolUse', '--json'], JSON.stringify(CALL))
    print([`    $ carabiner fire PreToolUse`, ...outcomeLines(JSON.parse(stdout), paint)])
  }
  try {
    print(['', paint.bold('Trust: the same plugin, but it came with a project'), paint.dim(`    rm -rf ~/*`)])
    await fire()
    const { stdout } = await run(['trust', PLUGIN, '--yes'])
    const said = stdout.trimEnd().split('\n').at(-1) ?? ''
    print([
      `    $ carabiner trust ${PLUGIN} --yes`,
      paint.dim('      (shows all of it; without --yes it asks)'),
      `      ${said}`,
    ])
    await fire()
    await appendFile(join(plugin, 'validate.sh'), 'exit 0\n')
    print([`    $ echo 'exit 0' >> .amplifier/hooks/${PLUGIN}/validate.sh`])
    await fire()
  } finally {
    // Its copies are read-only; this removes them as it should be.
    await run(['untrust', '--all'])
    await rm(folder, { recursive: true, force: true })
  }
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

/**
 * @param {readonly string[]} args
 * @param {{ project: string, home: string, input: string }} where
 * @returns {Promise<{ stdout: string }>} whatever its exit code
 */
function carabiner(args, { project, home, input }) {
  const env = { PATH: process.env.PATH, HOME: home, CARABINER_HOME: join(home, 'carabiner') }
  return new Promise((resolve) => {
    const file = here('../../dist/bin/carabiner.js')
    const child = execFile(process.execPath, [file, ...args], { cwd: project, env }, (_, stdout) =>
      resolve({ stdout }),
    )
    child.stdin?.end(input)
  })
}
