// Values that a shell would run, in every place where a plugin's command gets one: the project's folder, the session, the call, the plugin's own name.

import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Project, withProgram } from './program.js'

withProgram()
let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const HOSTILE = `a"b'c $(touch pwned) \`touch pwned\` ;touch pwned; %PATH% \${HOME}`
const NAMES = ['CLAUDE_PROJECT_DIR', 'CLAUDE_PLUGIN_ROOT', 'AMPLIFIER_SESSION_ID'] as const
const braced = NAMES.map((name) => `\${${name}}`)

/** What it gets, one a line; then its standard input. */
const SCRIPT = `#!/bin/sh
to=$1
shift
printf '%s\\n' "$@" > "$OUT/$to"
cat > "$OUT/$to.input"
`

const run = '"$CLAUDE_PLUGIN_ROOT/told.sh"'
const COMMANDS = {
  sh: { command: `${run} sh ${braced.map((one) => `"${one}"`).join(' ')}`, shell: 'sh' },
  bash: { command: `${run} bash ${braced.map((one) => `"${one}"`).join(' ')}`, shell: 'bash' },
  exec: { command: `${braced[1]}/told.sh`, args: ['exec', ...braced] },
  // Carelessly written: it is split at blanks, and run by nobody.
  careless: { command: `${run} careless ${braced.join(' ')}`, shell: 'sh' },
}

it('reach the hook as they are, and are run by nobody', async () => {
  const folder = join(project.base, HOSTILE.replace(/\//g, ''))
  const out = join(project.base, 'out')
  for (const one of [folder, out]) mkdirSync(one)
  project.file('../evil/.claude-plugin/plugin.json', { name: HOSTILE })
  project.file('../evil/hooks/hooks.json', {
    hooks: {
      PreToolUse: [
        { hooks: Object.values(COMMANDS).map((one) => ({ type: 'command', ...one, timeout: 60 })) },
      ],
    },
  })
  project.file('../evil/told.sh', SCRIPT, 0o755)
  project.file('../evil/$(touch pwned)', '')
  const at = { cwd: folder, env: { OUT: out } }
  const installed = await project.call(['install', '../evil', '--here', '--yes'], at)
  expect([installed.code, installed.stderr]).toEqual([0, ''])
  const [name] = readdirSync(join(folder, '.amplifier', 'hooks'))
  const call = {
    session_id: HOSTILE,
    tool_name: HOSTILE,
    tool_input: { command: HOSTILE, [HOSTILE]: HOSTILE },
  }
  const fired = await project.call(['fire', 'PreToolUse'], { ...at, input: call })
  expect([fired.code, fired.stdout]).toEqual([0, expect.stringContaining('went on')])
  for (const kind of ['sh', 'bash', 'exec']) {
    const [told, root = '', ...session] = readFileSync(join(out, kind), 'utf8').split('\n')
    expect([told, session]).toEqual([folder, [HOSTILE, '']])
    expect(readdirSync(root)).toContain('$(touch pwned)')
    expect(basename(root)).toContain(name)
  }
  for (const kind of Object.keys(COMMANDS)) {
    const { session_id, tool_name, tool_input } = JSON.parse(readFileSync(join(out, `${kind}.input`), 'utf8'))
    expect({ session_id, tool_name, tool_input }).toEqual(call)
  }
  expect(readFileSync(join(out, 'careless'), 'utf8')).toContain('$(touch')
  const all = readdirSync(project.base, { recursive: true, encoding: 'utf8' })
  expect(all.filter((path) => basename(path) === 'pwned')).toEqual([])
})
