// `carabiner hook NAME`: the command in a host's settings file that answers an event, and the lock that keeps an agent going.

import { textOf } from '../../core/base/errors.js'
import { callerEnv } from '../../files/caller.js'
import { userHome } from '../../files/homes.js'
import { projectDirOf } from '../../files/which-project.js'
import type { HostAnswer } from '../../hosts/host.js'
import { HOST_NAMES } from '../../hosts/hosts.js'
import { PACK_NAMES, type PackName, packName } from '../../hosts/pack-names.js'
import { endLockMode, lockModeOf, setLockMode } from '../../pack/lock-mode.js'
import { type PackRun, runPackHook } from '../../pack/run-pack-hook.js'
import { openState, type PackState } from '../../pack/state.js'
import { type Command, chosen, type Given, helpFor, type Options, secondsOf } from '../command.js'
import type { Output } from '../output.js'
import { checkPerson } from '../person.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { version } from '../version.js'

const OPTIONS = {
  as: {
    type: 'string',
    value: 'AGENT',
    completes: HOST_NAMES,
    help: 'The agent that asks, if its payload does not say so.',
  },
  timeout: { type: 'string', value: 'SECONDS', help: 'When to give up, before the agent does.' },
  memory: { type: 'boolean', help: 'Remember this session, and recall the one before.' },
  lock: { type: 'boolean', help: 'With stop: keep the agent of this project going.' },
  unlock: { type: 'boolean', help: 'With stop: let it stop again.' },
  goal: { type: 'string', value: 'TEXT', help: 'With --lock: what to tell the agent.' },
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'hook',
  summary: 'Run a hook of the standard pack (for settings files).',
  positionals: ['NAME'],
  completes: [PACK_NAMES],
  about: `Reads an event from standard input, and answers in the format of the agent that sent it. NAME is one of ${PACK_NAMES.join(', ')}. carabiner setup writes these commands into settings files.`,
  options: OPTIONS,
  examples: [
    {
      does: 'What is added to a prompt?',
      line: `echo '{"prompt":"Fix it"}' | carabiner hook workflow-classification-reminder 2>/dev/null`,
    },
    {
      does: 'Keep the agent going until the tests pass.',
      line: 'carabiner hook stop --lock --goal "All tests pass."',
    },
    { does: 'Let it stop again.', line: 'carabiner hook stop --unlock' },
  ],
  exits: [
    [0, 'answered; the answer is on standard output'],
    [2, 'blocked, or the guard could not decide'],
  ],
  mayRun({ options }) {
    if (options.unlock) checkPerson('Unlocking an agent')
  },
  async run(given, output, { stdin }) {
    const name = nameIn(given)
    const { lock, unlock, goal, memory } = given.options
    if (lock || unlock || goal !== undefined) return changeLock(name, given, output)
    const how = { memory, ...askedBy(given.options) }
    if (stdin !== undefined) return answerTo(name, { ...how, stdin }, output)
    await runPackHook(name, PROGRAM, how)
    return Number(process.exitCode ?? EXIT.ok)
  },
}

function askedBy({ as, timeout }: Options<typeof OPTIONS>): Pick<PackRun, 'host' | 'timeout'> {
  const seconds = secondsOf('timeout', timeout)
  return {
    ...(as !== undefined && { host: chosen(as, HOST_NAMES, 'There is no agent') }),
    ...(seconds !== undefined && { timeout: seconds }),
  }
}

const PROGRAM = { script: process.argv[1] ?? '', version }

/** Without standard input of its own, a hook does not end the process either. */
async function answerTo(name: PackName, how: PackRun, output: Output): Promise<number> {
  let answer: HostAnswer = { stdout: '', exit: EXIT.failed }
  await runPackHook(name, PROGRAM, { ...how, answered: (given) => (answer = given) })
  if (answer.stdout) await output.print([answer.stdout.trimEnd()])
  if (answer.stderr) await output.complain([answer.stderr.trimEnd()])
  return answer.exit
}

function nameIn({ positionals: [word] }: Given<typeof OPTIONS>): PackName {
  if (word === undefined)
    throw usage(`carabiner hook needs a name: ${PACK_NAMES.join(', ')}`, helpFor('hook'))
  return packName(word) ?? chosen(word, PACK_NAMES, 'There is no hook')
}

// ---- the lock -------------------------------------------------------------------------------------------------

async function changeLock(
  name: PackName,
  { options: { lock, unlock, goal } }: Given<typeof OPTIONS>,
  output: Output,
): Promise<number> {
  if (name !== 'stop') throw usage('--lock, --unlock and --goal are for carabiner hook stop', helpFor('hook'))
  if (lock === unlock) throw usage('Use either --lock or --unlock', helpFor('hook'))
  if (unlock && goal !== undefined) throw usage('--goal goes with --lock', helpFor('hook'))
  const projectDir = projectDirOf(undefined, callerEnv(), userHome())
  const state = openState({ projectDir })
  if (lock && lockModeOf(state) !== undefined) checkPerson('Changing a lock')
  const said = lock ? locked(state, projectDir, goal) : unlocked(state, projectDir)
  return output.result({ project: projectDir, locked: lock, ...(goal && { goal }) }, () => [said])
}

function locked(state: PackState, projectDir: string, goal: string | undefined): string {
  attempt(() => setLockMode(state, Date.now(), goal))
  return `Locked: the agent in ${projectDir} keeps going. To let it stop: carabiner hook stop --unlock`
}

function unlocked(state: PackState, projectDir: string): string {
  const was = lockModeOf(state) !== undefined
  attempt(() => endLockMode(state))
  return was ? `Unlocked: the agent in ${projectDir} may stop.` : `${projectDir} was not locked.`
}

function attempt(work: () => unknown): void {
  try {
    work()
  } catch (error) {
    throw new Refusal('STATE_FAILED', `The lock could not be changed: ${textOf(error)}`, {
      hint: 'Set CARABINER_HOME to keep Carabiner’s files in another folder.',
    })
  }
}
