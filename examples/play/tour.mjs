// npm start: an agent makes six calls. Each shows one thing that hooks do, in three lines.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { askUser, createHooks, fileAudit, modify, respond, verifyAudit } from 'carabiner'
import { onStage } from './stage.mjs'

/** @import { ToolCallResult, Hooks } from 'carabiner' */
/** @import { Paint } from './print.mjs' */

/** A plugin that comes with the project. */
const PLUGIN = {
  'hooks.json': JSON.stringify({
    hooks: {
      PreToolUse: [
        { matcher: 'Bash', hooks: [{ type: 'command', command: 'sh "$CLAUDE_PLUGIN_ROOT"/guard.sh' }] },
      ],
    },
  }),
  'guard.sh': `if grep -q 'push --force'; then echo 'use --force-with-lease' >&2; exit 2; fi\n`,
}

const PUSH = { name: 'Bash', input: { command: 'git push --force' } }

/**
 * @typedef {object} Scene
 * @property {string} shows
 * @property {string} by who decides, and how it was written
 * @property {{ name: string, input: Record<string, string> }} call
 * @property {(project: string) => void} [before]
 */

/** @type {readonly Scene[]} */
const SCENES = [
  { shows: 'denied', by: 'guard.sh, a shell script', call: PUSH },
  {
    shows: 'rewritten',
    by: 'noScripts, a function',
    call: { name: 'Bash', input: { command: 'npm install left-pad' } },
  },
  {
    shows: 'asked',
    by: 'release, a function that asks you; here you say no',
    call: { name: 'Bash', input: { command: 'npm publish' } },
  },
  {
    shows: 'answered',
    by: 'cache, a function that answers in place of the tool',
    call: { name: 'WebFetch', input: { url: 'https://example.com/prices' } },
  },
  {
    shows: 'crashed, so denied',
    by: 'checkDeploy, a function that throws',
    call: { name: 'Deploy', input: { to: 'production' } },
  },
  {
    shows: 'removed, still denied',
    by: 'guard.sh, although somebody just deleted it',
    call: PUSH,
    before: (project) => rmSync(join(project, '.amplifier'), { recursive: true }),
  },
]

/**
 * Real hooks, in a project and a home of their own.
 *
 * @param {Paint} paint
 * @param {(lines: readonly string[]) => void} print
 */
export async function playTour(paint, print) {
  await onStage(async ({ project, home, carabiner }) => {
    process.env.CARABINER_HOME = home
    const plugin = join(project, '.amplifier', 'hooks', 'tour')
    mkdirSync(plugin, { recursive: true })
    for (const [name, text] of Object.entries(PLUGIN)) writeFileSync(join(plugin, name), text)
    await carabiner(['trust', '--yes'])
    print([paint.bold('An agent makes six calls. Hooks decide what becomes of them.')])
    const audit = fileAudit({ projectDir: project })
    for (const scene of SCENES) {
      scene.before?.(project)
      const hooks = await createHooks({ projectDir: project, approver: () => 'Deny', audit })
      register(hooks)
      const { name, input } = scene.call
      const result = await hooks.session().callTool({ name, input }, async (given) => `ran ${shown(given)}`)
      print(['', ...sceneLines(scene, result, paint)])
      await hooks.close()
    }
    await audit.flush()
    const { ok, records } = verifyAudit(audit.folder)
    const whole = ok ? paint.green('verified'.padEnd(22)) : paint.red('damaged'.padEnd(22))
    print([
      '',
      `${whole} the audit has ${SCENES.length} calls and ${records - SCENES.length} result, each sealed to the one before`,
      '',
      `${paint.dim('next')}  npm start -- --all   every kind of hook, trust, approvals and plugins`,
      `${paint.dim('next')}  npm link && carabiner setup claude-code   guard your own Claude Code`,
    ])
  })
}

/** @param {Hooks} hooks */
function register(hooks) {
  hooks.register(
    'PreToolUse',
    function noScripts(_event, { tool_input }) {
      const { command } = tool_input
      if (command.startsWith('npm install'))
        return modify({ tool_input: { command: `${command} --ignore-scripts` } })
    },
    { matcher: 'Bash' },
  )
  hooks.register(
    'PreToolUse',
    function release(_event, { tool_input }) {
      if (tool_input.command === 'npm publish') return askUser('Publish this package?')
    },
    { matcher: 'Bash' },
  )
  hooks.register(
    'PreToolUse',
    function checkDeploy() {
      throw new Error('deploy.yml is missing')
    },
    { matcher: 'Deploy' },
  )
  hooks.register('PreToolUse', () => respond('12 apples for 3 dollars'), {
    name: 'cache',
    matcher: 'WebFetch',
  })
}

/**
 * @param {Scene} scene
 * @param {ToolCallResult<string>} result
 * @param {Paint} paint
 */
function sceneLines({ shows, by, call }, result, paint) {
  const colour = result.status === 'ok' || result.status === 'responded' ? paint.green : paint.red
  const told = 'result' in result ? result.result : result.reason
  return [
    `${colour(shows.padEnd(22))} ${paint.bold(`${call.name} ${shown(call.input)}`)}`,
    `${' '.repeat(23)}${paint.dim('hook')}   ${by}`,
    `${' '.repeat(23)}${paint.dim('agent')}  ${told}`,
  ]
}

/** @param {Record<string, unknown>} input */
function shown(input) {
  return Object.values(input).join(' ')
}
