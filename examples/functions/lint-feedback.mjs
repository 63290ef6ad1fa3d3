// Checks a JavaScript file after it was written, and tells the model what is wrong with it in the same turn.

import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createHooks, inject, proceed } from 'carabiner'
import { isMain, tell } from './demo.mjs'

/** @import { HookContext, HookResult, Hooks, Payload } from 'carabiner' */

/**
 * @param {string} _event
 * @param {Payload<'PostToolUse'>} data
 * @param {Pick<HookContext, 'signal'>} [context] a test may leave it out
 * @returns {Promise<HookResult>}
 */
export async function linterHook(_event, data, context) {
  const filePath = data.tool_input.file_path
  if (typeof filePath !== 'string' || !/\.[cm]?js$/.test(filePath)) return proceed()
  const finding = await checkSyntax(resolve(data.cwd ?? '', filePath), context?.signal)
  if (finding === undefined) return proceed()
  // Injected, not only shown: the model can correct the file now, while a message would wait for the person.
  return inject(`Linter found issues in ${filePath}:\n${finding}`, {
    userMessage: `Found linting issues in ${filePath}`,
    userMessageLevel: 'warning',
  })
}

/**
 * What `node --check` says against a file; undefined where it is fine. Rejects where the check could not be
 * made: that is no clean file, and the engine shows it as this hook's failure.
 *
 * @param {string} path
 * @param {AbortSignal | undefined} signal ends the check with the hook
 * @returns {Promise<string | undefined>}
 */
function checkSyntax(path, signal) {
  return new Promise((done, fail) => {
    execFile(process.execPath, ['--check', path], { signal }, (error, _stdout, stderr) => {
      const problem = /^SyntaxError: .*$/m.exec(stderr)?.[0]
      const line = /:(\d+)$/m.exec(stderr)?.[1]
      if (!error) done(undefined)
      else if (problem) done(line ? `line ${line}: ${problem}` : problem)
      else fail(new Error(`node --check could not check the file (${error.code ?? error.message})`))
    })
  })
}

/** @param {Pick<Hooks, 'register'>} hooks */
export function register(hooks) {
  return hooks.register('tool:post', linterHook, {
    name: 'linter_feedback',
    priority: 10,
    matcher: 'Write|Edit|MultiEdit',
    timeout: 10,
  })
}

if (isMain(import.meta.url)) {
  const hooks = await createHooks({ globals: false })
  register(hooks)
  const cwd = await mkdtemp(join(tmpdir(), 'lint-feedback-'))
  const session = hooks.session({ cwd })
  for (const content of ['export const sum = (a, b) => a +\n', 'export const sum = (a, b) => a + b\n']) {
    const input = { file_path: 'sum.mjs', content }
    await session.callTool(
      { name: 'Write', input },
      async () => {
        await writeFile(join(cwd, input.file_path), content)
        return { success: true }
      },
      {
        onOutcome: (event, outcome) =>
          event === 'PostToolUse' && tell(`Wrote ${JSON.stringify(content)}`, outcome),
      },
    )
  }
  await hooks.close()
  await rm(cwd, { recursive: true })
}
