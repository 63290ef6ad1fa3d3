// The scene of a command: the folders and branches it may run in.

/** Stands for the repository's current branch. */
export const AS_IT_IS = ''

export interface Scene {
  readonly folders: ReadonlySet<string>
  readonly branches: ReadonlySet<string>
}

/** The scene after a command with these words. Undefined: unchanged. `seen` holds every folder and branch so far. */
export type Mover = (words: readonly string[], scene: Scene, seen: Scene) => Scene | 'ends' | undefined
