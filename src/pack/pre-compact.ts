// Before a compaction: exports the transcript, so that the model can still look it up.

import { textOf } from '../core/base/errors.js'
import { inline, telling } from './answer.js'
import { sessionOf } from './memory.js'
import type { PackHook } from './pack-hook.js'
import { exportTranscript, transcriptTail } from './transcript.js'

const MAX_BYTES = 4 * 1024 * 1024

export const preCompact: PackHook = {
  name: 'pre-compact',
  event: 'PreCompact',
  remembers: true,
  run(input, { settings, state, now }) {
    if (!settings.memory.enabled) return undefined
    try {
      const tail = transcriptTail(input.transcriptPath, MAX_BYTES)
      if (!tail || tail.lines.length === 0) return telling(missing(input.transcriptPath))
      const path = exportTranscript(state, tail, sessionOf(input.sessionId), now())
      return path === undefined ? undefined : telling(`The transcript before this compaction is in ${path}`)
    } catch (error) {
      return telling(`The transcript could not be exported: ${textOf(error)}`)
    }
  },
}

function missing(path: string | undefined): string {
  const why = path === undefined ? 'the host did not name a file' : `${inline(path, 400)} is empty or missing`
  return `The transcript before this compaction was not saved: ${why}`
}
