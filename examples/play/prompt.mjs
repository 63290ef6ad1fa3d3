// A scene of npm start: a hook that is a question to a model. The model is a server on this machine.

import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { createHooks } from 'carabiner'
import { onStage } from './stage.mjs'

/** @import { AddressInfo } from 'node:net' */
/** @import { Paint } from './print.mjs' */

const HOOK = {
  type: 'prompt',
  prompt: 'A command may not rewrite history that others have. May this one run? $ARGUMENTS',
  continueOnBlock: true,
}
const COMMANDS = ['git push', 'git push --force']

/**
 * @param {Paint} paint
 * @param {(lines: readonly string[]) => void} print
 */
export async function playPrompt(paint, print) {
  print([
    '',
    paint.bold('Prompt: a hook that is a question to a model'),
    paint.dim(`    ${HOOK.prompt}`),
    paint.dim('    (the model is a server on this machine)'),
  ])
  const model = await loopbackModel()
  try {
    await onStage(async ({ project }) => {
      const folder = join(project, '.amplifier', 'hooks')
      await mkdir(folder, { recursive: true })
      const entry = { PreToolUse: [{ matcher: 'Bash', hooks: [HOOK] }] }
      await writeFile(join(folder, 'hooks.json'), JSON.stringify({ hooks: entry }))
      const hooks = await createHooks({
        globals: false,
        projectDir: project,
        home: project,
        configs: [join(folder, 'hooks.json')],
        trust: 'all',
        settings: { model: { provider: 'openai', name: 'loopback', base_url: model.url } },
      })
      const session = hooks.session()
      for (const command of COMMANDS) {
        const call = { name: 'Bash', input: { command } }
        const { status, reason } = await session.callTool(call, async () => 'pushed')
        const came = status === 'ok' ? paint.green('ran') : paint.red(`${status}: ${reason}`)
        print([`    ${command}`, `      ${came}`])
      }
      await hooks.close()
    })
  } finally {
    model.close()
  }
}

/** Speaks the wire format of OpenAI's chat completions, and has one opinion. */
async function loopbackModel() {
  const server = createServer(async (request, response) => {
    const { model, messages } = /** @type {{ model: string, messages: unknown }} */ (await json(request))
    const isForced = JSON.stringify(messages).includes('push --force')
    const verdict = isForced
      ? { ok: false, reason: 'Others may have that history: use --force-with-lease' }
      : { ok: true }
    const message = { role: 'assistant', content: JSON.stringify(verdict) }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: '1', model, choices: [{ index: 0, message, finish_reason: 'stop' }] }))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {AddressInfo} */ (server.address())
  return { url: `http://127.0.0.1:${port}/v1`, close: () => server.close() }
}
