// Where a command may be when it runs, and on which branch.

/** `''`: the branch that the repository is on now. */
export const AS_IT_IS = ''

export interface Scene {
  readonly folders: ReadonlySet<string>
  readonly branches: ReadonlySet<string>
}

/** What a command with these words does to where the rest runs; undefined: nothing. `seen`: wherever any command was. */
export type Mover = (words: readonly string[], scene: Scene, seen: Scene) => Scene | 'ends' | undefined
