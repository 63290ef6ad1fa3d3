// The options that choose among the entries of an audit log: of this machine, or of a fleet.

import type { FILTERS } from '../store/audit/filter.js'
import type { Option } from './command.js'

export const AUDIT_FILTERS = {
  session: { type: 'string', value: 'ID', help: 'Only this session.' },
  event: { type: 'string', value: 'EVENT', help: 'Only this event.' },
  tool: { type: 'string', value: 'NAME', help: 'Only this tool.' },
  hook: { type: 'string', value: 'NAME', help: 'Only entries with this hook.' },
  decision: { type: 'string', value: 'WHAT', help: 'Only this decision: deny, ask, modify …' },
  kind: { type: 'string', value: 'KIND', help: 'Only this kind: fire, approval, change …' },
  since: { type: 'string', value: 'TIME', help: 'Not before: a time, or 15m, 2h, 3d ago.' },
  until: { type: 'string', value: 'TIME', help: 'Not after.' },
} as const satisfies Record<(typeof FILTERS)[number], Option>

/** For a command with actions, of which one has filters. */
export function filtersOf(action: string): typeof AUDIT_FILTERS {
  const rows = Object.entries(AUDIT_FILTERS).map(([name, row]: [string, Option]) => {
    const help = `${action}: ${row.help.charAt(0).toLowerCase()}${row.help.slice(1)}`
    return [name, { ...row, help }]
  })
  return Object.fromEntries(rows) as typeof AUDIT_FILTERS
}
