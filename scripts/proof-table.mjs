// The table of a proof: a row an agent, a column a fact.

/**
 * @typedef {{ name: string, state: 'held' | 'failed' | 'cannot' | 'unknown', text: string }} Fact
 * @typedef {{ host: string, title: string, version?: string, at?: number, date?: string, ok?: boolean, facts: readonly Fact[], bypasses: readonly string[], note?: string }} ProvenAgent
 */

/** The facts in their order, with their headings. @type {readonly (readonly [name: string, heading: string])[]} */
export const FACTS = [
  ['runs', 'runs'],
  ['command', 'command'],
  ['reason', 'reason'],
  ['file', 'file'],
  ['rewrite', 'rewrite'],
  ['context UserPromptSubmit', 'context: prompt'],
  ['context SessionStart', 'start'],
  ['context PostToolUse', 'after tool'],
  ['context PreToolUse', 'before tool'],
  ['subagent', 'subagent'],
  ['stop', 'stop'],
  ['ask', 'ask'],
  ['together', 'with guard'],
]

const SIGNS = { held: 'yes', failed: 'FAILED', cannot: '–', unknown: '?' }

/** Facts that hold only in part, by words of their texts. @type {Readonly<Record<string, readonly [part: string, sign: string]>>} */
const PARTS = { rewrite: ['refused', 'refused'], together: ['one context', 'one context'] }

/** @param {Fact} fact */
function signOf({ name, state, text }) {
  const [part, sign] = PARTS[name] ?? []
  return state === 'held' && part && sign && text.includes(part) ? sign : SIGNS[state]
}

/** A row of cells for each agent, after the headings. @param {readonly ProvenAgent[]} agents @returns {readonly (readonly string[])[]} */
export function factRows(agents) {
  const shown = FACTS.filter(([name]) => agents.some(({ facts }) => facts.some((fact) => fact.name === name)))
  return [
    ['agent', ...shown.map(([, heading]) => heading)],
    ...agents.map(({ title, version, facts }) => [
      [title, version].filter(Boolean).join(' '),
      ...shown.map(([name]) => {
        const fact = facts.find((one) => one.name === name)
        return fact ? signOf(fact) : ''
      }),
    ]),
  ]
}

/** For a terminal. @param {readonly ProvenAgent[]} agents */
export function factTable(agents) {
  const rows = factRows(agents)
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length))) ?? []
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
