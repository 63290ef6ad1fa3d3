// The way in: a person of the fleet proves their passkey; somebody new makes one, for the administrator to put on the list.

import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import { personName } from '../../files/fields.js'
import { personCode, readPersonCode } from '../../files/fleet/people.js'
import { challengeFor, publicKeyIn, signerOf, UnlistedKey } from '../../store/approvals/signature.js'
import { NotAnswered, textIn } from '../answers.js'
import { signatureIn } from '../passkeys.js'
import type { MeView, SignInView } from '../view/fleet.js'
import type { FleetAnswers } from './asked.js'
import type { Challenges } from './challenges.js'
import type { Visitor, Visitors } from './visitors.js'

export interface SignInOptions {
  readonly visitors: Visitors
  readonly challenges: Challenges
  /** `https://fleet.example` */
  readonly origin: string
  readonly org: string
}

const SIGN_IN = { what: 'fleet-sign-in' } as const
const ENROL = { what: 'fleet-enrol' } as const

export function signInAnswers({ visitors, challenges, origin, org }: SignInOptions): FleetAnswers {
  const host = new URL(origin).hostname
  const me = ({ name, role }: Pick<Visitor, 'name' | 'role'>): MeView => ({ name: visible(name), role, org })
  return {
    'GET api/me': { role: 'viewer', answer: async ({ visitor }) => me(visitor) },
    'POST api/sign-in/challenge': {
      answer: async (): Promise<SignInView> => {
        const nonce = await challenges.begin(SIGN_IN)
        // The passkeys are not named: strangers would learn who is on the list.
        return { challenge: challengeFor({ ...SIGN_IN, origin, nonce }), nonce, host, passkeys: [] }
      },
    },
    'POST api/sign-in': {
      answer: async ({ body, setCookie }) => {
        const signature = signatureIn(body)
        const { nonce } = signature
        await challenges.check(nonce, SIGN_IN)
        const owners = await visitors.owners()
        const approvers = owners.map(({ person: { name }, key }) => ({ name, key }))
        const challenge = challengeFor({ ...SIGN_IN, origin, nonce })
        const { key } = await signerOf(signature, challenge, approvers, origin).catch(refused)
        const owner = owners.find((one) => one.key === key)
        if (!owner) throw new NotAnswered(403, STRANGER)
        await challenges.use(nonce)
        setCookie(await visitors.begin(owner.key.id))
        return me(owner.person)
      },
    },
    'POST api/sign-out': {
      role: 'viewer',
      answer: async ({ visitor, body }) => {
        await visitors.end(visitor, (body as { everywhere?: unknown } | null)?.everywhere === true)
        return {}
      },
    },
    'POST api/passkey/challenge': {
      answer: async () => ({ challenge: challengeOfNew(await challenges.begin(ENROL)), host }),
    },
    'POST api/passkey': {
      answer: async ({ body }) => {
        const challenge = textIn(body, 'challenge', 200)
        const [name, id] = [textIn(body, 'name', 100).trim(), textIn(body, 'id', 1024)]
        await challenges.check(nonceOfNew(challenge), ENROL)
        const made = {
          id,
          attestationObject: textIn(body, 'attestationObject', 32_768),
          clientDataJSON: textIn(body, 'clientDataJSON'),
        }
        try {
          personName(name, 'Your name')
          const publicKey = await publicKeyIn(made, { challenge, origin, rpId: host })
          const code = personCode({ kind: 'passkey', id, publicKey, rpId: host, origin })
          readPersonCode(code)
          const typed = /\s/.test(name) ? `'${name}'` : name
          return { command: `carabiner fleet people add ${typed} ${code} --role approver` }
        } catch (error) {
          throw new NotAnswered(400, `This passkey cannot be used: ${visible(textOf(error))}`)
        }
      },
    },
  }
}

/** The browser decodes a challenge, so the nonce itself cannot be one. */
function challengeOfNew(nonce: string): string {
  return Buffer.from(nonce).toString('base64url')
}

function nonceOfNew(challenge: string): string {
  return Buffer.from(challenge, 'base64url').toString()
}

const STRANGER =
  'This passkey is not on the list of the fleet. An administrator adds it with carabiner fleet people add.'

function refused(error: unknown): never {
  throw new NotAnswered(
    403,
    error instanceof UnlistedKey ? STRANGER : `You are not signed in: ${visible(textOf(error))}`,
  )
}
