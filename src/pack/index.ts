// The standard hooks. Each is loaded on demand, because a host starts one of them for every event.

import type { PackName } from '../hosts/pack-names.js'
import type { PackHook } from './pack-hook.js'

export const PACK: Readonly<Record<PackName, () => Promise<PackHook>>> = {
  'session-start': async () => (await import('./session-start.js')).sessionStart,
  stop: async () => (await import('./stop.js')).stop,
  'pre-tool-use': async () => (await import('./pre-tool-use/pre-tool-use.js')).preToolUse,
  'post-tool-use': async () => (await import('./post-tool-use.js')).postToolUse,
  'workflow-classification-reminder': async () =>
    (await import('./workflow-classification-reminder.js')).workflowClassificationReminder,
  'user-prompt-submit': async () => (await import('./user-prompt-submit.js')).userPromptSubmit,
  'pre-compact': async () => (await import('./pre-compact.js')).preCompact,
  'session-end': async () => (await import('./session-end.js')).sessionEnd,
}
