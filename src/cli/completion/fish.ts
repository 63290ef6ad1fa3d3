// The completion script for fish: a line per command, option and argument, and a function that picks those that apply.

import type { Completable, CompletableOption, Kind } from './completable.js'

export function fishScript(commands: readonly Completable[]): string {
  const named = commands.filter(({ name }) => name !== '')
  const names = named.map(({ name }) => name).join(' ')
  return `# carabiner completion for fish. In ~/.config/fish/config.fish: carabiner completion fish | source
# True for this command and, if a number is given, at this argument.
function __carabiner_at -a wanted place
    set -l command
    set -l arguments 0
    set -l is_value no
    set -l is_ended no
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        if test $is_value = yes
            set is_value no
        else if test $is_ended = no; and string match -q -- '-*' $word
            if test "$word" = --
                set is_ended yes
            else if contains -- "$command $word" ${commands.flatMap(valued).map(quoted).join(' ')}
                set is_value yes
            end
        else if test "$word" = "$words[1]"; and not set -q command[1]
            set command $word
        else
            set arguments (math $arguments + 1)
        end
    end
    test "$command" = "$wanted"; or return 1
    test -z "$place"; or test "$place" -eq (math $arguments + 1)
end
complete -c carabiner -e
complete -c carabiner -f
${named.map(({ name, summary }) => `complete -c carabiner -n ${START} -a ${name} -d ${quoted(summary)}`).join('\n')}
complete -c carabiner -n ${START} -a help -d 'Explain one command.'
complete -c carabiner -n '__carabiner_at help 1' -a ${quoted(names)}
${commands.flatMap(linesOf).join('\n')}
`
}

/** Nothing typed yet. */
const START = quoted('test (count (commandline -opc)) -eq 1')

/** Options that take a value. */
function valued({ name, options }: Completable): readonly string[] {
  return options.flatMap(({ name: option, short, value }) => {
    if (!value) return []
    return [`${name} --${option}`, ...(short === undefined ? [] : [`${name} -${short}`])]
  })
}

function linesOf({ name, options, positionals, isOpen }: Completable): readonly string[] {
  const at = `__carabiner_at ${name === '' ? '""' : name}`
  return [
    ...options.map((option) => optionLine(option, at)),
    ...positionals.flatMap((kind, i) => {
      const words = argument(kind)
      const place = isOpen && i === positionals.length - 1 ? at : `${at} ${i + 1}`
      return words === '' ? [] : [`complete -c carabiner -n ${quoted(place)} ${words}`]
    }),
  ]
}

function optionLine({ name, short, help, value }: CompletableOption, condition: string): string {
  const parts = [
    `complete -c carabiner -n ${quoted(condition)}`,
    ...(short === undefined ? [] : [`-s ${short}`]),
    `-l ${name}`,
    ...(value ? [value.type === 'file' ? '-r' : '-x', argument(value)] : []),
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

/** Fish escapes quotes and backslashes inside single quotes. */
function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
