// `fleet status`: whether this machine is in a fleet, and whether its gateway answers.

import { textOf } from '../../core/base/errors.js'
import { visible, visibleName } from '../../core/base/text.js'
import { fleetPlace } from '../../files/fleet-places.js'
import type { MachineAnswer } from '../../fleet/protocol.js'
import { counted } from '../print/lines.js'
import type { Paint } from '../print/terminal.js'
import { EXIT } from '../refusal.js'
import { type Given, memberOf, withGateway } from './action.js'
import { ADVISORY } from './join.js'

interface Contact {
  readonly reached: boolean
  readonly why?: string
  /** How often the gateway has noticed that the history of this machine broke. */
  readonly evidence?: number
}

export async function run({ output }: Given): Promise<number> {
  if (!fleetPlace())
    return output.result({ member: false }, () => [
      'this machine is in no fleet',
      '  carabiner fleet join URL --token TOKEN joins one',
    ])
  const member = memberOf()
  const { url, name, machine, place } = member
  const contact = await contactOf(() => withGateway(member, (client) => client.ask<MachineAnswer>('machine')))
  const document = {
    member: true,
    url,
    name,
    machine,
    binding: place.binding,
    marker: place.marker,
    gateway: contact,
  }
  return output.result(
    document,
    (paint) => [
      `${visibleName(name)} is in the fleet at ${visible(url)}`,
      place.binding ? `  binding: only root can change ${place.marker}` : `  ${paint.yellow(ADVISORY)}`,
      ...contactLines(contact, paint),
    ],
    contact.reached ? EXIT.ok : EXIT.failed,
  )
}

async function contactOf(ask: () => Promise<MachineAnswer>): Promise<Contact> {
  try {
    const { evidence } = await ask()
    return { reached: true, evidence }
  } catch (error) {
    return { reached: false, why: textOf(error) }
  }
}

function contactLines({ reached, why = '', evidence = 0 }: Contact, paint: Paint): readonly string[] {
  if (!reached) return [`  ${paint.red('the gateway does not answer')}: ${visible(why)}`]
  if (evidence === 0) return ['  the gateway answers']
  const times = evidence === 1 ? 'once' : counted(evidence, 'time')
  return [`  the gateway answers; it noticed ${times} that the history of this machine broke`]
}
