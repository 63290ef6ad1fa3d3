// Files of hooks: what loading them says, with what to do about it.

import { JsonText, under } from '../../config/json-text.js'
import { DIAGNOSTIC_CODES, type Diagnostic } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import { readPlain } from '../../files/plain-file.js'
import { BYPASSED } from '../bypass.js'
import { counted, placeOf } from '../print/lines.js'
import { severityOf } from '../print/severity.js'
import { entryFix } from './entry-fix.js'
import type { Facts } from './facts.js'
import type { Checked, Finding } from './finding.js'

export function configuration({ notices, files, hooks }: Facts): Checked {
  return {
    what: `${counted(files.length, 'file')}, ${counted(hooks.length, 'hook')}`,
    findings: notices.map(finding),
  }
}

function finding(notice: Diagnostic): Finding {
  const { code, text, file, line } = notice
  return {
    severity: severityOf(code),
    code,
    text,
    fix: fixOf(notice),
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
  }
}

function fixOf(notice: Diagnostic): string {
  if (notice === BYPASSED) return 'unset CARABINER_OFF'
  return joinEvent(notice) ?? entryFix(notice) ?? todo(notice)
}

const MOST_BYTES = 4 * 1024 * 1024

/** An event that is meant, and is in the file already, cannot be written twice. */
function joinEvent({ code, text, file, line }: Diagnostic): string | undefined {
  const [, meant] = /did you mean (\w+)\?$/.exec(text) ?? []
  if (code !== 'unknown-event' || meant === undefined || file === undefined) return undefined
  try {
    const read = readPlain(file, MOST_BYTES)
    const json = new JsonText('text' in read ? read.text : '')
    const parsed = json.parse()
    const root: unknown = 'value' in parsed ? parsed.value : undefined
    const events: unknown = isObject(root) ? root.hooks : undefined
    if (!isObject(events) || !Object.hasOwn(events, meant)) return undefined
    const there = placeOf({ file, line: json.lineOf(under(under(null, 'hooks'), meant)) })
    return `Move what stands at ${placeOf({ file, ...(line !== undefined && { line }) })} into ${meant} at ${there}.`
  } catch {
    return undefined
  }
}

function todo({ code }: Diagnostic): string {
  return Object.hasOwn(DIAGNOSTIC_CODES, code)
    ? DIAGNOSTIC_CODES[code as keyof typeof DIAGNOSTIC_CODES].todo
    : 'Correct what the message names.'
}
