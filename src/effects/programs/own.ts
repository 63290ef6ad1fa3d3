// Carabiner itself, under any name and behind any launcher, and switches with which any agent stops asking.

import { posix } from 'node:path'
import { AGENT_PROGRAMS, AGENT_VARIABLES, UNASKED_FLAGS } from '../../files/agent-shell.js'
import { backupPrefix, RESTORE_SCRIPT } from '../../files/homes.js'
import { isBelow, realOf } from '../../files/within.js'
import { fileEffectsOf } from '../files/file-effects.js'
import { ownProgram } from '../own-program.js'
import { absolutePath } from '../paths/absolute-path.js'
import { beginsAt, partsOf } from '../paths/path-overlap.js'
import { type Draft, type Program, plainWords, type Use, verbIndexes } from '../program.js'
import { remembered } from '../remembered.js'
import { runsElsewhere } from '../script/inner-calls.js'
import type { Call, Script } from '../script/shell-script.js'
import { isWild, type Word } from '../script/word.js'

const SETTING: Draft = { kind: 'setting', owner: 'carabiner', place: undefined, sure: true }
/** It changes the guard in a way that users often want. */
const MAYBE: Draft = { ...SETTING, sure: false }

// ---- which command of Carabiner ---------------------------------------------------------------------------------

/** Commands that only print something or run hooks. */
const READING = /^(?:list|explain|doctor|docs|fire|test|audit|schema|completion|help|effects)$/

/** With one of these options, the other commands only print too. */
const TELLING = /^(?:--(?:show|check|dry-run|help)|-h)$/

interface Deciding {
  /** The word that makes the command do so. Undefined: always. */
  readonly only?: RegExp
  /** Only such words remove the guard. Undefined: every use of the command does, or decides what it trusts. */
  readonly sure?: RegExp
}

const ALWAYS: Deciding = {}
const NEVER_SURE = /^(?!)/

/** Commands that decide what may run. */
const DECIDING: Readonly<Record<string, Deciding>> = {
  trust: ALWAYS,
  untrust: ALWAYS,
  install: ALWAYS,
  update: ALWAYS,
  uninstall: ALWAYS,
  disable: ALWAYS,
  remove: ALWAYS,
  enable: { sure: NEVER_SURE },
  setup: { sure: /^--(?:remove|prune|engine|only|without)(?:=|$)/ },
  new: { sure: NEVER_SURE },
  migrate: { only: /^--write$/ },
  approvals: { only: /^(?:allow|deny|revoke|--(?:watch|always|all))(?:=|$)/ },
  hook: { only: /^--unlock$/ },
  catalog: { only: /^(?:add|remove)$/, sure: NEVER_SURE },
  service: { only: /^stop$/ },
  approvers: { only: /^(?:add|remove)$/ },
  learn: { only: /^--write$/ },
}

const isDeciding = (text: string): boolean => Object.hasOwn(DECIDING, text)

/** What the words after `carabiner` do. */
function decided(words: readonly Word[]): readonly Draft[] {
  const first = words.find(({ text }) => !text.startsWith('-'))
  if (first && !first.known)
    return [{ kind: 'unknown', why: 'which Carabiner command it is depends on the running shell' }]
  if (!first || (READING.test(first.text) && !first.either)) return []
  const verb = words.find(({ text }) => isDeciding(text))?.text
  const end = words.findIndex(({ text }) => text === '--')
  const options = end < 0 ? words : words.slice(0, end)
  if (verb === undefined || options.some(({ text, either }) => TELLING.test(text) && !either)) return []
  const { only, sure } = DECIDING[verb] ?? ALWAYS
  const has = (word: RegExp) => words.some(({ text, known }) => !known || word.test(text))
  if (only && !has(only)) return []
  return [!sure || has(sure) ? SETTING : MAYBE]
}

// ---- which program is Carabiner ---------------------------------------------------------------------------------

/** By name alone: `npx carabiner@1`, `npm:carabiner`, `bin/carabiner.js`. */
function isOwn(text: string): boolean {
  return /(?:^|[/:])carabiner(?:\.[cm]?js|@[\w.^~:/-]+)?$/i.test(text)
}

/** No system opens a longer path. */
const LONGEST = 4096

/** Whether it is a file of the package, under any name. */
function isOwnFile(text: string, { folders }: Call, home: string): boolean {
  if (text.length > LONGEST || !/\.[cm]?[jt]s$|^[./~]/.test(text)) return false
  return folders.some((folder) => {
    const path = posix.normalize(absolutePath(text, folder, home))
    const isScript = /\/carabiner(?:\/.*)?\/[^/]+\.[cm]?[jt]s$/
    const real = realOf(path)
    return (
      [path, real].some((one) => isOwn(one) || isScript.test(one)) ||
      ownProgram().some((own) => isBelow(real, own))
    )
  })
}

const MANAGERS = /^(?:npm|pnpm|yarn|bun|brew|volta)$/
const isManager = remembered((name) => MANAGERS.test(name))
const TAKES_AWAY = /^(?:uninstall|remove|rm|un|r|unlink|rb|delete)$/
const TELLS = /^(?:ls|list|view|info|why|outdated)$/
const GETS = /^(?:i|in|install|add|up|update|upgrade|link)$/

function installs(name: string, args: readonly Word[]): boolean {
  return (
    isManager(name) && args.some(({ text }) => TAKES_AWAY.test(text) || TELLS.test(text) || GETS.test(text))
  )
}

/** The words after the name of Carabiner. Undefined for any other program, and for programs that only read or print words. */
function wordsBehind(call: Call, home: string): readonly Word[] | undefined {
  const { name, command, args } = call
  if (fileEffectsOf(name) !== undefined) return undefined
  if (isOwn(name)) return args
  // Looks at links and folders only where it matters.
  const matters = args.some(({ text, known }) => isDeciding(text) || !known)
  if (matters && command.program.includes('/') && !call.isInner && isOwnFile(command.program, call, home))
    return args
  const at = args.findIndex(
    (word, i) =>
      isOwn(word.text) || isHidden(word, args[i + 1]) || (matters && isOwnFile(word.text, call, home)),
  )
  return at < 0 || installs(name, args.slice(0, at)) ? undefined : args.slice(at + 1)
}

/** `node $(which carabiner) trust`. `make -C "$DIR" install` is none. */
function isHidden({ text, known }: Word, next: Word | undefined): boolean {
  if (known || !next) return false
  return /carabiner/i.test(text)
    ? isDeciding(next.text)
    : /^(?:un)?trust$|^approvals$|^setup$/.test(next.text)
}

// ---- every call -------------------------------------------------------------------------------------------------

/** What a call does to Carabiner, whatever program it starts. */
export function onCarabiner({ call, script }: Use, home: string, env: NodeJS.ProcessEnv): readonly Draft[] {
  if (isStopped(call, script)) return [MAYBE]
  const words = wordsBehind(call, home)
  if (words) return hidesAgent(script) ? [SETTING] : decided(words)
  if (isRestoring(call, home, env)) return [SETTING]
  return isReplaced(call) || isTold(call) ? [MAYBE] : []
}

const isStopper = remembered((name) => /^(?:p?kill|killall|skill|taskkill|stop-process)$/i.test(name))
/** Its processes, and the file with their numbers. A folder of that name holds other programs. */
const ITS_PROCESS = /carabiner(?![\w.-]*\/)|^clip(?:\.exe)?$|\.amplifier\/\S*\.(?:pid|lock)\b/i
const FINDS_PROCESSES = /^(?:pgrep|pidof|ps|grep|[ef]grep|lsof|fuser|cat)$/

/** `pkill -f carabiner`, `kill $(pgrep -f carabiner)`, `pgrep carabiner | xargs kill`. */
function isStopped(call: Call, { calls }: Script): boolean {
  if (!isStopper(call.name)) return false
  const names = ({ args }: Call) => args.some(({ text }) => ITS_PROCESS.test(text))
  if (names(call)) return true
  const isOpen = call.isInner || call.args.some(({ known }) => !known)
  return isOpen && calls.some((other) => FINDS_PROCESSES.test(other.name) && names(other))
}

/** `launchctl setenv CARABINER_OFF 1` */
function isTold(call: Call): boolean {
  return (
    fileEffectsOf(call.name) === undefined &&
    !runsElsewhere(call) &&
    call.args.some(({ text }) => /^CARABINER_OFF\b/.test(text))
  )
}

function mayRestore(word: Word): boolean {
  return word.text.length <= LONGEST && (isWild(word) || /restore/i.test(word.text))
}

/** Runs the script in a backup of `carabiner remove`, or gives it to a program that may run it. */
function isRestoring({ name, command, args, folders }: Call, home: string, env: NodeJS.ProcessEnv): boolean {
  if (fileEffectsOf(name) !== undefined) return false
  const program: Word = { text: command.program, known: true, glob: false }
  if (!mayRestore(program) && !args.some(mayRestore)) return false
  const meant = [program, ...args].filter(mayRestore)
  const script = `${backupPrefix(env)}*/${RESTORE_SCRIPT}`
  const scripts = [script, realOf(script)].map(partsOf)
  return meant.some((word) =>
    folders
      .map((folder) => posix.normalize(absolutePath(word.text, folder, home)))
      .flatMap((path) => [path, realOf(path)])
      .map(partsOf)
      .some((parts) =>
        scripts.some((one) => parts.length === one.length && beginsAt(parts, 0, one, isWild(word), true)),
      ),
  )
}

/** Commands that uninstall the package or replace it with another. */
function isReplaced({ name, args }: Call): boolean {
  if (!isManager(name)) return false
  const texts = args.map(({ text }) => text)
  if (!texts.some((text) => isOwn(text) || /(?:^|\/)carabiner$/.test(text))) return false
  const isOther =
    texts.some((text) => /^(?:-g|--global|global|link)$/.test(text)) ||
    texts.some((text) => /carabiner@.*[:/]/.test(text))
  return texts.some((text) => TAKES_AWAY.test(text)) || (isOther && !texts.some((text) => TELLS.test(text)))
}

/** `env -u CLAUDECODE carabiner` removes the variable by which Carabiner knows that an agent runs it. */
function hidesAgent({ text, assignments, calls }: Script): boolean {
  if (!AGENT_VARIABLES.some((mark) => text.includes(mark))) return false
  return (
    assignments.some((one) => AGENT_VARIABLES.some((mark) => one === `${mark}=`)) ||
    calls.some(
      ({ name, args }) =>
        /^(?:env|unset|export|declare|typeset)$/.test(name) &&
        args.some((word) => AGENT_VARIABLES.includes(word.text.replace(/^(?:-\w*u|--unset=)(?=[A-Z])/, ''))),
    )
  )
}

// ---- agents -----------------------------------------------------------------------------------------------------

/** `--dangerously-skip-permissions`, `--yolo`, `--full-auto`, `--trust-all-tools`. */
const UNASKED =
  /^--(?:dangerously-\S+|yolo|full-auto|allow-all-tools|trust-all-tools|allow-dangerously-\S+|approval-mode=(?:yolo|auto\S*)|no-sandbox-approvals|skip-permissions\S*)$/

/** The same, and other settings than the user's, for a program that is known to be an agent. */
const UNGUARDED = /^--(?:dangerously|settings|setting-sources|yolo|allow-all|bare)/

/** Options of agents and the values with which they ask less, or use other settings. */
const LESS_GUARDED: readonly (readonly [option: RegExp, value: RegExp])[] = [
  [/^--permission-mode$/, /^bypassPermissions$/],
  [/^--approval-mode$/, /^(?:yolo|auto\S*)$/],
  [/^(?:-s|--sandbox)$/, /^danger-full-access$/],
  [/^(?:-a|--ask-for-approval)$/, /^never$/],
  [
    /^(?:-c|--config)$/,
    /^(?:hooks|features|approval_policy|sandbox\w*|mcp_servers|projects|notify)\b[\w."-]*\s*=/,
  ],
  [/^--disable$/, /hooks/],
  [/^--allowed-?[tT]ools$/, /(?:^|[\s,])Bash(?:\(:?\*\))?(?:[\s,]|$)/],
  [/^--auto$/, /^(?:medium|high)$/],
]

/** An agent that is started without its questions or its settings, or that changes them. */
export function unasked({ call, texts }: Use): readonly Draft[] {
  const isSo =
    texts.some((text) => text.startsWith('--') && UNASKED.test(text)) ||
    (isAgent(call.name) && (changesSettings(texts) || isLessGuarded(call.name, texts)))
  return isSo ? [{ kind: 'setting', owner: call.name, place: undefined, sure: false }] : []
}

const isAgent = remembered((name) => AGENT_PROGRAMS.includes(name))

function isLessGuarded(name: string, texts: readonly string[]): boolean {
  const flag = UNASKED_FLAGS.get(name)
  return texts.some(
    (text, i) =>
      UNGUARDED.test(text) ||
      flag?.test(text) ||
      LESS_GUARDED.some(([option, value]) => {
        const [, long = '', attached] = /^(--[\w-]+)=(.*)$/s.exec(text) ?? []
        if (attached !== undefined) return option.test(long) && value.test(attached)
        if (option.test(text)) return value.test(texts[i + 1] ?? '')
        // `-anever`, `-a=never`
        return (
          /^-[a-z]./.test(text) &&
          option.test(text.slice(0, 2)) &&
          value.test(text.slice(2).replace(/^=/, ''))
        )
      }),
  )
}

const CHANGES_SETTINGS =
  /^(?:config|plugins?|extensions?|hooks?|mcp)(?: marketplace)? (?:set|add(?:-\S+)?|unset|remove|rm|install|uninstall|enable|disable|link|update|migrate|import|reset-\S+)(?: |$)/

function changesSettings(texts: readonly string[]): boolean {
  return verbIndexes(texts).some((at) => CHANGES_SETTINGS.test(`${plainWords(texts.slice(at)).join(' ')} `))
}

const OF_GUARDS = /^(CARABINER|CLAUDE)_(\w+)(?:=|$)/
/** Where agents look for their settings. */
const OF_SETTINGS = /^(?:HOME|USERPROFILE|XDG_CONFIG_HOME|[A-Z]+_(?:HOME|CONFIG_DIR|CONFIG|CONFIG_HOME))=/

/** Variables that switch hooks, or move what they depend on. For a program that is no agent, most of them change nothing. */
export function setVariables({ assignments, calls }: Script): readonly Draft[] {
  const set = assignments.filter((one) => OF_GUARDS.test(one))
  for (const { name, args } of calls) {
    if (name === 'unset') for (const { text } of args) if (OF_GUARDS.test(text)) set.push(text)
  }
  const moved = movedSettings(assignments, calls)
  if (set.length === 0) return moved
  const isForAgent = calls.some(({ name }) => isAgent(name) || isOwn(name))
  const isKept = calls.some(({ name }) => /^(?:export|declare|typeset|unset)$/.test(name))
  const own = set.flatMap((by): readonly Draft[] => {
    const [, owner, name = ''] = OF_GUARDS.exec(by) ?? []
    const isOwner = owner === 'CARABINER'
    const matters = isOwner ? name === 'OFF' || (isKept && KEPT.test(name)) : isKept
    if (!isForAgent && !matters) return []
    return [
      { kind: 'setting', owner: isOwner ? 'carabiner' : 'claude-code', place: undefined, sure: false, by },
    ]
  })
  return [...own, ...moved]
}

/** Variables of Carabiner that change what later commands are guarded by. */
const KEPT = /^(?:HOME|SERVICE|DISABLED?)$/

/** `HOME=/tmp/x claude`: an agent without the settings of its user. */
function movedSettings(assignments: readonly string[], calls: readonly Call[]): readonly Draft[] {
  const agent = calls.find(({ name, isGuess }) => isAgent(name) && !isGuess)
  if (!agent) return []
  const words = calls.flatMap(({ name, args }) => (name === 'env' ? args.map(({ text }) => text) : []))
  const by = [...assignments, ...words].find((one) => OF_SETTINGS.test(one) && !OF_GUARDS.test(one))
  return by === undefined ? [] : [{ kind: 'setting', owner: agent.name, place: undefined, sure: false, by }]
}

export const OWN_PROGRAMS: readonly Program[] = [
  {
    names: ['carabiner'],
    // Read for every call, because it has many names.
    effects: () => [],
    examples: [
      { command: 'carabiner disable guard', effects: [{ kind: 'setting', owner: 'carabiner' }] },
      { command: 'npx carabiner@1 trust --yes', effects: [{ kind: 'setting', owner: 'carabiner' }] },
      {
        command: 'node node_modules/carabiner/dist/bin/carabiner.js trust',
        effects: [{ kind: 'setting', owner: 'carabiner' }],
      },
      { command: 'env -u CLAUDECODE carabiner list', effects: [{ kind: 'setting', owner: 'carabiner' }] },
      { command: 'npm uninstall -g carabiner', effects: [{ kind: 'setting', owner: 'carabiner' }] },
      { command: 'CARABINER_OFF=1 make', effects: [{ kind: 'setting', owner: 'carabiner' }] },
      { command: 'CARABINER_HOME=/tmp/x npm test', effects: [] },
      { command: 'CARABINER_HOME=/tmp/x claude', effects: [{ kind: 'setting', owner: 'carabiner' }] },
      { command: 'agent --yolo', effects: [{ kind: 'setting', owner: 'agent' }] },
      { command: 'HOME=/tmp/x claude -p go', effects: [{ kind: 'setting', owner: 'claude' }] },
      { command: 'export CARABINER_HOME=/tmp/x', effects: [{ kind: 'setting', owner: 'carabiner' }] },
      {
        command: 'claude -p --permission-mode=bypassPermissions x',
        effects: [{ kind: 'setting', owner: 'claude' }],
      },
      { command: 'claude -p --permission-mode plan x', effects: [] },
      { command: 'aider --yes-always -m x', effects: [{ kind: 'setting', owner: 'aider' }] },
      { command: 'claude --debug mcp add x -- node x.js', effects: [{ kind: 'setting', owner: 'claude' }] },
      { command: 'claude mcp list', effects: [] },
      { command: 'pkill -f carabiner', effects: [{ kind: 'setting', owner: 'carabiner' }] },
      { command: 'kill $(pgrep -f carabiner)', effects: [{ kind: 'setting', owner: 'carabiner' }] },
      { command: 'pgrep -f carabiner | xargs kill', effects: [{ kind: 'setting', owner: 'carabiner' }] },
      { command: 'pgrep -f vite | xargs kill', effects: [] },
      { command: 'pkill -f carabiner/node_modules/.bin/vite', effects: [] },
      { command: 'carabiner approvers add CODE', effects: [{ kind: 'setting', owner: 'carabiner' }] },
      { command: 'carabiner learn --write', effects: [{ kind: 'setting', owner: 'carabiner' }] },
      { command: 'carabiner learn', effects: [] },
      { command: 'carabiner list', effects: [] },
      { command: 'carabiner trust --show', effects: [] },
      { command: 'carabiner setup --dry-run', effects: [] },
    ],
  },
]
