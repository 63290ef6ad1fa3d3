// The completion of fish: a line for each command and option.

import type { Completable, CompletableOption, Kind } from './completable.js'

export function fishScript(commands: readonly Completable[]): string {
  const named = commands.filter(({ name }) => name !== '')
  const names = named.map(({ name }) => name).join(' ')
  return `# carabiner completion for fish. In ~/.config/fish/config.fish: carabiner completion fish | source
complete -c carabiner -e
complete -c carabiner -f
${named.map(({ name, summary }) => `complete -c carabiner -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`).join('\n')}
complete -c carabiner -n __fish_use_subcommand -a help -d 'Say more about one command.'
complete -c carabiner -n '__fish_seen_subcommand_from help' -a ${quoted(names)}
${commands.flatMap(linesOf).join('\n')}
`
}

function linesOf({ name, options, positionals, isOpen }: Completable): readonly string[] {
  const condition = name === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${name}`
  const [first] = positionals
  const words = first ? argument(first) : ''
  const isFirst = isOpen ? '' : '; and test (count (commandline -opc)) -eq 2'
  return [
    ...options.map((option) => optionLine(option, condition)),
    ...(words === '' ? [] : [`complete -c carabiner -n ${quoted(`${condition}${isFirst}`)} ${words}`]),
  ]
}

function optionLine({ name, short, help, value }: CompletableOption, condition: string): string {
  const parts = [
    `complete -c carabiner -n ${quoted(condition)}`,
    ...(short === undefined ? [] : [`-s ${short}`]),
    `-l ${name}`,
    ...(value ? ['-x', argument(value)] : []),
    `-d ${quoted(help)}`,
  ]
  return parts.filter(Boolean).join(' ')
}

function argument(kind: Kind): string {
  switch (kind.type) {
    case 'words':
      return `-a ${quoted(kind.words.join(' '))}`
    case 'names':
      return `-a ${quoted(`(carabiner completion --names ${kind.of} 2>/dev/null)`)}`
    case 'file':
      return '-F'
    case 'folder':
      return `-a ${quoted('(__fish_complete_directories)')}`
    default:
      return ''
  }
}

/** In quotes of fish a backslash stands before a quote or another one. */
function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
