// `carabiner fleet`: many machines, whose records are kept together in PostgreSQL.

import { UnusableMembership } from '../../files/fleet/marker.js'
import { type Command, checkOwners, chosen } from '../command.js'
import { ACTION_GROUPS, ACTION_NAMES, ACTIONS, OWNERS } from '../fleet/actions.js'
import { OPTIONS } from '../fleet/options.js'
import { checkPerson } from '../person.js'
import { EXIT, Refusal, usage } from '../refusal.js'

export const command: Command<typeof OPTIONS> = {
  name: 'fleet',
  summary: 'One policy, audit and approvals for many machines.',
  positionals: ['[ACTION]', '[WHAT]', '[WHICH]', '[CODE]', '[MORE]'],
  completes: [ACTION_NAMES],
  about:
    'Without an action, it says how this machine stands in its fleet. carabiner docs fleet shows the actions in order.',
  actions: ACTION_GROUPS,
  options: OPTIONS,
  exits: [
    [EXIT.ok, 'done'],
    [EXIT.failed, 'it cannot be done, or status, ship or verify found trouble'],
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
    try {
      return await run({ options, words, output, signal: context.signal })
    } catch (error) {
      throw error instanceof UnusableMembership ? new Refusal('FLEET_UNUSABLE', error.message) : error
    }
  },
}
