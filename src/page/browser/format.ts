// Times and numbers as people read them.

const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })

export function clock(time: string): string {
  return CLOCK.format(new Date(time))
}

/** Empty for today. */
export function day(time: string): string {
  const date = new Date(time)
  return date.toDateString() === new Date().toDateString() ? '' : DAY.format(date)
}

/** The last midnight, as filters take it. */
export function today(): string {
  const [year, month, date] = [new Date().getFullYear(), new Date().getMonth() + 1, new Date().getDate()]
  return `${year}-${padded(month)}-${padded(date)}T00:00`
}

function padded(value: number): string {
  return String(value).padStart(2, '0')
}

/** `14:03:12`, and the day unless it is today. */
export function moment(time: string): string {
  return [day(time), clock(time)].filter(Boolean).join(' ')
}

export function duration(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** `1 hook`, `2 hooks`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`
}

export function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}
