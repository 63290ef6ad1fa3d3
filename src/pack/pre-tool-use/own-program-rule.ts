// Carabiner commands that decide for the user or remove the guard, and commands with which agents change their own settings.

import { join } from 'node:path'
import { fileEffectsOf, isReader } from '../../effects/files/file-effects.js'
import { runsElsewhere } from '../../effects/script/inner-calls.js'
import type { Call, Script } from '../../effects/script/shell-script.js'
import type { Word } from '../../effects/script/word.js'
import { AGENT_VARIABLES } from '../../files/agent-shell.js'
import { realOf } from '../../files/within.js'
import { asked, denied, type Finding } from './finding.js'
import type { Places } from './places.js'
import { LEFT_TO_USER, STARTED, UNGUARDING } from './protected-paths.js'

/** Commands that only print something or run hooks. */
const READING = /^(?:list|explain|doctor|docs|fire|test|audit|schema|completion|help)$/
/** With one of these options, the other commands only print too. */
const TELLING = /^(?:--(?:show|check|dry-run|help)|-h)$/

interface Deciding {
  /** Applies only if a word matches. Undefined: always. */
  readonly only?: RegExp
  readonly finding: Finding
}

const FOR_THE_USER = { finding: kept('decides what may run here') }
const TAKEN_AWAY = kept('removes the guard')
const RESTORED = kept('restores what the user trusted before')

/** The findings for all other commands. The first that applies is used. */
const DECIDING: Readonly<Record<string, readonly Deciding[]>> = {
  trust: [FOR_THE_USER],
  untrust: [FOR_THE_USER],
  install: [FOR_THE_USER],
  update: [FOR_THE_USER],
  migrate: [{ ...FOR_THE_USER, only: /^--write$/ }],
  approvals: [{ ...FOR_THE_USER, only: /^(?:allow|deny|revoke|--(?:watch|always|all))(?:=|$)/ }],
  uninstall: [{ finding: TAKEN_AWAY }],
  disable: [{ finding: TAKEN_AWAY }],
  remove: [{ finding: TAKEN_AWAY }],
  hook: [{ finding: TAKEN_AWAY, only: /^--unlock$/ }],
  setup: [
    { finding: TAKEN_AWAY, only: /^--(?:remove|prune|engine|only|without)(?:=|$)/ },
    { finding: left("`carabiner setup` changes agents' settings") },
  ],
  enable: [{ finding: left('`carabiner enable` turns on hooks that the user turned off') }],
  catalog: [
    { finding: left('`carabiner catalog` changes where plugins come from'), only: /^(?:add|remove)$/ },
  ],
  new: [{ finding: left('`carabiner new` creates a hook that counts as trusted') }],
}

const isDeciding = (text: string): boolean => Object.hasOwn(DECIDING, text)

export function ownProgramFindings(call: Call, places: Places): Finding[] {
  const words = wordsBehind(call, places)
  if (words) return decided(words)
  if (isRestoring(call, places)) return [RESTORED]
  return [...replaced(call), ...ofAgents(call)]
}

/** Runs the script in a backup of `carabiner remove`, or gives it to a program that may run it. */
function isRestoring({ name, command, args, folders }: Call, places: Places): boolean {
  if (fileEffectsOf(name) !== undefined) return false
  const program = { text: command.program, known: true, glob: false }
  return [program, ...args].some((word) => places.isRestoring(word, folders))
}

/** The arguments of a call to Carabiner. Undefined for any other program, and for programs that only read or print words. */
function wordsBehind(call: Call, places: Places): readonly Word[] | undefined {
  const { name, command, args } = call
  if (fileEffectsOf(name) !== undefined) return undefined
  if (isOwn(name)) return args
  // Looks at links and folders only where it matters.
  const matters = args.some(({ text, known }) => isDeciding(text) || !known)
  if (matters && command.program.includes('/') && !call.isInner && isOwnFile(command.program, call, places))
    return args
  // `node $(which carabiner) trust`
  const isHidden = ({ text, known }: Word, i: number) => {
    const next = args[i + 1]?.text ?? ''
    // `make -C "$DIR" install` is not a Carabiner command.
    return (
      !known && (/carabiner/i.test(text) ? isDeciding(next) : /^(?:un)?trust$|^approvals$|^setup$/.test(next))
    )
  }
  const at = args.findIndex(
    (word, i) => isOwn(word.text) || isHidden(word, i) || (matters && isOwnFile(word.text, call, places)),
  )
  return at < 0 || installs(name, args.slice(0, at)) ? undefined : args.slice(at + 1)
}

function decided(words: readonly Word[]): Finding[] {
  const first = words.find(({ text }) => !text.startsWith('-'))
  if (first && !first.known)
    return [
      asked('not-understood', 'Which Carabiner command this is depends on the running shell. Write it out.'),
    ]
  if (!first || (READING.test(first.text) && !first.either)) return []
  const verb = words.find(({ text }) => isDeciding(text))?.text ?? ''
  const end = words.findIndex(({ text }) => text === '--')
  const options = end < 0 ? words : words.slice(0, end)
  if (options.some(({ text, either }) => TELLING.test(text) && !either)) return []
  const found = DECIDING[verb]?.find(
    ({ only }) => !only || words.some(({ text, known }) => !known || only.test(text)),
  )
  return found ? [found.finding] : []
}

function kept(what: string): Finding {
  return denied(
    'self-protection',
    `This Carabiner command ${what}, which only the user may do. Tell the user what to type.`,
  )
}

function left(what: string): Finding {
  return asked('self-protection', `${what}. Let the user do it.`)
}

/** Recognises Carabiner by name alone: `npx carabiner@1`, `npm:carabiner`, `bin/carabiner.js`. */
function isOwn(text: string): boolean {
  return /(?:^|[/:])carabiner(?:\.[cm]?js|@[\w.^~:/-]+)?$/i.test(text)
}

/** Whether it is a file of the package, under any name, or of the program that runs this guard. */
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

/** Commands that uninstall the package or replace it with another. */
function replaced({ name, args }: Call): Finding[] {
  const texts = args.map(({ text }) => text)
  if (!MANAGERS.test(name) || !texts.some((text) => isOwn(text) || /(?:^|\/)carabiner$/.test(text))) return []
  const goes = texts.some((text) => /^(?:uninstall|remove|rm|un|r|unlink|rb|delete)$/.test(text))
  const isOther =
    texts.some((text) => /^(?:-g|--global|global|link)$/.test(text)) ||
    texts.some((text) => /carabiner@.*[:/]/.test(text))
  const tells = texts.some((text) => /^(?:ls|list|view|info|why|outdated)$/.test(text))
  if (!goes && (!isOther || tells)) return []
  return [asked('self-protection', `\`${name}\` would remove Carabiner's guard. Let the user do it.`)]
}

const AGENTS =
  /^(?:claude|codex|gemini|qwen|copilot|cursor-agent|opencode|crush|droid|kiro-cli|amp|kimi|auggie)$/

/** An agent's own commands can write its protected settings, and an agent started without hooks has no guard. */
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
      `\`${name}\` would change the settings of an agent, or start it without them. Let the user do it.`,
    ),
  ]
}

/** CARABINER_OFF and similar variables: set for a program, in a file that is read at every start, or passed to another program. */
export function switchedOffFindings({ text, assignments, outputs, calls }: Script): Finding[] {
  const [name] = UNGUARDING.exec(text) ?? []
  if (name === undefined) return []
  const isOff = text.includes('CARABINER_OFF')
  const isForAgent =
    assignments.some((one) => UNGUARDING.test(one)) && calls.some((call) => AGENTS.test(call.name))
  const isSet = assignments.some((one) => /^CARABINER_OFF=./.test(one)) && calls.length > 0
  const isKept = outputs.some(({ words }) => words.some((word) => STARTED.test(word.text)))
  const isTold = calls.some(
    (call) =>
      fileEffectsOf(call.name) === undefined &&
      !runsElsewhere(call) &&
      call.args.some((word) => /^CARABINER_OFF\b/.test(word.text)),
  )
  const isEdited = calls.some(
    (call) =>
      call.name !== 'git' && !isReader(call.name) && call.args.some((word) => STARTED.test(word.text)),
  )
  if (!isSet && !isKept && !isTold && !isEdited && !isForAgent) return []
  if (!isOff) return [asked('self-protection', `\`${name}\` ${LEFT_TO_USER}`)]
  return [asked('self-protection', '`CARABINER_OFF` turns the guard off. Let the user decide that.')]
}

/** `env -u CLAUDECODE carabiner` removes the variable by which Carabiner knows that an agent runs it. */
export function hiddenAgentFindings({ text, assignments, calls }: Script, places: Places): Finding[] {
  if (!AGENT_VARIABLES.some((mark) => text.includes(mark))) return []
  const isEmptied = assignments.some((one) => AGENT_VARIABLES.some((mark) => one === `${mark}=`))
  const isUnset = calls.some(
    ({ name, args }) =>
      /^(?:env|unset|export|declare|typeset)$/.test(name) &&
      args.some((word) => AGENT_VARIABLES.includes(word.text.replace(/^(?:-\w*u|--unset=)(?=[A-Z])/, ''))),
  )
  if (!isEmptied && !isUnset) return []
  return calls.some((call) => wordsBehind(call, places)) ? [kept('hides that an agent runs it')] : []
}
