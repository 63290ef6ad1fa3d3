// Commands that change the scene: the folder, the branch, or the end of the script.

import { posix } from 'node:path'
import { gitCall } from '../git/git-call.js'
import { isSomewhere, ofProcess, SOMEWHERE } from '../paths/absolute-path.js'
import type { Scene } from './scene.js'
import type { Variables } from './variables.js'

/** Every folder of a path is checked. No command goes deeper than this at once. */
const LONGEST = 512

/** The previous branch, which only git knows. */
export const BEFORE = '-'

const MOVING: ReadonlySet<string> = new Set([
  ...['cd', 'chdir', 'pushd', 'popd', 'exit', 'return', 'exec', 'git', 'builtin', 'command'],
])

/** Whether a command of this name may change the scene. */
export function canMove(name: string): boolean {
  return MOVING.has(name)
}

export function moveOf(
  given: readonly string[],
  scene: Scene,
  seen: Scene,
  variables: Variables,
  home: string,
): Scene | 'ends' | undefined {
  const words = /^(?:builtin|command)$/.test(given[0] ?? '') ? given.slice(1) : given
  const [name, ...args] = words
  if (name === 'exit' || name === 'return' || name === 'exec') return endOf(name, args)
  if (name === 'popd') return { ...scene, folders: seen.folders }
  if (name === 'cd' || name === 'chdir' || name === 'pushd') {
    const target = args.find((word) => word === '-' || !/^[-+]./.test(word))
    if (target === '-' || (name === 'pushd' && target === undefined))
      // The shell may have been somewhere else before the script.
      return {
        ...scene,
        folders: seen.folders.size > 1 ? seen.folders : new Set([...seen.folders, SOMEWHERE]),
      }
    return { ...scene, folders: new Set(foldersBehind(target ?? home, scene, variables, home)) }
  }
  if (name !== 'git') return undefined
  const branch = switchedTo(args)
  return branch === undefined ? undefined : { ...scene, branches: new Set([branch]) }
}

/** `exec >file` does not end the script. */
function endOf(name: string, args: readonly string[]): 'ends' | undefined {
  return name === 'exec' && args.length === 0 ? undefined : 'ends'
}

function foldersBehind(
  target: string,
  { folders }: Scene,
  variables: Variables,
  home: string,
): readonly string[] {
  return variables.wordsOf(target, true).flatMap(({ text, known }) => {
    if (!known) return [SOMEWHERE]
    return [...folders].map((folder) => reached(folder, text, home))
  })
}

function reached(folder: string, given: string, home: string): string {
  const text = ofProcess(given, folder)
  if (text.startsWith('/')) return posix.normalize(text)
  if (/^~(?:\/|$)/.test(text)) return posix.normalize(home + text.slice(1))
  if (isSomewhere(folder)) return SOMEWHERE
  const path = posix.normalize(`${folder}/${text}`)
  return path.length > LONGEST ? SOMEWHERE : path
}

/** The branch after `git switch x` or `git checkout -b x`, if it is certain. */
function switchedTo(args: readonly string[]): string | undefined {
  const { verb, args: rest, folders } = gitCall(args)
  if ((verb !== 'checkout' && verb !== 'switch') || folders.length > 0) return undefined
  const made = rest.findIndex((word) => /^(?:-[bBcC]|--(?:create|force-create|orphan))$/.test(word))
  if (made >= 0) return rest[made + 1]
  const operands = rest.filter((word) => word === BEFORE || !word.startsWith('-'))
  if (operands.length === 1 && /^(?:-|@\{-\d+\})$/.test(operands[0] ?? '')) return BEFORE
  // With more words, they are files.
  if (operands.length !== 1 || rest.includes('--') || /[$`*.]/.test(operands[0] ?? '')) return undefined
  return operands[0]
}
