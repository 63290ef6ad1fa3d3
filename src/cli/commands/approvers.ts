// `carabiner approvers`: the people whose passkeys may allow calls on this machine.

import { textOf } from '../../core/base/errors.js'
import { didYouMean, visibleName } from '../../core/base/text.js'
import {
  APPROVERS_FILE,
  type LocalApprover,
  readApprovers,
  readEnrolment,
  writeApprovers,
} from '../../store/approvers.js'
import { type Command, chosen } from '../command.js'
import { checkPerson } from '../person.js'
import { columns } from '../print/lines.js'
import { Refusal, usage } from '../refusal.js'

const OPTIONS = {} as const
const ACTIONS = ['list', 'add', 'remove'] as const

export const command: Command<typeof OPTIONS> = {
  name: 'approvers',
  summary: 'List or change who may allow calls with a passkey.',
  positionals: ['[ACTION]', '[WHAT]'],
  completes: [ACTIONS],
  about:
    `ACTION is list (the default), add CODE or remove NAME. The list is ${APPROVERS_FILE}, which only root can change, so that an agent cannot add itself. The page of carabiner open makes a passkey and shows the CODE. ` +
    'As soon as the list exists, a call is allowed only with one of its passkeys: typing does not allow it, and grants do not count. ' +
    'Removing the last person removes the list.',
  options: OPTIONS,
  exits: [
    [0, 'listed or changed'],
    [1, 'nobody is called that, or the list cannot be read or written'],
  ],
  examples: [{ does: 'Show who may allow.', line: 'carabiner approvers' }],
  mayRun: ({ positionals: [action = 'list'] }) => {
    if (action !== 'list') checkPerson('Deciding who may allow calls')
  },
  async run({ positionals: [first = 'list', what] }, output) {
    const action = chosen(first, ACTIONS, 'carabiner approvers has no action')
    if (action === 'list') {
      if (what !== undefined) throw usage('carabiner approvers list takes no name')
      const approvers = listed()
      return output.result({ approvers: approvers ?? [] }, () => listLines(approvers))
    }
    if (what === undefined)
      throw usage(`Type carabiner approvers ${action === 'add' ? 'add CODE' : 'remove NAME'}`)
    if (action === 'add') {
      const name = added(what)
      return output.result({ added: name }, () => [
        `${visibleName(name)} may allow calls, and nobody without a passkey may`,
      ])
    }
    const name = removed(what)
    const rest = listed() ? '' : '; the list is empty, so people allow by typing again'
    return output.result({ removed: name }, () => [`${visibleName(name)} may no longer allow calls${rest}`])
  },
}

function listed(): readonly LocalApprover[] | undefined {
  try {
    return readApprovers()
  } catch (error) {
    throw new Refusal('STORE_UNUSABLE', textOf(error))
  }
}

function listLines(approvers: readonly LocalApprover[] | undefined): readonly string[] {
  if (!approvers) return ['no list of approvers: people allow calls by typing carabiner approvals allow ID']
  return columns(approvers.map(({ name, id }) => [visibleName(name), `passkey ${id.slice(0, 12)}`])).map(
    (row) => row.join('  '),
  )
}

function added(code: string): string {
  const approver = enrolled(code)
  const others = (listed() ?? []).filter(({ id }) => id !== approver.id)
  if (others.some(({ name }) => name === approver.name))
    throw new Refusal('APPROVER_EXISTS', `There is another passkey of ${visibleName(approver.name)}`, {
      hint: `Choose another name on the page, or type: sudo carabiner approvers remove ${visibleName(approver.name)}`,
    })
  write([...others, approver], `add ${code}`)
  return approver.name
}

function enrolled(code: string): LocalApprover {
  try {
    return readEnrolment(code)
  } catch (error) {
    throw usage(`The code ${textOf(error)}`, 'Copy it whole from the page of carabiner open.')
  }
}

function removed(name: string): string {
  const approvers = listed() ?? []
  const left = approvers.filter((one) => one.name !== name)
  if (left.length === approvers.length) {
    const names = approvers.map((one) => one.name)
    throw new Refusal(
      'UNKNOWN_APPROVER',
      `Nobody on the list is called ${visibleName(name)}${didYouMean(name, names)}`,
      {
        hint: 'carabiner approvers lists the names.',
      },
    )
  }
  write(left, `remove ${JSON.stringify(name)}`)
  return name
}

function write(approvers: readonly LocalApprover[], typed: string): void {
  try {
    writeApprovers(approvers)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const isRights = code === 'EACCES' || code === 'EPERM'
    throw new Refusal('STORE_UNUSABLE', `${APPROVERS_FILE} cannot be written: ${textOf(error)}`, {
      ...(isRights && { hint: `Only root may change it: sudo carabiner approvers ${typed}` }),
    })
  }
}
