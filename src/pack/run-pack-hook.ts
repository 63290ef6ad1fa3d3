// Runs one hook of the pack as a program: builds its context, prints its answer and adds messages to the user.

import type { HookInput } from '../author/hook-input.js'
import { type HookHandlers, type RunHookOptions, runJudging } from '../author/run-hook.js'
import { keepSecret, secretsIn } from '../core/base/secrets.js'
import { type HookResult, proceed } from '../core/events/result.js'
import { callerEnv } from '../files/caller.js'
import { companyFolder, companyPolicies, enforcedIn } from '../files/company-folder.js'
import { readyForPolicies } from '../files/fleet-files.js'
import { userHome } from '../files/homes.js'
import { foldersAround } from '../files/project-folders.js'
import { projectDirOf, startsOf } from '../files/which-project.js'
import type { PackName } from '../hosts/pack-names.js'
import { withMessages } from './answer.js'
import { bypassOf } from './bypass.js'
import {
  envProblems,
  movesSettings,
  projectEnvOf,
  takeBack,
  unreadProblems,
  withoutCode,
} from './deciding-variables.js'
import { PACK } from './index.js'
import type { PackHook, ThisProgram } from './pack-hook.js'
import { readSettings } from './settings.js'
import { openState } from './state.js'

export interface PackRun extends Pick<RunHookOptions, 'stdin' | 'answered' | 'host' | 'timeout'> {
  /** Whether the hook remembers sessions, unless the user's settings say otherwise. */
  readonly memory?: boolean
}

/** Reads standard input, prints the answer and ends the process, unless `how` replaces these. */
export async function runPackHook(
  name: PackName,
  program: ThisProgram,
  { memory = false, ...how }: PackRun = {},
): Promise<void> {
  const hook = await PACK[name]()
  const env = callerEnv()
  keepSecret(secretsIn(env))
  const handler = (input: HookInput) => answerOf(hook, input, { env, program, memory })
  const handlers: HookHandlers = Object.fromEntries(
    [hook.event, ...(hook.also ?? [])].map((event) => [event, handler]),
  )
  // The guard sees what a whole call deletes; the others only keep a record of it.
  const judged = hook.event === 'PreToolUse' ? 'both' : 'whole'
  const options = { name, event: hook.event, onFailure: hook.onFailure ?? 'open', ...how }
  await runJudging(judged, handlers, options)
  // Nothing is left to do after the answer, and another turn of the event loop might start with a garbage collection.
  if (!how.answered) process.exit()
}

interface Started {
  readonly env: NodeJS.ProcessEnv
  readonly program: ThisProgram
  readonly memory: boolean
}

async function answerOf(
  hook: PackHook,
  input: HookInput,
  { env, program, memory }: Started,
): Promise<HookResult | undefined> {
  const set = projectEnvOf(input.cwd, env, userHome())
  const unread = unreadProblems(set, env)
  takeBack(env, set)
  const home = userHome()
  // After that, because a project may say where the user's files are.
  const place = companyFolder()
  await readyForPolicies(place.fleet)
  const company = enforcedIn(companyPolicies(place))
  const bypass = bypassOf(env, home, { found: set, company })
  if (bypass?.on) return proceed({ userMessage: bypass.message, userMessageLevel: 'warning' })
  const projectDir = projectDirOf(input.cwd, env, home)
  const told = [...envProblems(hook.event === 'SessionStart' ? set : withoutCode(set)), ...unread]
  const around = foldersAround(startsOf(input.cwd, env, home), [home])
  const read = readSettings(home, projectDir, around, memory || hook.remembers === true, company)
  const isMoved = movesSettings(set) || unread.length > 0
  const settings = isMoved ? { ...read, unreadable: read.unreadable ?? told.join('; ') } : read
  const state = openState({ projectDir, env })
  const surroundings = { projectDir, home, settings, state, env }
  const result = await hook.run(input, { ...surroundings, now: Date.now, program })
  return withMessages(result, [
    ...(bypass ? [bypass.message] : []),
    ...told,
    ...settings.problems,
    ...state.problems,
  ])
}
