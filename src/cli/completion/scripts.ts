// Makes a shell's completion script from the program's commands.

import type { Commands } from '../command.js'
import { bashScript } from './bash.js'
import { type Completable, completable } from './completable.js'
import { fishScript } from './fish.js'
import type { Shell } from './names.js'
import { zshScript } from './zsh.js'

const SCRIPTS: Readonly<Record<Shell, (commands: readonly Completable[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

export async function scriptFor(shell: Shell, commands: Commands): Promise<string> {
  const loaded = await Promise.all(Object.values(commands).map((load) => load()))
  return SCRIPTS[shell](loaded.map(({ command }) => completable(command)))
}
