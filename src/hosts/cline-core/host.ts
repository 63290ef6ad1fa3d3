// The core of Cline 3: Cline 2's payloads and answers, and what only the core honours.

import { PLUGIN_MARK } from '../answer.js'
import { cline } from '../cline/host.js'
import type { FittedVerdict, Host, HostAnswer, HostEvent, HostVerdict } from '../host.js'

export const clineCore: Host<'cline-core'> = {
  ...cline,
  name: 'cline-core',
  title: 'Cline 3',
  guarded: ['.cline/plugins/'],
  // Its names of events are in snake_case.
  sends: (payload, event) =>
    cline.sends(payload, event) && /^[a-z]+(?:_[a-z]+)+$/.test(String(payload.hookName)),
  can: {
    ...cline.can,
    PreToolUse: ['block', 'input', 'context'],
    SessionStart: ['block', 'context'],
  },
  answer,
  timeout: 120,
}

/** Cline skips the mark, also in the answer of a hook file. */
function answer(event: HostEvent, told: FittedVerdict, verdict: HostVerdict): HostAnswer {
  const { stdout, ...rest } = cline.answer(event, told, verdict)
  const said: object = stdout ? JSON.parse(stdout) : {}
  return { ...rest, stdout: `${JSON.stringify({ ...PLUGIN_MARK, ...said })}\n` }
}
