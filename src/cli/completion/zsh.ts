// The completion script for zsh: one `_arguments` call per command.

import type { Completable, CompletableOption, Kind } from './completable.js'

export function zshScript(commands: readonly Completable[]): string {
  const named = commands.filter(({ name }) => name !== '')
  return `#compdef carabiner
# carabiner completion for zsh. In ~/.zshrc, behind compinit: source <(carabiner completion zsh)
_carabiner_commands() {
  local -a commands
  commands=(
${named.map(({ name, summary }) => `    ${quoted(`${name}:${summary.replaceAll(':', '\\:')}`)}`).join('\n')}
    'help:Explain one command.'
  )
  _describe -t commands command commands
}
_carabiner_names() {
  local -a names
  names=(\${(f)"$(command carabiner completion --names $1 2> /dev/null)"})
  compadd -a names
}
_carabiner() {
  local command=$words[2]
  if [[ $CURRENT == 2 && $command != -* ]]; then _carabiner_commands; return; fi
  if [[ $command == -* ]]; then command=; else shift words; CURRENT=$((CURRENT - 1)); fi
  case $command in
${commands.map(commandCase).join('\n')}
    help) _arguments '1: :_carabiner_commands' ;;
  esac
}
# Sourced, it registers itself; autoloaded from fpath, it is the function.
if [[ $funcstack[1] == _carabiner ]]; then _carabiner "$@"; else compdef _carabiner carabiner; fi
`
}

function commandCase({ name, options, positionals, isOpen }: Completable): string {
  const specs = [
    ...options.map(optionSpec),
    ...positionals.map((kind, i) => {
      const place = isOpen && i === positionals.length - 1 ? '*' : String(i + 1)
      return quoted(`${place}: :${action(kind)}`)
    }),
  ]
  return `    ${quoted(name)}) _arguments -S ${specs.join(' ')} ;;`
}

function optionSpec({ name, short, help, value }: CompletableOption): string {
  const text = `[${help.replace(/[[\]\\:]/g, '\\$&')}]${value ? `: :${action(value)}` : ''}`
  const long = `*--${name}${value ? '=' : ''}`
  if (short === undefined) return quoted(long + text)
  return `{${quoted(`*-${short}${value ? '+' : ''}`)},${quoted(long)}}${quoted(text)}`
}

function action(kind: Kind): string {
  switch (kind.type) {
    case 'words':
      return `(${kind.words.join(' ')})`
    case 'names':
      return `{_carabiner_names ${kind.of}}`
    case 'file':
      return '_files'
    case 'folder':
      return '_files -/'
    default:
      // The manual's blank would keep options from being completed here.
      return '()'
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
