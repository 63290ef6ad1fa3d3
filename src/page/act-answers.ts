// Acts of a person on the page: whatever may loosen is signed with a passkey, for exactly that act and a short time.

import { textOf } from '../core/base/errors.js'
import type { Data } from '../core/base/json.js'
import { visible } from '../core/base/text.js'
import { challengeFor, PAGE_HOST, signerOf } from '../store/approvals/signature.js'
import { localPasskeys } from '../store/approvers.js'
import type { ChangeEntry } from '../store/audit-log.js'
import { type Answers, NotAnswered, textIn } from './answers.js'
import { OpenOnce, type OpenOne } from './open-once.js'
import { signatureIn, signersIn } from './passkeys.js'
import type { ActChallengeView, ActDoneView } from './view/passkeys.js'

/** An act as the server understood it, before anybody agreed to it. */
export interface PreparedAct {
  /** Everything that would make it another act. The passkey signs this. */
  readonly signed: Data & { readonly what: string }
  /** Afterwards hooks can only refuse or ask more than before, and nothing else runs: the cookie is enough. */
  readonly onlyTightens: boolean
  /** Does it, or throws if what it is about has changed since. Resolves to what goes on record. */
  readonly run: (by: string) => Promise<Omit<ChangeEntry, 'kind' | 'time' | 'by' | 'signed'>>
}

/** By name. Each reads the body that the page sent, and throws NotAnswered for one that makes no sense. */
export type Acts = Readonly<Record<string, (body: unknown) => Promise<PreparedAct>>>

export interface ActOptions {
  readonly acts: Acts
  /** Puts a change on record. Resolves to a problem, if there is one. */
  readonly record: (entry: ChangeEntry) => Promise<string | undefined>
  /** Who acts without a passkey. */
  readonly by: string
  /** Default: the list of this machine. */
  readonly approversFile?: string
}

export function actAnswers({ acts, record, by, approversFile }: ActOptions): Answers {
  const open = new OpenOnce<PreparedAct>()
  const prepared = (body: unknown) => {
    const what = textIn(body, 'what', 20)
    const act = Object.hasOwn(acts, what) ? acts[what] : undefined
    if (!act) throw new NotAnswered(400, 'There is no such act')
    return act(body)
  }
  const done = async (act: PreparedAct, who: Pick<ChangeEntry, 'by' | 'signed'>): Promise<ActDoneView> => {
    const entry = await act.run(who.by).catch((error: unknown) => {
      throw error instanceof NotAnswered ? error : new NotAnswered(409, visible(textOf(error)))
    })
    const problem = await record({ kind: 'change', time: new Date().toISOString(), ...entry, ...who })
    return { by: visible(who.by), ...(problem !== undefined && { problem: visible(problem) }) }
  }
  return {
    'POST api/act/challenge': async ({ body }): Promise<ActChallengeView> => {
      const passkeys = localPasskeys(signersIn(approversFile))
      const one = open.begin(await prepared(body))
      const { nonce, expires } = one
      return { challenge: challengeOf(one), nonce, expires, host: PAGE_HOST, passkeys }
    },
    'POST api/act': async ({ body, origin }) => {
      const { approvers } = signersIn(approversFile)
      const signature = signatureIn(body)
      const one = open.end(signature.nonce)
      const signer = await signerOf(signature, challengeOf(one), approvers, origin).catch(
        (error: unknown) => {
          throw new NotAnswered(403, `This was not done: ${visible(textOf(error))}`)
        },
      )
      return done(one.value, { by: signer.name, signed: true })
    },
    'POST api/act/tighten': async ({ body }) => {
      const act = await prepared(body)
      if (!act.onlyTightens) throw new NotAnswered(403, 'Only a passkey can do this here')
      return done(act, { by })
    },
  }
}

function challengeOf({ value, nonce, expires }: OpenOne<PreparedAct>): string {
  return challengeFor({ ...value.signed, nonce, expires })
}
