// What is downloaded and then run: through a pipe, a substitution, or a file.

import type { Effect } from '../effect.js'
import { absolutePath } from '../paths/absolute-path.js'
import { hostOf, plainPath, plainWords } from '../program.js'
import { remembered } from '../remembered.js'
import { isInterpreter } from './program-code.js'
import type { Call, Script } from './shell-script.js'

const SHELLS = /^(?:(?:ba|da|z|k|mk|a|rba|ya|fi|c|tc)?sh|eval|source|\.|at|batch|crontab)$/

const isRunner = remembered((name) => SHELLS.test(name) || isInterpreter(name))

/** Whether a call runs what it is given. */
function runs({ name }: Call): boolean {
  return isRunner(name)
}

/** Tells of each call whether another one runs its output. */
export function runByOther({ calls }: Script): (call: Call) => boolean {
  const runners = calls.filter(runs)
  if (runners.length === 0) return () => false
  const sources = new Set(
    runners.flatMap(({ readsFrom }) => readsFrom.map(({ node, command }) => node ?? command)),
  )
  const words = runners.flatMap(wordsRun)
  return ({ node, command }) => {
    if (sources.has(node ?? command)) return true
    const { source } = command
    return source !== undefined && words.some((word) => word.includes(source) && word !== source)
  }
}

/** Substitutions among the words that are run: `<(…)`, `-c "$(…)"`, `eval …`. */
function wordsRun({ name, args }: Call): readonly string[] {
  const texts = args.map(({ text }) => text)
  if (name === 'eval') return texts.filter(isSubstituted)
  const end = texts.findIndex((text) => !text.startsWith('-'))
  return texts.slice(0, end + 1).filter(isSubstituted)
}

function isSubstituted(text: string): boolean {
  return /[<$]\(|`/.test(text)
}

/** The same effects. A download into a file that is run later is marked. */
export function runFiles(
  effects: readonly Effect[],
  { calls, outputs }: Script,
  { home }: { readonly home: string },
): readonly Effect[] {
  if (!effects.some(({ kind }) => kind === 'fetch')) return effects
  const run = new Set(calls.flatMap((call) => filesRun(call, home)))
  const unpacks =
    calls.some(({ name }) => UNPACKERS.test(name)) &&
    calls.some(({ command }) => /^\.{0,2}\/?[^/]+\//.test(command.program))
  const redirected = outputs.flatMap(({ words, folders }) =>
    words.flatMap(({ text }) => folders.map((folder) => plainPath(absolutePath(text, folder, home)))),
  )
  const names = new Set(calls.map(({ name }) => name))
  // `tee /usr/local/bin/x` writes what another call downloads.
  const written = effects.flatMap((one) => (one.kind === 'write' ? [one.place.path] : []))
  const isRun = (path: string) =>
    run.has(path) || (/\/bin\//.test(path) && names.has(path.slice(path.lastIndexOf('/') + 1)))
  const cloned = calls.flatMap((call) => clonedFolders(call, home))
  const started = [...run, ...calls.flatMap((call) => foldersBuilt(call, home))]
  const runsCloned = [...cloned, ...mirrored(calls, home)].some((folder) =>
    started.some((path) => path === folder || path.startsWith(`${folder}/`)),
  )
  if (!unpacks && !runsCloned && ![...redirected, ...written].some(isRun)) return effects
  return effects.map((one) => (one.kind === 'fetch' && !one.runs ? { ...one, runs: true } : one))
}

/** Programs that run code of the folder where they start, with these words. */
const BUILDERS: Readonly<Record<string, RegExp>> = {
  make: /^/,
  gmake: /^/,
  just: /^/,
  npm: /^(?:i|install|ci|run|start|test|exec)(?: |$)/,
  pnpm: /^(?:i|install|run|start|test|exec)(?: |$)/,
  yarn: /^/,
  bun: /^(?:i|install|run|start)(?: |$)/,
  pip: /^install(?: |$)/,
  uv: /^(?:sync|run|pip install)(?: |$)/,
  poetry: /^(?:install|run)(?: |$)/,
  pipx: /^(?:install|run)(?: |$)/,
  cargo: /^(?:install|run|build|test)(?: |$)/,
  go: /^(?:run|install|generate)(?: |$)/,
  composer: /^(?:install|update)(?: |$)/,
  bundle: /^(?:install|exec)(?: |$)/,
  gradlew: /^/,
  mvn: /^/,
  cmake: /^/,
  docker: /^(?:build|compose (?:up|build))(?: |$)/,
  terraform: /^(?:init|apply)(?: |$)/,
  code: /^/,
}

/** The folders whose code a call runs: where it starts, and those that it names. */
function foldersBuilt({ name, args, folders }: Call, home: string): readonly string[] {
  const words = Object.hasOwn(BUILDERS, name) ? BUILDERS[name] : BUILDERS[name.replace(/\d$/, '')]
  const texts = args.map(({ text }) => text)
  const plain = plainWords(texts)
  if (!words?.test(plain.join(' ')) || texts.includes('--ignore-scripts')) return []
  const named = texts
    .filter((text) => /^(?:-C|-B|-e)?[./~\w]/.test(text))
    .map((text) => text.replace(/^-[CBe]/, ''))
  return folders.flatMap((folder) => [
    plainPath(folder),
    ...named.map((text) => plainPath(absolutePath(text, folder, home))),
  ])
}

/** `wget -r https://example.org/bin/` makes a folder `example.org`. */
function mirrored(calls: readonly Call[], home: string): readonly string[] {
  return calls
    .filter(({ name, args }) => name === 'wget' && args.some(({ text }) => MIRRORS.test(text)))
    .flatMap(({ args, folders }) =>
      args.flatMap(({ text }) => {
        const host = /^(?:https?|ftp):/.test(text) ? hostOf(text) : undefined
        return host === undefined ? [] : folders.map((one) => plainPath(absolutePath(host, one, home)))
      }),
    )
}

const MIRRORS = /^-\w*[rmx]|^--(?:recursive|mirror|force-directories)$/

/** `git clone ADDRESS [FOLDER]` */
function clonedFolders({ name, args, folders }: Call, home: string): readonly string[] {
  const texts = args.map(({ text }) => text)
  const at = name === 'git' || name === 'gh' ? texts.indexOf('clone') : -1
  if (at < 0) return []
  const [address, given] = plainWords(texts.slice(at + 1), CLONE_VALUED)
  const own = address
    ?.replace(/\/+$/, '')
    .replace(/^.*[/:]/, '')
    .replace(/\.git$/, '')
  const folder = given ?? own
  return folder ? folders.map((one) => plainPath(absolutePath(folder, one, home))) : []
}

const CLONE_VALUED =
  /^(?:-[bcojCu]|--(?:branch|config|origin|jobs|depth|reference|template|filter|upload-pack))$/

const UNPACKERS = /^(?:(?:bsd|g)?tar|unzip|7z[az]?|gunzip|cpio|unrar)$/

function filesRun(call: Call, home: string): readonly string[] {
  const { program } = call.command
  const operand = runs(call) ? call.args.find(({ text }) => !text.startsWith('-'))?.text : undefined
  const names = [
    ...(program.includes('/') || call.isInner ? [program] : []),
    ...(operand === undefined ? [] : [operand]),
  ]
  return names.flatMap((name) => call.folders.map((folder) => plainPath(absolutePath(name, folder, home))))
}
