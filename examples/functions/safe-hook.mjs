// A hook that catches its own errors: what it could not check is said aloud and blocks nobody.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createHooks, inject, proceed } from 'carabiner'
import { isMain, tell } from './demo.mjs'

/** @import { HookResult, Hooks, Payload } from 'carabiner' */

/**
 * @param {string} _event
 * @param {Payload<'PostToolUse'>} data
 * @returns {Promise<HookResult>}
 */
export async function safeHook(_event, data) {
  try {
    const issue = await checkJsonFile(data)
    if (issue === undefined) return proceed()
    return inject(`Issues found: ${issue}`, { userMessage: 'Validation found issues' })
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    return proceed({ userMessage: `Hook error: ${text}`, userMessageLevel: 'error' })
  }
}

/**
 * What is wrong with a JSON file that was written: undefined if nothing is. Throws where it cannot tell.
 *
 * @param {Payload<'PostToolUse'>} data
 */
async function checkJsonFile(data) {
  const filePath = data.tool_input.file_path
  if (typeof filePath !== 'string' || !filePath.endsWith('.json')) return undefined
  const text = await readFile(resolve(data.cwd ?? '', filePath), 'utf8').catch((cause) => {
    throw new Error(`cannot read ${filePath} (${cause.code})`, { cause })
  })
  try {
    JSON.parse(text)
    return undefined
  } catch {
    return `${filePath} is not valid JSON`
  }
}

/** @param {Pick<Hooks, 'register'>} hooks */
export function register(hooks) {
  return hooks.register('tool:post', safeHook, { name: 'safe_hook', matcher: 'Write|Edit' })
}

if (isMain(import.meta.url)) {
  const hooks = await createHooks({ globals: false })
  register(hooks)
  const cwd = await mkdtemp(join(tmpdir(), 'safe-hook-'))
  await writeFile(join(cwd, 'settings.json'), '{ "theme": "dark", }')
  const session = hooks.session({ cwd })
  for (const file_path of ['settings.json', 'gone.json']) {
    tell(file_path, await session.fire('PostToolUse', { tool_name: 'Write', tool_input: { file_path } }))
  }
  await hooks.close()
  await rm(cwd, { recursive: true })
}
