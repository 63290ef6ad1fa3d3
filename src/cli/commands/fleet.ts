// `carabiner fleet`: many machines, whose records are kept together in PostgreSQL.

import { type Command, checkOwners, chosen, type Options } from '../command.js'
import { ACTION_NAMES, ACTIONS, OWNERS } from '../fleet/actions.js'
import { OPTIONS } from '../fleet/options.js'
import { checkPerson } from '../person.js'
import { EXIT, usage } from '../refusal.js'

export type FleetOptions = Options<typeof OPTIONS>

export const command: Command<typeof OPTIONS> = {
  name: 'fleet',
  summary: 'Keep the records of many machines together in PostgreSQL.',
  positionals: ['[ACTION]', '[WHAT]', '[WHICH]', '[CODE]', '[MORE]'],
  completes: [ACTION_NAMES],
  about:
    'For an administrator: init prepares the database, serve runs the gateway, token makes a token for one machine, machines lists them, people says who may answer their questions, policy signs one policy for all of them and rolls it out (build, sign, publish, promote, rollback, renew, signers, rotate, list, diff), trust says which hooks run on every machine without another review and which never do, status --database says which of them do not enforce what they should, audit searches their records, checkpoint signs where they end, audit verify checks them against such checkpoints, audit export writes them to a file that verify checks, too. ' +
    'On a machine: join, leave, ship (sends its records and questions, and fetches answers; sessions do so by themselves), policy fetch, status (the default), shadow (what a policy in shadow mode would have changed). For a person who answers: key makes a key, or shows the code of the one that is there, approvals lists the questions of all machines, answer ID allow (or deny) signs an answer. carabiner docs fleet shows them in order.',
  options: OPTIONS,
  exits: [
    [EXIT.ok, 'done'],
    [EXIT.failed, 'the database, the gateway or the files cannot be used, or refuse'],
  ],
  examples: [
    { does: 'Is this machine in a fleet?', line: 'carabiner fleet' },
    {
      does: 'Join one.',
      line: 'carabiner fleet join https://fleet.example --token cf1…',
      needs: 'a gateway and a token',
    },
  ],
  mayRun: ({ positionals: [name = 'status'] }) => {
    const action = ACTION_NAMES.find((one) => one === name)
    if (action && ACTIONS[action].isPersonal) checkPerson(`carabiner fleet ${action}`)
  },
  async run({ options, positionals: [first = 'status', ...words] }, output, context) {
    const action = chosen(first, ACTION_NAMES, 'carabiner fleet has no action')
    checkOwners('fleet', action, options, OWNERS)
    const { words: most, load } = ACTIONS[action]
    const extra = words[most]
    if (extra !== undefined) throw usage(`carabiner fleet ${action} does not accept ${JSON.stringify(extra)}`)
    const { run } = await load()
    return run({ options, words, output, signal: context.signal })
  },
}
