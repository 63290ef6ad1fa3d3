// The folders and branches that each command of a script may run in: follows `cd` and `git switch` through && and ||.

import { type Command, forEachChild, type Redirect, type SyntaxNode } from 'unbash'
import { SOMEWHERE } from '../paths/absolute-path.js'
import { assignedWord, wordOf } from '../shell/simple-command.js'
import type { Mover, Scene } from './scene.js'
import { canMove } from './scene-moves.js'

/** The scene after a command that succeeded, and after one that failed. */
interface After {
  readonly ok: Scene
  readonly fail: Scene
}

export interface Output {
  readonly target: string
  readonly scene: Scene
}

const MOST_FOLDERS = 16
const DEEPEST = 400
/** Every move starts from every possible folder. After this many, the folder counts as unknown. */
const MOST_MOVES = 100

const NOWHERE: Scene = { folders: new Set(), branches: new Set() }

const OWN_SHELL: ReadonlySet<SyntaxNode['type']> = new Set([
  ...([
    'Subshell',
    'CommandExpansion',
    'ArithmeticCommandExpansion',
    'ProcessSubstitution',
    'Coproc',
  ] as const),
])
const REPEATING: ReadonlySet<SyntaxNode['type']> = new Set(['While', 'For', 'ArithmeticFor', 'Select'])

export class ShellWalk {
  readonly scenes = new Map<Command, Scene>()
  /** For each command, the one before it in its pipeline. */
  readonly sources = new Map<Command, SyntaxNode>()
  readonly outputs: Output[] = []
  /** Files that `<` reads for a group or a loop. */
  readonly inputs: Output[] = []
  readonly #move: Mover
  readonly #visited = new Set<SyntaxNode>()
  #seen: Scene
  /** Whether a command may run at another point than where it is written. */
  #isLoose = false
  #isLooping = false
  #moves = 0

  constructor(start: Scene, move: Mover) {
    this.#seen = start
    this.#move = move
  }

  /** `scripts` includes those that commands of other scripts run, each after the one that contains it. */
  take(scripts: readonly SyntaxNode[]): void {
    for (const [i, script] of scripts.entries()) {
      if (this.#visited.has(script)) continue
      const before = this.#seen
      this.#walk(script, this.#seen, 0)
      // Changes by `eval` and similar commands affect everything after them.
      if (i > 0 && this.#seen !== before) this.#isLoose = true
    }
  }

  sceneOf(command: Command | undefined): Scene {
    const scene = command && !this.#isLoose ? this.scenes.get(command) : undefined
    return scene && scene.folders.size > 0 ? scene : this.#seen
  }

  sceneOfOutput({ scene }: Output): Scene {
    return this.#isLoose || scene.folders.size === 0 ? this.#seen : scene
  }

  #walk(node: SyntaxNode, scene: Scene, depth: number): After {
    if (node.type === 'Script') this.#visited.add(node)
    if (depth > DEEPEST) return both(scene)
    if (node.type === 'Command') return this.#command(node, scene, depth)
    if (node.type === 'AndOr') return this.#andOr(node, scene, depth)
    if (node.type === 'Pipeline') return this.#pipeline(node, scene, depth)
    if (node.type === 'Statement') {
      const after = this.#walk(node.command, scene, depth + 1)
      return node.background ? both(scene) : after
    }
    if (node.type === 'Function') this.#isLoose = true
    if (node.type === 'Redirected') for (const each of node.redirects) this.#redirect(each, scene)
    const inner = this.#children(node, scene, depth)
    if (OWN_SHELL.has(node.type)) return both(scene)
    return isList(node) ? inner : both(joined(inner.ok, inner.fail))
  }

  #children(node: SyntaxNode, scene: Scene, depth: number): After {
    let after = both(scene)
    // Inner loops repeat with the outer one. Repeating each of them too would double the work at every level.
    const isLoop = REPEATING.has(node.type) && !this.#isLooping
    const rounds = isLoop ? 2 : 1
    this.#isLooping ||= isLoop
    for (let round = 0; round < rounds; round++) {
      const before = this.#seen
      forEachChild(node, (child) => {
        // In a list, each command follows the one before. Elsewhere, it may be skipped.
        const from = joined(after.ok, after.fail)
        const next = this.#walk(child, from, depth + 1)
        after = isList(node) ? next : both(joined(from, joined(next.ok, next.fail)))
      })
      // Repeating `cd ..` can lead anywhere above.
      if (round === 1 && this.#seen !== before) {
        this.#see({ folders: new Set([SOMEWHERE]), branches: new Set() })
        this.#isLoose = true
      }
    }
    if (isLoop) this.#isLooping = false
    return after
  }

  #andOr(node: Extract<SyntaxNode, { type: 'AndOr' }>, scene: Scene, depth: number): After {
    let after: After | undefined
    for (const [i, command] of node.commands.entries()) {
      if (!after) after = this.#walk(command, scene, depth + 1)
      else if (node.operators[i - 1] === '&&') {
        const next = this.#walk(command, after.ok, depth + 1)
        after = { ok: next.ok, fail: joined(after.fail, next.fail) }
      } else {
        const next = this.#walk(command, after.fail, depth + 1)
        after = { ok: joined(after.ok, next.ok), fail: next.fail }
      }
    }
    return after ?? both(scene)
  }

  #pipeline(node: Extract<SyntaxNode, { type: 'Pipeline' }>, scene: Scene, depth: number): After {
    const [only] = node.commands
    if (node.commands.length === 1 && only) {
      const after = this.#walk(only, scene, depth + 1)
      return node.prefixes.length > 0 ? both(joined(after.ok, after.fail)) : after
    }
    let last = both(scene)
    for (const [i, command] of node.commands.entries()) {
      const before = node.commands[i - 1]
      if (before && command.type === 'Command') this.sources.set(command, before)
      last = this.#walk(command, scene, depth + 1)
    }
    // In some shells, the last command of a pipeline runs in the shell itself.
    return both(joined(scene, joined(last.ok, last.fail)))
  }

  #command(node: Command, scene: Scene, depth: number): After {
    this.scenes.set(node, joined(this.scenes.get(node) ?? NOWHERE, scene))
    // `$(< file)` has no program that reads it.
    for (const each of node.redirects) node.name ? this.#output(each, scene) : this.#redirect(each, scene)
    forEachChild(node, (child) => {
      if (child.type !== 'Word' || child.parts) this.#walk(child, scene, depth + 1)
    })
    const name = node.name ? wordOf(node.name).text : undefined
    if (name === undefined || !canMove(name)) return both(scene)
    const moved = this.#move([name, ...node.args.map(textOf)], scene, this.#seen)
    if (moved === undefined) return both(scene)
    if (moved === 'ends') return both(NOWHERE)
    this.#see(moved)
    if (moved.folders !== scene.folders && ++this.#moves > MOST_MOVES)
      return both({ folders: new Set([...this.#seen.folders, SOMEWHERE]), branches: moved.branches })
    return { ok: moved, fail: scene }
  }

  #output(redirect: SyntaxNode, scene: Scene): void {
    if (redirect.type !== 'Redirect' || !isOutput(redirect)) return
    if (redirect.target) this.outputs.push({ target: wordOf(redirect.target).text, scene })
  }

  #redirect(redirect: SyntaxNode, scene: Scene): void {
    this.#output(redirect, scene)
    if (redirect.type === 'Redirect' && redirect.operator === '<' && redirect.target)
      this.inputs.push({ target: wordOf(redirect.target).text, scene })
  }

  #see(scene: Scene): void {
    const all = joined(this.#seen, scene)
    if (all.folders.size > this.#seen.folders.size || all.branches.size > this.#seen.branches.size)
      this.#seen = all
  }
}

/** `<>` also opens for writing. */
function isOutput({ operator, target }: Redirect): boolean {
  if (!operator.includes('>')) return false
  return !(operator === '>&' && target && /^(?:\d+-?|-)$/.test(target.text))
}

function textOf(arg: Command['args'][number]): string {
  return arg.type === 'Word' ? wordOf(arg).text : assignedWord(arg).text
}

function isList({ type }: SyntaxNode): boolean {
  return type === 'Script' || type === 'CompoundList' || type === 'BraceGroup'
}

function both(scene: Scene): After {
  return { ok: scene, fail: scene }
}

function joined(a: Scene, b: Scene): Scene {
  if (a === b || b.folders.size === 0) return a
  if (a.folders.size === 0) return b
  const folders = new Set([...a.folders, ...b.folders])
  const capped =
    folders.size > MOST_FOLDERS ? new Set([...[...folders].slice(0, MOST_FOLDERS), SOMEWHERE]) : folders
  return { folders: capped, branches: new Set([...a.branches, ...b.branches]) }
}
