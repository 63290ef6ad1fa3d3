// The completion script for bash 3.2 and later: tables as `case`, and one function that reads the line.

import type { Completable, Kind } from './completable.js'

export function bashScript(commands: readonly Completable[]): string {
  const names = [...commands.map(({ name }) => name).filter(Boolean), 'help'].join(' ')
  return `# carabiner completion for bash. In ~/.bashrc: source <(carabiner completion bash)
_carabiner_options() {
  case $1 in
${commands.map((one) => `    ${quoted(one.name)}) REPLY=${quoted(optionsOf(one))} ;;`).join('\n')}
    *) REPLY='' ;;
  esac
}
# What follows an option; empty for a flag.
_carabiner_value() {
  case "$1 $2" in
${commands.flatMap(valueCases).join('\n')}
    *) REPLY='' ;;
  esac
}
_carabiner_argument() {
  case "$1 $2" in
${commands.flatMap(argumentCases).join('\n')}
    help\\ 1) REPLY=${quoted(`words ${names}`)} ;;
    *) REPLY='' ;;
  esac
}
# Bash 3 has no compopt: it falls back to file names.
_carabiner_offer() {
  local word list=''
  case $1 in
    'words '*) list=\${1#words } ;;
    'names '*) list=$(command carabiner completion --names "\${1#names }" 2> /dev/null) ;;
    file) return ;;
    folder) compopt +o bashdefault +o default -o dirnames 2> /dev/null; return ;;
  esac
  compopt +o bashdefault +o default 2> /dev/null
  for word in $list; do
    if [[ $word == "$2"* ]]; then COMPREPLY+=("$word"); fi
  done
}
_carabiner() {
  local cur=$2 command='' arguments=0 expects='' ended='' word i REPLY
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == = ]]; then continue; fi
    if [[ -n $expects ]]; then expects=''; continue; fi
    case $ended$word in
      --) ended=yes ;;
      -*)
        _carabiner_value "$command" "$word"
        expects=$REPLY
        ;;
      *)
        if [[ $i == 1 ]]; then command=$word; else arguments=$((arguments + 1)); fi
        ;;
    esac
  done
  if [[ -n $expects ]]; then
    REPLY=$expects
  elif [[ $ended$cur == -* ]]; then
    _carabiner_options "$command"
    REPLY="words $REPLY"
  elif [[ $COMP_CWORD == 1 ]]; then
    REPLY=${quoted(`words ${names}`)}
  else
    _carabiner_argument "$command" "$((arguments + 1))"
  fi
  _carabiner_offer "$REPLY" "$cur"
}
complete -o bashdefault -o default -F _carabiner carabiner
`
}

function optionsOf({ options }: Completable): string {
  return options.map(({ name }) => `--${name}`).join(' ')
}

function valueCases({ name, options }: Completable): readonly string[] {
  return options.flatMap(({ name: option, short, value }) => {
    if (!value) return []
    const places = [`${name} --${option}`, ...(short === undefined ? [] : [`${name} -${short}`])]
    return [`    ${places.map(quoted).join(' | ')}) REPLY=${quoted(kindText(value))} ;;`]
  })
}

function argumentCases({ name, positionals, isOpen }: Completable): readonly string[] {
  return positionals.map((kind, i) => {
    const isLast = isOpen && i === positionals.length - 1
    const place = isLast ? `${quoted(`${name} `)}*` : quoted(`${name} ${i + 1}`)
    return `    ${place}) REPLY=${quoted(kindText(kind))} ;;`
  })
}

/** Let bash complete paths. */
function kindText(kind: Kind): string {
  if (kind.type === 'words') return `words ${kind.words.join(' ')}`
  return kind.type === 'names' ? `names ${kind.of}` : kind.type
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
