// Calls that stand in the words of a program that nobody here knows, and git under its other names.

import { wrapperOf } from '../../shell/wrappers.js'
import { isInterpreter } from './code-rule.js'
import { effectsOf } from './file-effects.js'
import type { Call } from './shell-script.js'

/** What is worth a look wherever it stands. */
const DANGEROUS =
  /^(?:rm|rmdir|unlink|shred|rimraf|del-cli|mv|cp|ln|dd|tee|truncate|chmod|chown|find|git|sed|tar|rsync|install|mkfs(?:\..+)?|wipefs|carabiner)$/

/** What they run is on another machine, or in another one's files. */
const ELSEWHERE =
  /^(?:docker|docker-compose|podman|nerdctl|buildah|kubectl|oc|helm|ssh|aws|az|gcloud|gsutil|s3cmd|rclone|mc|adb|vagrant|multipass|lxc|limactl|fly|flyctl|heroku|hg|svn|dvc|npm|pnpm|yarn|cargo|apt|apt-get|brew|pip|pip3|dnf|yum|apk|pacman|gh|glab)$/

export function isDangerous(program: string): boolean {
  return DANGEROUS.test(baseName(program))
}

/** The call, and what it may run. */
export function withInner(given: Call): readonly Call[] {
  const call = asGit(given)
  if (effectsOf(call.name) !== undefined || wrapperOf(call.name) !== undefined) return [call]
  if (ELSEWHERE.test(call.name) && !runsHere(call)) return [call]
  const at = call.args.findIndex(({ text }) => isDangerous(text) || isInterpreter(baseName(text)))
  const program = call.args[at]
  if (!program) return [call]
  const inner = {
    ...call,
    name: baseName(program.text),
    args: call.args.slice(at + 1),
    isInner: true,
    isGuess: true,
  }
  return [call, asGit(inner)]
}

/** `npm exec rimraf ..`, not `npm install rimraf`. */
function runsHere({ name, args }: Call): boolean {
  return /^(?:npm|pnpm|yarn)$/.test(name) && /^(?:exec|x|dlx|run)$/.test(args[0]?.text ?? '')
}

/** `/usr/lib/git-core/git-commit` is `git commit`. */
function asGit(call: Call): Call {
  const [, verb] = /^git-([a-z][a-z-]*)$/.exec(call.name) ?? []
  if (verb === undefined) return call
  return { ...call, name: 'git', args: [{ text: verb, known: true, glob: false }, ...call.args] }
}

function baseName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1)
}
