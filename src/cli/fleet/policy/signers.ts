// `fleet policy signers`: who may sign bundles, roll-outs and trust. The key of the fleet signs each change.

import { didYouMean, visibleName } from '../../../core/base/text.js'
import { readPersonCode } from '../../../files/fleet/people.js'
import type { Signers } from '../../../fleet/policy/metadata.js'
import { SIGNER_ROLES, type Signer, signersWith } from '../../../fleet/policy/signers.js'
import { chosen } from '../../command.js'
import { columns, counted } from '../../print/lines.js'
import { Refusal, usage } from '../../refusal.js'
import type { Given } from '../action.js'
import { atDesk, atSigningDesk, publish } from './desk.js'

const HOW = {
  list: [0, 'signers'],
  add: [2, 'signers add NAME CODE --role policy (carabiner fleet key makes a key and its code)'],
  remove: [1, 'signers remove NAME'],
  threshold: [1, 'signers threshold N'],
} as const

export async function signers(given: Given): Promise<number> {
  const [first = 'list', ...words] = given.words
  const verb = chosen(
    first,
    ['list', 'add', 'remove', 'threshold'] as const,
    'carabiner fleet policy signers has no action',
  )
  const [wanted, how] = HOW[verb]
  if (words.length !== wanted) throw usage(`Type carabiner fleet policy ${how}`)
  if (verb !== 'add' && given.options.role !== undefined) throw usage('--role is for signers add')
  if (verb === 'list') return atDesk(given, async (desk) => listed(given, desk.signers))
  const change = { add: added, remove: removed, threshold: withThreshold }[verb]
  return atSigningDesk(given, async (desk) => {
    const next = change(desk.signers, words, given)
    await publish(desk, { signers: next })
    return listed(given, next, 'machines learn it at their next contact')
  })
}

async function listed(
  { output }: Given,
  { signers, threshold }: Signers,
  ...more: readonly string[]
): Promise<number> {
  return output.result({ signers, threshold }, () => [
    ...columns(
      signers.map(({ name, roles, key }) => [visibleName(name), roles.join(', '), `key ${key.slice(0, 12)}`]),
    ).map((row) => row.join('  ')),
    `a bundle needs ${counted(threshold, 'signature')}; a roll-out and a decision of trust need one`,
    ...more,
  ])
}

function added({ signers, threshold }: Signers, words: readonly string[], { options }: Given): Signers {
  const [name = '', code = ''] = words
  const role = chosen(options.role ?? 'policy', SIGNER_ROLES, '--role has no choice')
  const key = keyOf(code)
  const known = signers.find((one) => one.name === name)
  const owner = signers.find((one) => one.key === key)
  if ((known && known.key !== key) || (owner && owner.name !== name))
    throw new Refusal(
      'PERSON_EXISTS',
      `${visibleName(owner?.name ?? name)} has another name or key on the list`,
      {
        hint: `carabiner fleet policy signers remove ${owner?.name ?? name} removes the old one.`,
      },
    )
  const roles = SIGNER_ROLES.filter((one) => one === role || known?.roles.includes(one))
  const signer: Signer = { name, roles, key }
  return { signers: [...signers.filter((one) => one !== known), signer], threshold }
}

function keyOf(code: string): string {
  try {
    const key = readPersonCode(code)
    if (key.kind === 'ed25519') return key.publicKey
  } catch {
    // Told below.
  }
  throw usage('CODE must be the code that carabiner fleet key printed')
}

function removed({ signers, threshold }: Signers, [name = '']: readonly string[]): Signers {
  const left = signers.filter((one) => one.name !== name)
  if (left.length === signers.length)
    throw new Refusal('UNKNOWN_PERSON', `No signer is called ${JSON.stringify(name)}`, {
      hint: `carabiner fleet policy signers lists them.${didYouMean(
        name,
        signers.map((one) => one.name),
      )}`,
    })
  return checked({ signers: left, threshold })
}

function withThreshold({ signers }: Signers, [text = '']: readonly string[]): Signers {
  if (!/^[1-9]\d?$/.test(text)) throw usage('The threshold must be a number from 1 to 99')
  return checked({ signers, threshold: Number(text) })
}

/** Nobody could publish with fewer. */
function checked(next: Signers): Signers {
  const policy = signersWith(next.signers, 'policy').length
  if (policy < next.threshold)
    throw new Refusal(
      'FLEET_POLICY',
      `A bundle needs ${counted(next.threshold, 'signature')}, and ${counted(policy, 'signer')} would be left`,
      {
        hint: 'Add a signer first, or lower the threshold: carabiner fleet policy signers threshold N.',
      },
    )
  return next
}
