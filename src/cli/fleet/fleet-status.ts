// `fleet status --database`: for an administrator, which machines do not enforce what they should, worst first.

import { visible, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import {
  type FleetStatus,
  fleetStatus,
  type MachineStatus,
  TROUBLES,
} from '../../fleet/database/machine-status.js'
import { counted } from '../print/lines.js'
import type { Paint } from '../print/terminal.js'
import { EXIT } from '../refusal.js'
import { type Given, withDatabase } from './action.js'

export async function showFleetStatus({ options, output }: Given): Promise<number> {
  const status = await withDatabase(options, (database) => fleetStatus(database))
  return output.result(status, (paint) => lines(status, paint), status.ok ? EXIT.ok : EXIT.failed)
}

function lines({ machines, rollout }: FleetStatus, paint: Paint): readonly string[] {
  if (machines.length === 0) return ['no machines']
  const well = machines.filter(({ troubles }) => troubles.length === 0)
  return [
    `${counted(machines.length, 'machine')}, ${well.length} as they should be${rollout === undefined ? '; no policy is published' : `; roll-out ${rollout}`}`,
    ...machines.flatMap((one) => machineLines(one, paint)),
  ]
}

function machineLines({ name, seen, report, troubles }: MachineStatus, paint: Paint): readonly string[] {
  const { policy, carabiner } = report ?? {}
  const version = policy?.enforced === undefined ? '' : `, policy ${policy.enforced}`
  const shadow = policy?.shadow === undefined ? '' : `, ${policy.shadow} in shadow mode`
  const own = carabiner === undefined ? '' : `, Carabiner ${visible(carabiner)}`
  return [
    `${visibleName(name)}: seen ${localTime(seen)}${version}${shadow}${own}`,
    ...troubles.map(({ kind, detail }) => {
      const word = kind === 'advisory' ? paint.yellow(kind) : paint.red(kind)
      return `  ${word}: ${TROUBLES[kind]}: ${visible(detail)}`
    }),
  ]
}
