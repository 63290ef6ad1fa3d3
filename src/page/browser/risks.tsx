// What to look at closely before trusting something.

import type { UnitView } from '../view/trust.js'

export function Risks({ risks }: Pick<UnitView, 'risks'>) {
  if (risks.length === 0) return null
  return (
    <ul class="risks">
      {risks.map(({ where, text }) => (
        <li key={`${where} ${text}`}>
          <span class="bad">{text}</span> <span class="dim">{where}</span>
        </li>
      ))}
    </ul>
  )
}
