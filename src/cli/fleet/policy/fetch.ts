// `fleet policy fetch`: this machine gets the policy of its fleet now, and says what it enforces.

import { textOf } from '../../../core/base/errors.js'
import { localTime } from '../../../core/base/time.js'
import { expiryText, hasTrusted, type InForce } from '../../../files/fleet/policy.js'
import { GatewayRefusal } from '../../../fleet/gateway-refusal.js'
import { Unreachable } from '../../../fleet/machine/gateway-client.js'
import { fetchPolicy, mayFetchPolicy, type PolicyFetch } from '../../../fleet/machine/policy.js'
import { Refusal } from '../../refusal.js'
import { type Given, memberOf, withGateway } from '../action.js'
import { isOfFile } from '../failure.js'
import { sendReport } from '../own-report.js'
import { refusingPolicy } from './desk.js'

export async function fetched({ output }: Given): Promise<number> {
  const member = memberOf()
  if (!mayFetchPolicy(member))
    throw new Refusal('FLEET_POLICY', `Only root may write to ${member.place.policy}`, {
      hint: 'sudo carabiner fleet policy fetch',
    })
  const done = await withGateway(member, async (client) => {
    const fetched = await refusingOwn(member.place.policy, () => fetchPolicy(client, member))
    await sendReport(client, member, output)
    return fetched
  })
  return output.result(done, () => [policyLine(done)])
}

/** Errors of the gateway are told by `withGateway`. */
async function refusingOwn<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof GatewayRefusal || error instanceof Unreachable) throw error
    if (isOfFile(error))
      throw new Refusal('FLEET_POLICY', `The policy cannot be written: ${textOf(error)}`, {
        hint: `Nothing was changed; this machine still has what it had. Check the rights of ${folder}, and the space on its disk, and type the command again.`,
      })
    return refusingPolicy(() => Promise.reject(error))
  }
}

/** One line for a person. */
function policyLine({ status, inForce, ring }: PolicyFetch): string {
  if (status === 'busy') return 'another process fetches the policy now'
  if (!inForce) return 'the fleet has no policy'
  const where = ring === undefined ? '' : ` (ring ${ring})`
  return policyText(inForce, `${where}${status === 'same' ? ', as before' : ''}`)
}

export function policyText(inForce: InForce, more = ''): string {
  const { enforced, shadow, expires, signed } = inForce
  const enforces = enforced ? `version ${enforced.version} is in force` : 'no version is in force'
  const tries = shadow ? `, version ${shadow.version} is tried` : ''
  const news = signed === undefined ? '' : `the newest from the fleet was signed ${localTime(signed)}, and `
  const past = expiryText(inForce)
  const lapsed = hasTrusted(inForce) ? '; what reviewers of the fleet trusted no longer counts' : ''
  const holds = past === undefined ? `${news}it holds until ${localTime(expires)}` : `${past}${lapsed}`
  return `${enforces}${tries}${more}; ${holds}`
}
