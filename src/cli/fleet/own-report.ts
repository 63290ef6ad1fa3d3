// What this machine says about itself to its fleet.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { byteLength, cleanText, cutText, visible } from '../../core/base/text.js'
import { companyFolder, companyPolicies } from '../../files/company-folder.js'
import { bundleFolder, readInForce } from '../../files/fleet/policy.js'
import { policyPlace } from '../../files/fleet-places.js'
import { userHome } from '../../files/homes.js'
import { readPlain } from '../../files/plain-file.js'
import { GatewayRefusal } from '../../fleet/gateway-refusal.js'
import { type GatewayClient, Unavailable, Unreachable } from '../../fleet/machine/gateway-client.js'
import type { Member } from '../../fleet/machine/membership.js'
import {
  type AgentReport,
  LONGEST_TEXT,
  LONGEST_USER,
  type MachineReport,
} from '../../fleet/machine-report.js'
import { userFolder } from '../../hosts/setup.js'
import type { Output } from '../output.js'
import { userName } from '../person.js'
import { proofStates } from '../proof-state.js'
import { installedAgents, registeredAgents } from '../setup/installed.js'
import { listedHooks, sourcesOf } from '../sources.js'
import { version } from '../version.js'

/**
 * Says what this machine enforces. A gateway that does not know how to hear it is older. Throws only if the gateway cannot be
 * reached: a report that it does not take must keep nothing else from it.
 */
export async function sendReport(client: GatewayClient, member: Member, output: Output): Promise<void> {
  try {
    await client.ask('report', { body: await ownReport(member) })
  } catch (error) {
    if (error instanceof Unreachable && !(error instanceof Unavailable)) throw error
    if (error instanceof GatewayRefusal && error.code === 'UNKNOWN_ROUTE') return
    await output.complain([
      `carabiner: this machine could not report what it enforces: ${visible(textOf(error))}`,
    ])
  }
}

async function ownReport({ place }: Member): Promise<MachineReport> {
  const policies = companyPolicies(companyFolder())
  const problem = policies.find((one) => one.problem !== undefined)?.problem
  const { policy, gates } = policyOf(place)
  const agents = await agentReports()
  const asks = new Set(agents.filter((one) => one.asks).map(({ name }) => name))
  return {
    user: fitting(userName(), LONGEST_USER),
    carabiner: version,
    time: new Date().toISOString(),
    binding: place.binding,
    ...(policy && { policy }),
    ...(problem !== undefined && { problem: fitting(problem, LONGEST_TEXT) }),
    agents,
    missing: gates.filter((name) => !asks.has(name)),
  }
}

/** Without what the database cannot keep: NUL, and half of a character. */
function fitting(text: string, most: number): string {
  const clean = cleanText(text)
  return byteLength(clean) > most ? cutText(clean, most, '…') : clean
}

const MOST_BYTES = 1024 * 1024

/** What cannot be read is reported as the policy's problem. */
function policyOf(
  place: Member['place'],
): Pick<MachineReport, 'policy'> & { readonly gates: readonly string[] } {
  const own = policyPlace(place)
  const inForce = quietly(() => readInForce(own))
  if (!inForce) return { gates: [] }
  const { rollout, enforced, shadow, expires, signed } = inForce
  return {
    policy: {
      ...{ rollout, expires },
      ...(signed !== undefined && { signed }),
      ...(enforced && { enforced: enforced.version }),
      ...(shadow && { shadow: shadow.version }),
    },
    gates: enforced ? (quietly(() => gatesIn(bundleFolder(own.folder, enforced.digest))) ?? []) : [],
  }
}

function quietly<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** Agents that the policy wants guarded. */
function gatesIn(folder: string): readonly string[] {
  const read = readPlain(join(folder, 'policy.json'), MOST_BYTES)
  if ('problem' in read) throw new Error(read.problem)
  const { gates = [] } = JSON.parse(read.text) as { readonly gates?: unknown }
  return Array.isArray(gates) ? gates.filter((one) => typeof one === 'string') : []
}

async function agentReports(): Promise<readonly AgentReport[]> {
  const asking = (await registeredAgents(false)).map(({ host }) => host.name)
  const installed = await installedAgents()
  const found = installed.map(({ host }) => host.name)
  const unused = installed.filter(({ setup }) => !existsSync(userFolder(setup))).map(({ host }) => host.name)
  const proofs = await proofStates(await listedHooks(sourcesOf(userHome())))
  return [...new Set([...asking, ...found])].sort().map((name) => {
    const proof = proofs.find(({ host }) => host === name)
    return {
      name,
      asks: asking.includes(name),
      ...(unused.includes(name) && { unused: true as const }),
      ...(proof && { proof: { at: proof.at, ok: proof.ok, stale: proof.stale.length > 0 } }),
    }
  })
}
