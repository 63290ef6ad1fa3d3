// `fleet leave`: this machine leaves its fleet, after its records are there.

import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { type Membership, readMembership, UnusableMembership } from '../../files/fleet/marker.js'
import { type FleetPlace, fleetPlace } from '../../files/fleet-places.js'
import { dataHome } from '../../files/homes.js'
import { tellLeaving } from '../../fleet/machine/joining.js'
import { unshippedIn } from '../../fleet/machine/log-folders.js'
import { type Member, readMember, removeMember } from '../../fleet/machine/membership.js'
import { ship } from '../../fleet/machine/shipper.js'
import { counted, nextLines } from '../print/lines.js'
import { Refusal } from '../refusal.js'
import { asked, type Given, memberOf, withGateway } from './action.js'
import { removeTimer } from './root-timer.js'

const ANYWAY = 'carabiner fleet leave --anyway leaves all the same.'

export async function run({ options, output }: Given): Promise<number> {
  const member = (options.anyway ? damagedMember() : undefined) ?? memberOf()
  const { place, url, name } = member
  checkWritable(dirname(place.marker), options.anyway)
  const { untold, unshipped } = 'key' in member ? await told(member, options.anyway) : untoldOf(member)
  // First, because it would fetch again what is removed.
  const timer = place.binding ? removeTimer() : undefined
  removed(place)
  const document = {
    ...{ left: url ?? null, unshipped: unshipped ?? null },
    ...(untold !== undefined && { untold }),
    ...(timer && { timer }),
  }
  const retiring = `carabiner fleet machines retire ${name === undefined ? 'NAME' : shellQuoted(name)}`
  return output.result(document, (paint) => [
    `this machine is no longer in ${url === undefined ? 'a fleet' : `the fleet at ${url}`}`,
    ...unshippedLines(unshipped),
    untold === undefined
      ? `  its key counts until the administrator types ${retiring}`
      : `  the gateway ${'key' in member ? 'did not take note' : 'was not told'} (${visible(untold)}): unless it is retired already, the administrator types ${retiring}`,
    ...(timer?.status === 'failed'
      ? [
          `  ${paint.yellow('root’s timer could not be removed')}: ${visible(timer.why)}`,
          ...nextLines([timer.next], paint),
        ]
      : []),
    ...(place.binding && timer === undefined
      ? ['  if root’s crontab has carabiner fleet ship, remove that line']
      : []),
  ])
}

/** Of a machine whose membership cannot be used, as far as it can be read. */
interface Damaged extends Partial<Membership> {
  readonly place: FleetPlace
  readonly why: string
}

function damagedMember(): Damaged | undefined {
  const place = fleetPlace()
  try {
    readMember(place)
    return undefined
  } catch (error) {
    // Whoever reads it next says why it cannot be used.
    if (!place || !(error instanceof UnusableMembership && error.isDamaged)) return undefined
    return { place, why: error.what, ...readable(place) }
  }
}

function readable(place: FleetPlace): Partial<Membership> {
  try {
    return readMembership(place) ?? {}
  } catch {
    return {}
  }
}

/** Nobody can be told without the key. */
function untoldOf({ machine, why }: Damaged): Told {
  const left = machine === undefined ? { why } : countUnshipped(machine)
  return { untold: why, unshipped: 'count' in left ? left.count : undefined }
}

function unshippedLines(unshipped: number | undefined): readonly string[] {
  if (unshipped === 0) return []
  return unshipped === undefined
    ? ['  the fleet may not have all records of it: they cannot be counted here']
    : [`  the fleet does not have ${counted(unshipped, 'record')} of it`]
}

interface Told {
  /** Why the gateway does not know that this machine leaves. */
  readonly untold?: string
  /** How many records the fleet does not have. Undefined if they cannot be read. */
  readonly unshipped: number | undefined
}

/** Ships, and tells the gateway. With `anyway`, nothing of it has to work. */
async function told(member: Member, anyway: boolean): Promise<Told> {
  const shipping = await failureOf(() =>
    withGateway(member, (client) => ship({ client, machine: member.machine, dataDir: dataHome() })),
  )
  const left = countUnshipped(member.machine)
  const unshipped = 'count' in left ? left.count : undefined
  if (!anyway) checkShipped(shipping, left)
  // Nobody waits twice for a gateway that does not answer.
  const untold =
    isAway(shipping) && shipping.code === 'FLEET_UNREACHABLE'
      ? shipping
      : await failureOf(() => asked(() => tellLeaving(member), member))
  if (untold === undefined) return { unshipped }
  if (!anyway) throw untellable(untold)
  return { untold: textOf(untold), unshipped }
}

function countUnshipped(machine: string): { readonly count: number } | { readonly why: string } {
  try {
    return { count: unshippedIn(dataHome(), machine) }
  } catch (error) {
    return { why: textOf(error) }
  }
}

function checkShipped(shipping: unknown, left: ReturnType<typeof countUnshipped>): void {
  if (shipping instanceof Refusal) throw untellable(shipping)
  const why = shipping === undefined ? ('why' in left ? left.why : undefined) : textOf(shipping)
  if (why !== undefined)
    throw new Refusal('FLEET_UNSHIPPED', `The records of this machine cannot be shipped: ${why}`, {
      hint: ANYWAY,
    })
  if ('count' in left && left.count > 0)
    throw new Refusal(
      'FLEET_UNSHIPPED',
      `The fleet does not have ${counted(left.count, 'record')} of this machine yet`,
      { hint: `carabiner fleet ship sends them, or says why not. ${ANYWAY}` },
    )
}

/** What the gateway refuses has a hint of its own. */
function untellable(error: unknown): unknown {
  if (!isAway(error)) return error
  const hint = [error.hint, ANYWAY].filter((one) => one !== undefined).join(' ')
  return new Refusal(error.code, `The gateway cannot be told: ${error.message}`, { hint })
}

function isAway(error: unknown): error is Refusal {
  return error instanceof Refusal && AWAY.includes(error.code)
}

const AWAY: readonly Refusal['code'][] = ['FLEET_UNREACHABLE', 'FLEET_UNAVAILABLE']

/** What was thrown, or undefined. */
async function failureOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work()
    return undefined
  } catch (error) {
    return error
  }
}

/** What the system does not let us remove is no bug, and the gateway has been told. */
function removed(place: FleetPlace): void {
  try {
    removeMember(place)
  } catch (error) {
    throw new Refusal('FLEET_UNUSABLE', `The files of the fleet cannot be removed: ${textOf(error)}`, {
      hint: `Make ${dirname(place.marker)} writable, then carabiner fleet leave --anyway removes them.`,
    })
  }
}

/** Before the gateway is told what then cannot be done. */
function checkWritable(folder: string, anyway: boolean): void {
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    const isRoot = process.geteuid?.() === 0
    throw new Refusal(
      'FLEET_UNUSABLE',
      isRoot ? `Nothing can be removed from ${folder}: ${textOf(error)}` : `Only root may change ${folder}`,
      { hint: isRoot ? 'Make it writable.' : `sudo carabiner fleet leave${anyway ? ' --anyway' : ''}` },
    )
  }
}
