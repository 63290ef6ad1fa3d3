// ISO-8601 in UTC. Many events share a millisecond, and formatting costs more than a hook.

let at = Number.NaN
let text = ''

export function timestamp(now: number = Date.now()): string {
  if (now !== at) {
    at = now
    text = new Date(now).toISOString()
  }
  return text
}
