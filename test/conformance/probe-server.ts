// What the server and the model of the recorded probes answered: the record has their names, and what came of it.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Probe } from './probe.js'

/** As the record has it. */
export const RECORDED_SERVER = 'http://127.0.0.1:18999'

const answer = (more: object) =>
  JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...more } })
const DENY = answer({ permissionDecision: 'deny', permissionDecisionReason: 'HD' })

const PATHS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/deny': (response) => response.end(DENY),
  '/empty': (response) => response.end(),
  '/no204': (response) => response.writeHead(204).end(),
  '/e500deny': (response) => response.writeHead(500).end(DENY),
  '/array': (response) => response.end('[1]'),
  '/ctx': (response) => response.end(answer({ additionalContext: 'HCTX' })),
  '/badschema': (response) => response.end(answer({ permissionDecision: 7 })),
  '/redirect': (response) => response.writeHead(302, { location: '/deny' }).end(),
  '/denytext': (response) => response.end('plain text'),
}

/** Undefined where the probe has no hook that asks one. */
export async function probeServer({
  hooks,
}: Probe): Promise<{ readonly origin: string; readonly close: () => void } | undefined> {
  if (
    !hooks.some(({ handler }) => (handler as { url?: string } | undefined)?.url?.startsWith(RECORDED_SERVER))
  )
    return undefined
  const server = createServer((request, response) => {
    request.resume()
    const reply = PATHS[request.url ?? ''] ?? ((other: ServerResponse) => other.writeHead(404).end())
    reply(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

export function modelReply({ name }: Probe): string {
  return name === 'ph-pre-garbage'
    ? 'As a language model I would rather not say.'
    : '{"ok": false, "reason": "PHNO"}'
}
