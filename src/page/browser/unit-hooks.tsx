// The hooks of something that a person may agree to, each with all that it would run.

import type { UnitView } from '../view/trust.js'

/** Rows of a list of fields. */
export function UnitHooks({ hooks }: Pick<UnitView, 'hooks'>) {
  return (
    <>
      {hooks.map(({ name, on, command }, i) => (
        <div key={`${i} ${name}`}>
          <dt>{on === '' ? name : on}</dt>
          <dd>
            <pre>{command === '' ? name : command}</pre>
          </dd>
        </div>
      ))}
    </>
  )
}
