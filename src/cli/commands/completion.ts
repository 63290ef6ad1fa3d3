// `carabiner completion`: the script that makes a shell complete commands, options and names.

import { type Command, choiceOf, chosen } from '../command.js'
import { NAME_KINDS, namesOf, SHELLS, type Shell } from '../completion/names.js'
import { EXIT, usage } from '../refusal.js'

const OPTIONS = {
  names: { type: 'string', value: 'KIND', help: 'Print names of this kind, for the scripts.', hidden: true },
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'completion',
  summary: 'Make your shell complete carabiner: bash, zsh, fish.',
  positionals: ['SHELL'],
  completes: [SHELLS],
  about: 'Prints a script; its first lines say where to put it. Plugin names are looked up as you type.',
  options: OPTIONS,
  examples: [
    { does: 'In this shell only.', line: 'source <(carabiner completion bash)', needs: 'bash' },
    { does: 'In every new shell.', line: 'carabiner completion bash >> ~/.bashrc' },
  ],
  async run({ options: { names: kind }, positionals: [shell] }, output, { commands }) {
    if (kind !== undefined) {
      const names = namesOf(chosen(kind, NAME_KINDS, 'There are no names of'))
      if (output.json) await output.document({ names })
      else if (names.length > 0) await output.print(names)
      return EXIT.ok
    }
    const name = shellNamed(shell)
    // Not needed for names, which the shell asks for while somebody types.
    const { scriptFor } = await import('../completion/scripts.js')
    const script = await scriptFor(name, commands)
    return output.result({ shell: name, script }, () => [script.trimEnd()])
  },
}

function shellNamed(text: string | undefined): Shell {
  if (text === undefined) throw usage('Which shell? Give its name', choiceOf(SHELLS))
  return chosen(text, SHELLS, 'There is no completion for')
}
