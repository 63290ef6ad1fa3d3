// Records for benches, as events with three hooks leave them; no two are the same.

const hex = (i, length) => Array.from({ length }, (_, at) => ((i * 31 + at * 7) % 16).toString(16)).join('')

/** @param {number} i */
export function record(i) {
  const hook = (name, more) => ({
    name,
    kind: 'command',
    source: '/home/somebody/.config/carabiner/hooks.json',
    status: 'ran',
    ms: 12.345 + i / 1000,
    at: 0.123 + i / 1000,
    hash: hex(i % 3, 64),
    action: 'continue',
    ...more,
  })
  const reason = `Do not push to main without a review (${i})`
  const denied = i % 10 === 0
  return {
    kind: 'fire',
    time: new Date(1_769_860_800_000 + i * 137).toISOString(),
    session: '8a6e0804-2bd0-4672-b79d-d97027f9071a',
    turn: `turn-${Math.floor(i / 20)}`,
    event: 'PreToolUse',
    tool: ['Bash', 'Write', 'Read'][i % 3],
    digest: hex(i, 64),
    action: denied ? 'deny' : 'continue',
    ...(denied && { reason }),
    hooks: [hook('guard'), hook('format'), hook('review', denied && { action: 'deny', reason })],
    injections: [],
    diagnostics: [],
    ms: 40.123 + i / 1000,
  }
}
