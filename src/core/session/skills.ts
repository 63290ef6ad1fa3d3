// Hooks of skills. They exist from `skill:loaded` to `skill:unloaded`, in one session and its subagents.

import { type Diagnostic, HookError } from '../base/errors.js'
import { frozenCopy, isObject, type Json, sameJson } from '../base/json.js'
import type { MaybePromise } from '../base/promise.js'
import { shown } from '../base/text.js'
import { type Engine, HookList, type Layers } from './engine.js'
import type { SessionContext } from './session-context.js'
import { hasHooks, type SessionState, type Skill, type Skills } from './session-store.js'

const LOADED = 'skill:loaded'
const UNLOADED = 'skill:unloaded'
const MOST_SKILLS = 100
/** Characters of JSON for all of them together, because they are stored with the session's state. */
const LARGEST_TOTAL = 256 * 1024
const LONGEST_NAME = 200
const ABSOLUTE = /^(?:\/|[A-Za-z]:[\\/])/
const LARGEST_HOOKS = 128 * 1024

export function isSkillEvent(event: string): boolean {
  return event === LOADED || event === UNLOADED
}

/**
 * Loads or unloads a skill. Loaded again from the same folder, it replaces its earlier hooks. A skill of the same name from
 * elsewhere is kept beside it, because a project must not remove a gate of the user. Rejects instead of silently losing
 * hooks.
 */
export async function changeSkills(session: SessionContext, event: string, data: object): Promise<void> {
  const { store, info } = session
  const given = data as Readonly<Record<string, unknown>>
  const name = nameOf(event, given.skill_name)
  const { skill_directory: directory } = given
  const isMeant = (one: Skill) =>
    one.name === name && (directory === undefined || one.directory === directory)
  const brings = event === LOADED && given.hooks !== undefined && given.hooks !== null
  const skill = brings ? read(name, given) : event === LOADED ? withoutHooks(name, directory) : undefined
  // Without hooks and a folder it could be any skill of that name, and must not remove their gates.
  if (event === LOADED && !skill) return
  const { failures } = store
  let full = false
  await store.update(info.id, (now) => {
    const others = now.skills.filter((one) => !isMeant(one))
    full = skill !== undefined && !hasRoom([...others, skill])
    if (full || (!skill && others.length === now.skills.length)) return now
    return { ...now, skills: skill ? [...others, skill] : others }
  })
  if (full) throw invalid('too many skills with hooks are loaded already; unload one first (skill:unloaded)')
  if (brings && skill && store.failures > failures) throw unkept(name, store.takeFailures())
}

/** The user may have trusted hooks that the skill once had, and expects them. */
function withoutHooks(name: string, directory: unknown): Skill | undefined {
  return isFolder(directory) ? { name, directory, hooks: {} } : undefined
}

function isFolder(directory: unknown): directory is string {
  return typeof directory === 'string' && ABSOLUTE.test(directory) && !directory.includes('\0')
}

/** Otherwise its gate would be missing at the next event. */
function unkept(name: string, failures: readonly Diagnostic[]): HookError {
  const why = failures.map(({ text }) => text).join('; ')
  return new HookError('STORE_FAILED', `the hooks of the skill ${shown(name)} cannot be stored: ${why}`)
}

function hasRoom(skills: readonly Skill[]): boolean {
  return skills.filter(hasHooks).length <= MOST_SKILLS && JSON.stringify(skills).length <= LARGEST_TOTAL
}

/** The skill in a payload of `skill:loaded`. Throws PAYLOAD_INVALID. */
export function loadedSkill(data: Readonly<Record<string, unknown>>): Skill {
  return read(nameOf(LOADED, data.skill_name), data)
}

function nameOf(event: string, name: unknown): string {
  if (typeof name === 'string' && name !== '' && name.length <= LONGEST_NAME) return name
  throw invalid(`${event} needs skill_name, a string of 1 to ${LONGEST_NAME} characters, got ${shown(name)}`)
}

function read(name: string, { hooks, skill_directory: directory }: Readonly<Record<string, unknown>>): Skill {
  if (!isObject(hooks)) throw invalid(`${LOADED} needs hooks, an object of events, got ${shown(hooks)}`)
  if (!isFolder(directory)) {
    throw invalid(`${LOADED} needs skill_directory, an absolute path, got ${shown(directory)}`)
  }
  const copy = frozenCopy(hooks, 'the hooks of the skill')
  if (JSON.stringify(copy).length > LARGEST_HOOKS) {
    throw invalid(`the hooks of the skill ${shown(name)} are larger than ${LARGEST_HOOKS / 1024} KiB`)
  }
  return { name, directory, hooks: copy }
}

function invalid(text: string): HookError {
  return new HookError('PAYLOAD_INVALID', text)
}

/** The hooks of the skills that are loaded in one session, as a layer on top of its other hooks. */
export class SkillLayer {
  readonly list = new HookList()
  readonly #engine: Engine
  #loaded: Skills = { skills: [], lost: '' }
  #madeFor = -1
  #waiting = 0
  #queue: Promise<void> = Promise.resolve()
  #base: Layers | undefined
  #layers: Layers | undefined

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /**
   * Rebuilds them if the loaded skills or the files changed; the files' settings apply to skills too. Updates run one after
   * another: an event must wait for the hooks of its skills, and a later event has newer information.
   */
  use(state: Skills): MaybePromise<void> {
    if (this.#waiting === 0 && this.#isMade(state)) return undefined
    this.#waiting++
    const done = this.#queue.then(() => this.#make(state)).finally(() => this.#waiting--)
    this.#queue = done.catch(() => undefined)
    return done
  }

  #isMade({ skills, lost }: Skills): boolean {
    const isNew = this.#engine.configured.version !== this.#madeFor
    return !isNew && lost === this.#loaded.lost && sameSkills(skills, this.#loaded.skills)
  }

  async #make(state: Skills): Promise<void> {
    if (this.#isMade(state)) return
    const { version } = this.#engine.configured
    const { hooks, problems } = await this.#engine.skillHooks(state)
    this.list.replace(hooks, problems)
    this.#loaded = state
    this.#madeFor = version
  }

  over(base: Layers): Layers {
    if (this.#base !== base) this.#layers = base.with(this.list)
    this.#base = base
    return this.#layers as Layers
  }
}

function sameSkills(a: readonly Skill[], b: readonly Skill[]): boolean {
  return a === b || sameJson(a as unknown as Json, b as unknown as Json)
}

/** The skills in force. A subagent has those of its session. */
export function skillsOf({ key, info, store }: SessionContext, own: SessionState): MaybePromise<Skills> {
  return key === info.id ? own : store.load(info.id)
}
