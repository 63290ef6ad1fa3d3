// Times: ISO-8601 in UTC for programs, the clock on the wall for people. Many events share a millisecond, and formatting costs more than a hook.

let at = Number.NaN
let text = ''

export function timestamp(now: number = Date.now()): string {
  if (now !== at) {
    at = now
    text = new Date(now).toISOString()
  }
  return text
}

/** `2026-01-31 14:03:22`, where the reader is. What is no time stays as it is. */
export function localTime(time: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return time
  const two = (part: number) => String(part).padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`
}
