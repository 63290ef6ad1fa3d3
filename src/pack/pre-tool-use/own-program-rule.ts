// Carabiner's own commands that decide for the user or take the guard away, and those by which agents change their settings.

import { join } from 'node:path'
import { realOf } from '../../state/within.js'
import { effectsOf, isReader } from './file-effects.js'
import { asked, denied, type Finding } from './finding.js'
import { runsElsewhere } from './inner-calls.js'
import type { Places } from './places.js'
import type { Call, Script } from './shell-script.js'
import type { Word } from './word.js'

const DECIDING = /^(?:trust|untrust|approvals?|setup)$/

/** These only tell something. */
const READING = /^(?:list|explain|fire|hook|help|audit)$/
/** Of approvals. */
const ANSWERING = /^(?:allow|deny|revoke|--(?:watch|always|all)(?:=.*)?)$/
const TELLING = /^(?:--(?:show|dry-run|help)|-h)$/

const REMOVING =
  /^(?:--remove|--prune|--engine|--uninstall|--unlock|--off|--disable|uninstall|remove|unlock|disable)(?:=|$)/

export function ownProgramFindings(call: Call, places: Places): Finding[] {
  const words = wordsBehind(call, places)
  if (words) return decided(words)
  return [...replaced(call), ...ofAgents(call)]
}

/** What Carabiner is called with; undefined for another program. What only reads or prints words runs none. */
function wordsBehind(call: Call, places: Places): readonly Word[] | undefined {
  const { name, command, args } = call
  if (effectsOf(name) !== undefined) return undefined
  if (isOwn(name)) return args
  // Only where it matters are links and folders looked at.
  const matters = args.some(({ text, known }) => DECIDING.test(text) || REMOVING.test(text) || !known)
  if (matters && command.program.includes('/') && !call.isInner && isOwnFile(command.program, call, places))
    return args
  // `node $(which carabiner) trust`
  const isHidden = (word: Word, i: number) => !word.known && DECIDING.test(args[i + 1]?.text ?? '')
  const at = args.findIndex(
    (word, i) => isOwn(word.text) || isHidden(word, i) || (matters && isOwnFile(word.text, call, places)),
  )
  return at < 0 || installs(name, args.slice(0, at)) ? undefined : args.slice(at + 1)
}

function decided(words: readonly Word[]): Finding[] {
  const texts = words.map(({ text }) => text)
  const first = words.find(({ text }) => !text.startsWith('-'))
  const verb = texts.find((text) => DECIDING.test(text))
  const end = texts.indexOf('--')
  const options = end < 0 ? texts : texts.slice(0, end)
  if (texts.some((text) => REMOVING.test(text))) return [kept('takes the guard away')]
  if (first && !first.known)
    return [asked('not-understood', 'Only the running shell knows which command of Carabiner this is.')]
  if (verb === undefined || READING.test(first?.text ?? '') || options.some((text) => TELLING.test(text)))
    return []
  if (verb === 'setup')
    return [asked('self-protection', '`carabiner setup` changes settings of agents. Let the user do it.')]
  const isList =
    verb.startsWith('approval') && !words.some((word) => !word.known || ANSWERING.test(word.text))
  return isList ? [] : [kept('decides for the user what may run here')]
}

function kept(what: string): Finding {
  return denied(
    'self-protection',
    `This command of Carabiner ${what}, so no agent gives it. Tell the user what to type, and let them do it.`,
  )
}

/** By its name alone: `npx carabiner@1`, `npm:carabiner`, `bin/carabiner.js`. */
function isOwn(text: string): boolean {
  return /(?:^|[/:])carabiner(?:\.[cm]?js|@[\w.^~:/-]+)?$/i.test(text)
}

/** A file of the package, by whichever name, or of the program that runs this guard. */
function isOwnFile(text: string, { folders }: Call, places: Places): boolean {
  if (!/\.[cm]?[jt]s$|^[./~]/.test(text)) return false
  return folders.some((folder) => {
    const path = join(places.absolute(text, folder))
    const isScript = /\/carabiner(?:\/.*)?\/[^/]+\.[cm]?[jt]s$/
    const real = realOf(path)
    return [path, real].some((one) => isOwn(one) || isScript.test(one)) || places.isOwnProgram(real)
  })
}

const MANAGERS = /^(?:npm|pnpm|yarn|bun|brew|volta)$/

function installs(name: string, args: readonly Word[]): boolean {
  return (
    MANAGERS.test(name) &&
    args.some(({ text }) =>
      /^(?:i|in|install|add|ls|list|view|info|why|up|update|upgrade|link|outdated|uninstall|remove|rm|un|r|unlink|rb|delete)$/.test(
        text,
      ),
    )
  )
}

/** The package goes, or another takes its place. */
function replaced({ name, args }: Call): Finding[] {
  const texts = args.map(({ text }) => text)
  if (!MANAGERS.test(name) || !texts.some((text) => isOwn(text) || /(?:^|\/)carabiner$/.test(text))) return []
  const goes = texts.some((text) => /^(?:uninstall|remove|rm|un|r|unlink|rb|delete)$/.test(text))
  const isOther =
    texts.some((text) => /^(?:-g|--global|global|link)$/.test(text)) ||
    texts.some((text) => /carabiner@.*[:/]/.test(text))
  const tells = texts.some((text) => /^(?:ls|list|view|info|why|outdated)$/.test(text))
  if (!goes && (!isOther || tells)) return []
  return [asked('self-protection', `\`${name}\` would take Carabiner's guard away. Let the user do it.`)]
}

const AGENTS =
  /^(?:claude|codex|gemini|qwen|copilot|cursor-agent|opencode|crush|droid|kiro-cli|amp|kimi|auggie)$/

/** Their own commands write the settings that no other may write; and an agent without its hooks has no guard. */
function ofAgents({ name, args }: Call): Finding[] {
  if (!AGENTS.test(name)) return []
  const [first = '', second = ''] = args.map(({ text }) => text)
  const changes =
    /^(?:config|plugins?|extensions?|hooks?)$/.test(first) &&
    /^(?:set|add|unset|remove|rm|install|uninstall|enable|disable|link|update|migrate)$/.test(second)
  const unguarded = args.some(({ text }) =>
    /^--(?:dangerously|settings|setting-sources|yolo|allow-all|bare)/.test(text),
  )
  if (!changes && !unguarded) return []
  return [
    asked(
      'self-protection',
      `\`${name}\` is told to change its settings, or to run without them. Let the user do it.`,
    ),
  ]
}

/** The switch that leaves all hooks out: for what is started, in a file that is read at every start, or told to another program. */
export function switchedOffFindings({ text, assignments, outputs, calls }: Script): Finding[] {
  if (!text.includes('CARABINER_OFF')) return []
  const isSet = assignments.some((one) => /^CARABINER_OFF=./.test(one)) && calls.length > 0
  const isKept = outputs.some(({ words }) => words.some((word) => STARTED.test(word.text)))
  const isTold = calls.some(
    (call) =>
      effectsOf(call.name) === undefined &&
      !runsElsewhere(call) &&
      call.args.some((word) => /^CARABINER_OFF\b/.test(word.text)),
  )
  const isEdited = calls.some(
    (call) =>
      call.name !== 'git' && !isReader(call.name) && call.args.some((word) => STARTED.test(word.text)),
  )
  if (!isSet && !isKept && !isTold && !isEdited) return []
  return [asked('self-protection', '`CARABINER_OFF` switches the guard off. Let the user decide about that.')]
}

/** What shells and other programs read when they start. */
const STARTED = /(?:^|\/)\.[\w.-]*(?:rc|profile|login|env|zshenv)$|(?:^|\/)(?:environment|profile)$/
