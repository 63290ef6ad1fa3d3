// Rules files: each one becomes a hook. A file that cannot be used closes every tool call, because nobody knows what it guards.

import { sha256 } from '../core/base/digest.js'
import type { Diagnostic } from '../core/base/errors.js'
import { isObject } from '../core/base/json.js'
import { needsTrust } from '../core/hooks/hook.js'
import { fleetPlace } from '../files/fleet-places.js'
import { JsonText } from '../files/json-text.js'
import type { Rules } from '../rules/rule.js'
import type { HookSpec } from '../runners/hook-spec.js'
import type { RulesHandler } from '../runners/rules/rules-hook.js'
import { type ConfigFile, FileOrigin, type Found, type Shape } from './config-file.js'
import type { CommonFields } from './handler.js'
import type { HookDocument } from './hook-document.js'
import type { Merge, Silence } from './merged-settings.js'
import type { Notes } from './notes.js'
import type { Names, Owner } from './owner.js'

export type ConfiguredRules = HookSpec<RulesHandler> & {
  readonly type: 'rules'
  readonly common: CommonFields
  /** The setting that keeps it from running. */
  readonly disabled?: Silence
}

/** Anything goes: the reader of rules reports what is wrong. */
export const rulesShape: Shape = () => undefined

/** In a plugin, another program may use the name. */
export const pluginRulesShape: Shape = (value) =>
  isObject(value) && (Array.isArray(value.rules) || value.preset !== undefined)
    ? undefined
    : { problem: 'has no list of "rules", and is ignored', todo: 'Write {"rules": [ … ]}.' }

/** Undefined if there is no such file. */
export function rulesDocument(owner: Owner, path: string, found: Found): HookDocument | undefined {
  if (found === 'missing') return undefined
  const file = typeof found === 'object' ? found : unreadable(path)
  return { owner, role: 'rules', file, at: null }
}

/** A stand-in, so that the file is not taken for a missing one. */
function unreadable(path: string): ConfigFile {
  return { path, json: new JsonText('{}'), value: UNREADABLE }
}

const UNREADABLE = Symbol('unreadable')

interface Making {
  readonly merge: Merge
  readonly notes: Notes
  readonly names: Names
}

/** The hooks of rules files. The reader is imported on demand, because most people have no rules. */
export async function configureRules(
  documents: readonly HookDocument[],
  making: Making,
): Promise<readonly ConfiguredRules[]> {
  if (documents.length === 0) return []
  const { lostValue, readRules } = await import('../rules/rules-file.js')
  const { redactedTexts } = await import('../rules/presets.js')
  const { TEXT_FIELDS } = await import('../rules/rule.js')
  const { HOST_NAMES } = await import('../hosts/hosts.js')
  const eventsFor = (rules: Rules): ReadonlySet<string> => {
    const texts = redactedTexts(rules)
    const fields = Object.entries(TEXT_FIELDS).filter(([, field]) => texts.has(field.texts))
    return new Set([...PRE_TOOL_USE, ...fields.map(([event]) => event)])
  }
  return documents.map((document) => {
    const { owner, file } = document
    if (file.value === UNREADABLE)
      return configured(document, brokenBy(whyUnread(file.path, making.notes)), PRE_TOOL_USE, making)
    const lost = lostValue(file.json)
    if (lost) {
      const { text, line, todo } = lost
      making.notes.add('config-invalid', text, { path: file.path, line }, { todo })
      return configured(document, brokenBy(`${file.path}:${line}: ${text}.`), PRE_TOOL_USE, making)
    }
    const isOwn = !needsTrust(owner.scope) && owner.place.plugin === undefined
    const { rules, problems } = readRules(file.value, {
      owner: isOwn ? 'user' : 'project',
      now: Date.now(),
      agents: HOST_NAMES,
      isInFleet: () => fleetPlace() !== undefined,
    })
    for (const { text, at, todo, closes, code = 'rule-ignored' } of problems) {
      making.notes.add(closes ? 'config-invalid' : code, text, { file, at }, { todo })
    }
    const first = problems.find(({ closes }) => closes)
    if (first) {
      const todo = first.todo === undefined ? '' : ` ${first.todo}`
      const broken = brokenBy(`${file.path}:${file.json.lineOf(first.at)}: ${first.text}.${todo}`)
      return configured(document, broken, PRE_TOOL_USE, making)
    }
    return configured(document, { ...rules }, eventsFor(rules), making)
  })
}

/** Refuses every tool call because of a problem with another file of the owner, whose hooks are missing. */
export function closedBy(owner: Owner, { file = '', line, text, todo }: Diagnostic, making: Making) {
  const document: HookDocument = { owner, role: 'rules', file: unreadable(file), at: null }
  const why = `${file}:${line ?? 1}: ${text}. ${todo ?? 'Correct the file, or remove it.'}`
  return configured(document, brokenBy(why), PRE_TOOL_USE, making)
}

/** The reader of files has already said what is wrong. */
function whyUnread(path: string, notes: Notes): string {
  const said = notes.all().find((note) => note.file === path)
  if (!said) return `${path} cannot be read. Correct it, or remove it.`
  return `${path}:${said.line}: ${said.text}. ${said.todo ?? 'Correct the file, or remove it.'}`
}

function brokenBy(broken: string): RulesHandler {
  return { rules: [], broken }
}

const PRE_TOOL_USE: ReadonlySet<string> = new Set(['PreToolUse'])
/** Reading a command takes much less. */
const LONGEST_MS = 60_000

function configured(
  { owner, file, at, format = 'amplifier' }: HookDocument,
  handler: RulesHandler,
  events: ReadonlySet<string>,
  { merge, names }: Making,
): ConfiguredRules {
  const content = sha256(`rules ${JSON.stringify(handler)}`)
  const disabled = merge.disabled[owner.scope]
  return {
    type: 'rules',
    hook: {
      id: names.id(owner, 'rules', content.slice(0, 16)),
      name: names.ofProcess(owner, 'rules'),
      kind: 'rules',
      origin: new FileOrigin(owner, file, at, content),
      events,
      matcher: null,
      role: 'intercept',
      priority: 0,
      lane: null,
      detached: false,
      once: false,
      ...(owner.mode && { mode: owner.mode }),
      timeoutMs: LONGEST_MS,
      onFailure: 'block',
    },
    handler,
    common: {},
    place: owner.place,
    env: merge.terms[owner.scope].env,
    format,
    longestMs: LONGEST_MS,
    ...(disabled !== undefined && { disabled }),
  }
}
