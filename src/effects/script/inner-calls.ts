// Calls inside the arguments of an unknown program, and git under its other names.

import { fileEffectsOf } from '../files/file-effects.js'
import { remembered } from '../remembered.js'
import { wrapperOf } from '../shell/wrappers.js'
import { isInterpreter } from './program-code.js'
import type { Call } from './shell-script.js'

/** Programs that are judged wherever their name occurs. */
const NAMES =
  'rm|rmdir|unlink|shred|rimraf|del-cli|mv|cp|ln|dd|tee|truncate|chmod|chown|find|git|sed|tar|rsync|install|mkfs(?:\\.\\w+)?|wipefs|carabiner|remove_directory|trash-cli'
const DANGEROUS = new RegExp(`^(?:${NAMES})$`)

/** Programs that run commands on another machine, or on another file system. */
const ELSEWHERE =
  /^(?:docker|docker-compose|podman|nerdctl|buildah|kubectl|oc|helm|ssh|aws|az|gcloud|gsutil|s3cmd|rclone|mc|adb|vagrant|multipass|lxc|limactl|fly|flyctl|heroku|hg|svn|dvc|npm|pnpm|yarn|cargo|apt|apt-get|brew|pip|pip3|dnf|yum|apk|pacman|gh|glab)$/

export const isDangerous = remembered((program) => DANGEROUS.test(baseName(program)))

/** Words that are judged as a program even among the arguments of another one. */
const isProgram = remembered((word) => isDangerous(word) || isInterpreter(baseName(word)))

/** Each occurrence of such a program in a text with its arguments, up to the next quote, bracket or end. */
export function linesIn(text: string, isCode: boolean): readonly string[] {
  const flat = text.replace(/["'](?:\s{1,9}|\s{0,9},\s{0,9})["']/g, ' ')
  const lines = flat.matchAll(new RegExp(`(?<![\\w.-])(?:${NAMES})\\s[^"'\`)}\\]\\n;|&\\\\]{0,1000}`, 'g'))
  return [...lines]
    .map(([line]) => (isCode ? withTarget(line.replace(/\{.*$/s, '')) : line))
    .slice(0, MOST_LINES)
}

const MOST_LINES = 50

/** `'rm -rf ' + x`: the code appends the rest. */
function withTarget(line: string): string {
  return /^rm(?:\s+-\S+)*\s*$/.test(line) && /\s-\w*r/i.test(line) ? `${line} "$UNKNOWN"` : line
}

const isElsewhere = remembered((name) => ELSEWHERE.test(name))

export function runsElsewhere(call: Call): boolean {
  return isElsewhere(call.name) && !runsHere(call)
}

/** The call, and what it may run. */
export function withInner(given: Call): readonly Call[] {
  const call = byItsName(given)
  // On some systems, `script` runs the words after its file.
  if (
    fileEffectsOf(call.name) !== undefined ||
    (wrapperOf(call.name) !== undefined && call.name !== 'script') ||
    runsElsewhere(call)
  )
    return [call]
  const at = call.args.findIndex(({ text }) => isProgram(text))
  const program = call.args[at]
  if (!program) return [call]
  const inner = {
    ...call,
    name: baseName(program.text),
    args: call.args.slice(at + 1),
    isInner: true,
    isGuess: true,
  }
  return [call, byItsName(inner)]
}

/** `npm exec rimraf ..`, not `npm install rimraf`. */
function runsHere({ name, args }: Call): boolean {
  return /^(?:npm|pnpm|yarn)$/.test(name) && /^(?:exec|x|dlx|run)$/.test(args[0]?.text ?? '')
}

/** `/usr/lib/git-core/git-commit` is `git commit`, `hub` forwards to git, and `grm` is GNU's `rm` on other systems. */
function byItsName(call: Call): Call {
  const { name, verb } = ownName(call.name)
  if (name === call.name) return call
  if (verb === undefined) return { ...call, name }
  return { ...call, name, args: [{ text: verb, known: true, glob: false }, ...call.args] }
}

const ownName = remembered((name): { readonly name: string; readonly verb?: string } => {
  if (name === 'hub') return { name: 'git' }
  // On case-insensitive disks, `RM` is `rm`.
  const small = name.toLowerCase()
  if (small !== name && DANGEROUS.test(small)) return { name: small }
  const own = /^g(?=[a-z])/.test(name) && fileEffectsOf(name) === undefined ? name.slice(1) : ''
  if (DANGEROUS.test(own)) return { name: own }
  const [, verb] = /^git-([a-z][a-z-]*)$/.exec(name) ?? []
  return verb === undefined ? { name } : { name: 'git', verb }
})

/** The name without its folder, and without a version for npx. */
function baseName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1).replace(/(?<=.)@.*$/, '')
}
