// The first line with which a hook says that nobody need wait for it: {"async": true, "asyncTimeout": 60000}.

import { isObject } from '../../core/base/json.js'

export function isAsyncLine(line: string): boolean {
  return parsed(line) !== undefined
}

/** How long it may take, in milliseconds, if it says so. */
export function asyncTimeout(line: string): number | undefined {
  const wanted = parsed(line)?.asyncTimeout
  return typeof wanted === 'number' && wanted > 0 ? wanted : undefined
}

/** What it printed after that line: its answer in the end. Where that line is all, it stays, and says so. */
export function afterAsyncLine(stdout: string): string {
  const end = stdout.indexOf('\n')
  if (end < 0 || !isAsyncLine(stdout.slice(0, end))) return stdout
  const rest = stdout.slice(end + 1)
  return rest.trim() === '' ? stdout : rest
}

function parsed(line: string): { readonly asyncTimeout?: unknown } | undefined {
  const text = line.trim()
  if (!text.startsWith('{') || !text.endsWith('}') || !text.includes('"async"')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && value.async === true ? value : undefined
  } catch {
    return undefined // no JSON: an answer of another kind, or none
  }
}
