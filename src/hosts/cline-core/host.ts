// The core of Cline 3: Cline 2's payloads and answers, and what only the core honours.

import { cline } from '../cline/host.js'
import type { Host } from '../host.js'

export const clineCore: Host<'cline-core'> = {
  ...cline,
  name: 'cline-core',
  title: 'Cline 3',
  guarded: ['.cline/plugins/'],
  setup: () => import('./setup.js'),
  hookFile: '.cline/plugins/carabiner.js',
  proof: () => import('./proof.js'),
  // Its names of events are in snake_case.
  sends: (payload, event) =>
    cline.sends(payload, event) && /^[a-z]+(?:_[a-z]+)+$/.test(String(payload.hookName)),
  can: {
    ...cline.can,
    PreToolUse: ['block', 'input', 'context'],
    SessionStart: ['block', 'context'],
  },
  timeout: 120,
}
