// Asks a person before a tool writes a production file or one that holds secrets.

import { resolve } from 'node:path'
import { askUser, createHooks, proceed } from 'carabiner'
import { isMain, tell } from './demo.mjs'

/** @import { HookResult, Hooks, Payload } from 'carabiner' */

/**
 * @param {string} _event
 * @param {Payload<'PreToolUse'>} data
 * @returns {HookResult}
 */
export function productionProtectionHook(_event, data) {
  const filePath = data.tool_input.file_path ?? data.tool_input.notebook_path
  if (typeof filePath !== 'string' || !isProtected(resolve(data.cwd ?? '', filePath))) return proceed()
  return askUser(`Allow write to production file: ${filePath}?`, {
    approvalOptions: ['Allow once', 'Allow always', 'Deny'],
    approvalTimeout: 300,
    approvalDefault: 'deny',
    reason: 'Production file requires explicit user approval',
  })
}

/**
 * Looks at the whole resolved path: `production/app.yaml` and `src/../production/app.yaml` are the same file,
 * and some file systems do not tell `.ENV` from `.env`.
 *
 * @param {string} path
 */
function isProtected(path) {
  const parts = path.toLowerCase().split(/[\\/]/)
  return parts.slice(0, -1).includes('production') || path.toLowerCase().endsWith('.env')
}

/** @param {Pick<Hooks, 'register'>} hooks */
export function register(hooks) {
  return hooks.register('tool:pre', productionProtectionHook, {
    name: 'production_protection',
    matcher: 'Write|Edit|MultiEdit|NotebookEdit',
  })
}

if (isMain(import.meta.url)) {
  const answers = ['Allow once', 'Deny']
  const hooks = await createHooks({ globals: false, approver: () => answers.shift() ?? 'Deny' })
  register(hooks)
  const session = hooks.session({ cwd: '/home/me/shop' })
  for (const file_path of ['/srv/production/app.yaml', '.env', 'README.md']) {
    const { status, outcome } = await session.callTool(
      { name: 'Write', input: { file_path, content: '' } },
      () => 'written',
    )
    tell(`Write ${file_path}`, outcome)
    console.log(`  the tool ${status === 'ok' ? 'ran' : 'did not run'}`)
  }
  await hooks.close()
}
