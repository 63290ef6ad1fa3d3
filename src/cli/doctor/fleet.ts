// What doctor finds about the fleet of this machine, from its files alone.

import { accessSync, constants } from 'node:fs'
import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import { readKey, readMembership, UnusableMembership } from '../../files/fleet/marker.js'
import { endOfPeople, NoPeople, readPeople } from '../../files/fleet/people.js'
import { hasTrusted, type InForce, readInForce } from '../../files/fleet/policy.js'
import { unfetched } from '../../files/fleet/root-fetches.js'
import {
  fleetPlace,
  inForcePath,
  type PolicyPlace,
  policyPlace,
  userPlace,
} from '../../files/fleet-places.js'
import { ownShipped } from '../../store/audit/shipped.js'
import type { Finding } from './finding.js'

/** `folder`: of the audit log. */
export function fleetFindings(folder: string): readonly Finding[] {
  const damage = damageFindings()
  return [
    ...keyFindings(),
    ...damage,
    ...(damage.length === 0 ? peopleFindings() : []),
    ...policyFindings(),
    ...fetchFindings(),
    ...shippingFindings(folder),
  ]
}

/** Then nothing of this user is shipped, and nobody can allow anything. */
function damageFindings(): readonly Finding[] {
  const place = fleetPlace()
  if (!place) return []
  try {
    readMembership(place)
    // What is wrong with its rights is told with them.
    if (mayRead(place.key)) readKey(place)
    return []
  } catch (error) {
    if (!(error instanceof UnusableMembership)) throw error
    const { path: file, what, todo } = error
    return [{ severity: 'broken', code: 'fleet-damaged', file, text: visible(what), fix: todo.join('   # ') }]
  }
}

/** Without a list of people that counts, nobody can allow anything. A fleet that is there for its records alone has none. */
function peopleFindings(): readonly Finding[] {
  const place = fleetPlace()
  const membership = place && readMembership(place)
  if (!place || !membership) return []
  const finding = { code: 'fleet-people', file: userPlace().people } as const
  const fix = 'carabiner fleet ship   # fetches the newest list'
  try {
    const text = endOfPeople(readPeople(place, membership.rootKey))
    return text === undefined ? [] : [{ ...finding, severity: 'warning', text, fix }]
  } catch (error) {
    const severity = error instanceof NoPeople ? 'warning' : 'broken'
    return [{ ...finding, severity, text: visible(textOf(error)), fix }]
  }
}

/** Without the key, nothing of this user is shipped. */
function keyFindings(): readonly Finding[] {
  const place = fleetPlace()
  if (!place || mayRead(place.key)) return []
  return [
    {
      severity: 'broken',
      code: 'fleet-key',
      file: place.key,
      text: 'this machine is in a fleet, but you cannot read its key: your records are not shipped',
      fix: place.binding
        ? `sudo chgrp GROUP ${place.key} && sudo chmod 640 ${place.key}   # a group of everybody whose records count`
        : 'carabiner fleet leave --anyway   # then join again',
    },
  ]
}

/**
 * A gateway that keeps news back looks like a fleet without news. So a machine says when more than half of the time has gone
 * in which it may rely on what it was told last. A policy that has expired is told as every other problem of it.
 */
function policyFindings(): readonly Finding[] {
  const member = fleetPlace()
  if (!member) return []
  const place = policyPlace(member)
  const inForce = readable(place)
  if (!inForce?.signed || !(inForce.enforced || hasTrusted(inForce))) return []
  const { signed, expires } = inForce
  const [from, until, now] = [Date.parse(signed), Date.parse(expires), Date.now()]
  if (now >= until || now - from <= (until - from) / 2) return []
  return [
    {
      severity: 'warning',
      code: 'fleet-silent',
      file: inForcePath(place.folder),
      text: `the newest that this machine heard of its fleet was signed ${localTime(signed)}; from ${localTime(expires)} on, ${afterwards(inForce)}`,
      fix: 'carabiner fleet policy fetch   # if nothing newer comes, ask your administrator whether the policy was renewed',
    },
  ]
}

function afterwards(inForce: InForce): string {
  if (inForce.enforced && inForce.afterExpiry === 'close') return 'every tool call is refused'
  const lapse = hasTrusted(inForce) ? ['what reviewers of the fleet trusted does not count'] : []
  return [...(inForce.enforced ? ['its policy counts, with a warning'] : []), ...lapse].join(', and ')
}

function fetchFindings(): readonly Finding[] {
  const place = fleetPlace()
  const stale = place && unfetched(place)
  if (!stale) return []
  const { text, fix } = stale
  return [{ severity: 'warning', code: 'fleet-unfetched', file: place.policy, text, fix }]
}

/** A file that cannot be used is told by the hooks that it closes. */
function readable(place: PolicyPlace): InForce | undefined {
  try {
    return readInForce(place)
  } catch {
    return undefined
  }
}

/** True for a file that is not there. */
function mayRead(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code !== 'EACCES' && code !== 'EPERM'
  }
}

function shippingFindings(folder: string): readonly Finding[] {
  const shipped = ownShipped(folder)
  const last = shipped?.breaks.at(-1)
  return [
    ...(shipped?.failure === undefined
      ? []
      : [
          {
            severity: 'warning',
            code: 'fleet-failed',
            file: folder,
            text: `this log could not be shipped to the fleet (${localTime(shipped.time)}): ${visible(shipped.failure)}`,
            fix: 'carabiner fleet ship   # tries again',
          } as const,
        ]),
    ...(last === undefined
      ? []
      : [
          {
            severity: 'warning',
            code: 'fleet-history',
            file: folder,
            text: `the fleet has another history of this log (${visible(last.kind)} at record ${last.seq}, noticed ${localTime(last.time)})`,
            fix: 'carabiner fleet status   # says what differs; your administrator sees both histories',
          } as const,
        ]),
  ]
}
