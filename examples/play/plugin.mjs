// A scene of npm start: a plugin of a repository is installed, blocked, trusted, tested and switched off; hooks of Claude Code come over.

import { execFile } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { missingPrograms } from './programs.mjs'
import { onStage } from './stage.mjs'

/** @import { Paint } from './print.mjs' */

const PLUGIN = fileURLToPath(new URL('../bash-validator', import.meta.url))
const CALL = { tool_name: 'Bash', tool_input: { command: 'rm -rf /' } }
/** Lines of an outcome that say what came of it. */
const CAME = /skipped:|^ *denied:|^ *went on/
const SETTINGS = {
  hooks: { Stop: [{ hooks: [{ type: 'command', command: 'echo "run the tests" >&2; exit 2' }] }] },
}

/**
 * With the real command line and a real repository.
 *
 * @param {Paint} paint
 * @param {(lines: readonly string[]) => void} print
 */
export async function playPlugin(paint, print) {
  print(['', paint.bold('Plugins: from a repository into a project')])
  if ((await missingPrograms(['git'])).has('git')) {
    print(['    = skipped: git is not installed'])
    return
  }
  await onStage(async ({ project, carabiner }) => {
    const repository = join(project, 'guard')
    await cp(PLUGIN, repository, { recursive: true })
    await commit(repository)
    /**
     * Prints the lines that fit, of what a command says.
     *
     * @param {string} line
     * @param {RegExp} telling
     * @param {object} [input]
     */
    const type = async (line, telling, input) => {
      const { stdout } = await carabiner(line.split(' '), input)
      const said = stdout.split('\n').filter((one) => telling.test(one))
      print([`    $ carabiner ${line}`, ...said.map((one) => `      ${one.trim()}`)])
    }
    await type('install ./guard#v1 --here --no-trust --yes', /^installed/)
    await type('fire PreToolUse', CAME, CALL)
    await type('trust guard --yes', /^trusted/)
    await type('fire PreToolUse', CAME, CALL)
    await type('test', /cases:/)
    await type('disable guard --for 1h', /^next/)
    await type('fire PreToolUse', CAME, CALL)
    await mkdir(join(project, '.claude'))
    await writeFile(join(project, '.claude', 'settings.json'), JSON.stringify(SETTINGS))
    await type('migrate --write', /^migrated/)
    await carabiner(['trust', '--yes'])
    await type('fire Stop', /refused to stop|went on/, {})
  })
}

/** @param {string} folder */
async function commit(folder) {
  const git = (/** @type {readonly string[]} */ args) =>
    promisify(execFile)('git', [
      '-C',
      folder,
      '-c',
      'user.name=play',
      '-c',
      'user.email=play@example.com',
      ...args,
    ])
  await git(['init', '-q'])
  await git(['add', '-A'])
  await git(['commit', '-qm', 'A guard'])
  await git(['tag', 'v1'])
}
