// `fleet ship`: sends records and open questions of this machine to its gateway, and fetches answers, once or all the time.

import { setTimeout } from 'node:timers/promises'
import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import type { SignedPeople } from '../../files/fleet/people.js'
import { dataHome, stateHome } from '../../files/homes.js'
import { GatewayRefusal } from '../../fleet/gateway-refusal.js'
import { Unavailable, Unreachable } from '../../fleet/machine/gateway-client.js'
import { clientOf } from '../../fleet/machine/joining.js'
import type { LogBreak } from '../../fleet/machine/log-shipping.js'
import { fetchPeople } from '../../fleet/machine/people.js'
import { fetchPolicy, mayFetchPolicy } from '../../fleet/machine/policy.js'
import { noteFetched } from '../../fleet/machine/policy-files.js'
import { type LogFailure, type ShipReport, ship } from '../../fleet/machine/shipper.js'
import type { Break } from '../../fleet/protocol.js'
import { beginWatching, isAnybodyWatching } from '../../store/approvals/waiting.js'
import { Interruption } from '../interruption.js'
import type { Output } from '../output.js'
import { counted, shortPath } from '../print/lines.js'
import { EXIT, usage } from '../refusal.js'
import { mirrorsFolder } from '../ship-soon.js'
import { asked, type Given, memberOf, UNAVAILABLE } from './action.js'
import { openMirror } from './mirror.js'
import { sendReport } from './own-report.js'

const EVERY_MS = 5000
const REPORT_EVERY_MS = 60_000
/** For new questions, while none is open. */
const LOOK_EVERY_MS = 1000
/** While the gateway does not answer. */
const MOST_MS = 60_000

const WHY: Readonly<Record<Break, (seq: number) => string>> = {
  fork: (seq) => `differs from what the fleet has of it, up to record ${seq}`,
  gap: (seq) => `has lost records after ${seq} before they were shipped`,
  cut: (seq) => `is shorter than what the fleet has of it, which ends with record ${seq}`,
  behind: (seq) =>
    `was acknowledged further than record ${seq}, where the fleet now has its end: records were removed there`,
  damaged: (seq) => `was changed after record ${seq}`,
}

/** One line for a person. */
export function breakText({ log, folder, kind, seq }: LogBreak): string {
  if (folder === undefined)
    return `a log is gone here that the fleet has: ${log.slice(-8)}, up to record ${seq}`
  return `the log in ${shortPath(folder)} ${WHY[kind](seq)}`
}

/** One line for a person. */
export function failureText({ folder, why }: LogFailure): string {
  return `the log in ${shortPath(folder)} could not be shipped: ${why}`
}

export async function run({ options, output, signal }: Given): Promise<number> {
  if (options.follow && output.json)
    throw usage('--json prints one document, and --follow has no end: use one or the other')
  if (options.follow && options.questions) throw usage('--follow ships questions, too: leave out --questions')
  if (options.questions) return questioned(output, signal)
  return options.follow ? asked(() => followed(output, signal)) : once(output)
}

async function once(output: Output): Promise<number> {
  const { client, options, learnPeople, learnPolicy, report } = prepared(output)
  try {
    const shipReport = await asked(async () => {
      const hasNews = [await learnPeople(), await learnPolicy()].every(Boolean)
      await report()
      const shipped = await ship(options)
      const mirror = await openMirror(client, learnPeople, output)
      // The second time, there may be answers to what was sent the first time, and uses of those.
      if ((await mirror.exchange(0)) > 0) await mirror.exchange(0)
      return { ...shipped, hasNews }
    })
    await tellFailures(shipReport, output)
    const isWell = shipReport.hasNews && shipReport.breaks.length + shipReport.failures.length === 0
    return await output.result(shipReport, () => [reportLine(shipReport)], isWell ? EXIT.ok : EXIT.failed)
  } finally {
    client.close()
  }
}

function prepared(output: Output) {
  const member = memberOf()
  const client = clientOf(member)
  const onBreak = (what: LogBreak) =>
    void output.complain([
      `carabiner: ${visible(breakText(what))}`,
      '  both sides keep the evidence, and shipping goes on in a new chain',
    ])
  /** A list or a policy that does not count is told, and keeps no record from being shipped. */
  const telling = async (work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work()
      return true
    } catch (error) {
      if (error instanceof Unreachable || error instanceof GatewayRefusal) throw error
      await output.complain([`carabiner: ${visible(textOf(error))}`])
      return false
    }
  }
  const learnPeople = (sent?: SignedPeople) => telling(() => fetchPeople(client, member, { sent }))
  const learnPolicy = () =>
    telling(async () => {
      if (!mayFetchPolicy(member)) return
      try {
        await fetchPolicy(client, member)
      } catch (error) {
        // An older gateway has no policy.
        if (error instanceof GatewayRefusal && error.code === 'UNKNOWN_ROUTE') {
          if (member.place.binding) noteFetched(member.place.policy)
          return
        }
        const isOnlyThis = error instanceof GatewayRefusal || error instanceof Unavailable
        throw isOnlyThis ? new Error(`the policy was not fetched: ${textOf(error)}`) : error
      }
    })
  return {
    client,
    learnPeople,
    learnPolicy,
    report: () => sendReport(client, member, output),
    options: { client, machine: member.machine, dataDir: dataHome(), onBreak },
  }
}

async function tellFailures({ failures }: ShipReport, output: Output): Promise<void> {
  for (const one of failures) await output.complain([`carabiner: ${visible(failureText(one))}`])
}

function reportLine({ isBusy, logs, records, breaks }: ShipReport): string {
  if (isBusy) return 'another process ships the records of this user now'
  const rest = breaks.length === 0 ? '' : `; the history broke in ${counted(breaks.length, 'place')}`
  return `${counted(records, 'record')} of ${counted(logs, 'log')} shipped${rest}`
}

async function followed(output: Output, caller: AbortSignal | undefined): Promise<number> {
  const interruption = new Interruption(caller)
  const { signal } = interruption
  const { client, options, learnPeople, learnPolicy, report } = prepared(output)
  let reported = 0
  let failed: unknown
  const mirroring = mirrored(output, signal).catch((error: unknown) => {
    failed = error
  })
  let pause = EVERY_MS
  try {
    while (!signal.aborted) {
      try {
        if (failed) throw failed
        await learnPeople()
        await learnPolicy()
        if (Date.now() - reported >= REPORT_EVERY_MS) {
          await report()
          reported = Date.now()
        }
        const shipped = await ship({ ...options, signal })
        if (shipped.records > 0) await output.print([reportLine(shipped)])
        await tellFailures(shipped, output)
        pause = shipped.failures.length === 0 ? EVERY_MS : Math.min(pause * 2, MOST_MS)
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error
        pause = Math.min(pause * 2, MOST_MS)
        await output.complain([
          `carabiner: ${visible(textOf(error))}; the records wait here`,
          ...(error instanceof Unavailable ? [`  ${UNAVAILABLE}`] : []),
        ])
      }
      await setTimeout(pause, undefined, { signal }).catch(() => {})
    }
    await mirroring
  } finally {
    client.close()
    interruption.end(true)
  }
  return EXIT.ok
}

/** Shows questions to the fleet as they are asked, until the signal is aborted. Has a connection of its own, on which it waits. */
async function mirrored(output: Output, signal: AbortSignal): Promise<void> {
  const { client, learnPeople } = prepared(output)
  const mirror = await openMirror(client, learnPeople, output)
  try {
    for (let isBusy = true; !signal.aborted; isBusy = await mirror.isBusy()) {
      if (isBusy) await mirror.run(signal, (error) => waited(error, signal))
      await setTimeout(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
    }
  } finally {
    client.close()
  }
}

/** Only what may be better later is waited for. */
async function waited(error: unknown, signal: AbortSignal): Promise<void> {
  if (!(error instanceof Unreachable)) throw error
  await setTimeout(EVERY_MS, undefined, { signal }).catch(() => {})
}

/** Stays as long as questions are open. One such process is enough. */
async function questioned(output: Output, caller: AbortSignal | undefined): Promise<number> {
  const folder = mirrorsFolder(stateHome())
  if (isAnybodyWatching(folder)) return EXIT.ok
  const watching = beginWatching(folder)
  const interruption = new Interruption(caller)
  const { signal } = interruption
  const { client, learnPeople } = prepared(output)
  try {
    const mirror = await openMirror(client, learnPeople, output)
    await asked(() => mirror.run(signal, (error) => waited(error, signal)))
  } finally {
    client.close()
    await watching.end()
    interruption.end(true)
  }
  return EXIT.ok
}
