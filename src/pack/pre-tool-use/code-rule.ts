// Code in other languages. It is not parsed: the names in it decide, and code that hides its names leads to a question.

import { shown } from '../../core/base/text.js'
import { deletedBy, inPlainText } from './code-deletes.js'
import { isRealDisk } from './disk-rule.js'
import { asked, denied, type Finding } from './finding.js'
import type { Places } from './places.js'
import type { Call, Script } from './shell-script.js'

const INTERPRETERS =
  /^(?:python[\d.]*|pypy[\d.]*|node|nodejs|bun|deno|tsx|ts-node|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|luajit|tclsh|wish|Rscript|R|pwsh|powershell|osascript|awk|gawk|mawk|nawk|ghci|runghc|scala|groovy|julia|elixir|iex|guile|racket|jshell|sqlite3|expect|m4|bc|psql|mysql|mariadb|duckdb|swift|ipython|erl|ghc|ocaml|clojure|gdb|crystal|nim|dart|kotlinc|octave|sage|xonsh|nu|elvish|vi|vim|nvim|ex|kak|emacs|emacsclient)$/

export function isInterpreter(name: string): boolean {
  return INTERPRETERS.test(name)
}

/** Options that are followed by code. */
const CODE =
  /^(?:-[a-zA-Z]*[ceErpnB]|--(?:eval|print|execute|command|expression|run|cmd)|-(?:Encoded)?Command)(?:[=:]|$)/

/** `-c'…'`: the code is in the same word. */
const ATTACHED = /^-(?!m)[a-zA-Z]*[ceEr]./s

const STDIN = /^(?:-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/

/** Longer code is not searched. */
const LONGEST = 200_000

/** Commands that change files in PowerShell, which is not parsed here. */
const IN_POWERSHELL =
  /\b(?:Remove|Move|Rename|Set|Clear|Out|Add|Copy|New)-(?:Item|Content|File)|\b(?:ri|rd|del|erase|rmdir|rni|mi)\s|EncodedCommand/i

/** Functions that decode or build names which cannot be read in the text. */
const HIDING =
  /\b(?:b64decode|a85decode|unhexlify|fromhex|fromCharCode|fromCodePoint|atob|decodeURIComponent|rot13|pack\s*\(|codecs\.decode|bytes\.fromhex|zlib\.decompress|marshal\.loads|base64_decode|hex2bin|map\(chr|eval\s+(?:reverse|join))|\bbytes\(\[|data:text\/javascript|Buffer\.from\([^)]*['"](?:base64|hex)['"]|\bchr\s*\(\s*\d+\s*\)\s*[.+]/

/** Whether awk pipes to or from a program whose name it computes. */
function pipesAnywhere(code: string): boolean {
  const bare = code
    .replace(/"(?:[^"\\\n]|\\.){0,2000}"/g, '""')
    .replace(/(^|[~(,!&|{;\n])(\s{0,9})\/(?:[^/\\\n]|\\.){1,2000}\//g, '$1$2')
  return /\bprintf?\b[^;{}\n|]{0,2000}\|(?!\||&?\s{0,9}"")|[^"\s|]\s{0,9}\|\s{0,9}getline/.test(bare)
}

export function codeFindings(call: Call, script: Script, places: Places): Finding[] {
  if (!isInterpreter(call.name)) return []
  const code = codeOf(call, script)
  if (isFromElsewhere(call, code !== undefined)) {
    return [
      asked(
        'not-understood',
        `The code that \`${call.name}\` runs is only known when the command runs. Save it to a file and read it first.`,
      ),
    ]
  }
  if (code === undefined || code === '') return []
  if (code.length > LONGEST)
    return [
      asked('not-understood', `The code that \`${call.name}\` runs is too long to check. Save it to a file.`),
    ]
  const plain = inPlainText(code)
  const named = piecesOf(plain).find((piece) => isGuarded(piece, call, places))
  if (named !== undefined) {
    return [
      asked(
        'self-protection',
        `The code that \`${call.name}\` runs names ${shown(named)}, which agents may read but not change. To read it, use a command such as cat.`,
      ),
    ]
  }
  const loss = deletedBy(plain, call, places)
  if (loss === 'all') {
    return [
      denied(
        'destructive-delete',
        `The code that \`${call.name}\` runs deletes a folder that contains the working folder, the project or the home folder. Name the specific files or folders instead.`,
      ),
    ]
  }
  if (loss === 'unclear') {
    return [
      asked(
        'unresolved-delete',
        `What the code that \`${call.name}\` runs deletes is only known when it runs. Write out the path where it is deleted.`,
      ),
    ]
  }
  const disk = piecesOf(plain).find((piece) => isRealDisk(piece))
  if (disk !== undefined)
    return [asked('disk', `The code that \`${call.name}\` runs names the disk ${shown(disk)}.`)]
  if (!hides(code, call.name)) return []
  return [
    asked(
      'not-understood',
      `The code that \`${call.name}\` runs hides what it works on. Write out names and code in plain text.`,
    ),
  ]
}

/** Interpreters of general-purpose languages. */
const PROGRAMS =
  /^(?:python[\d.]*|pypy[\d.]*|node|nodejs|bun|deno|tsx|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua\w*|tclsh|Rscript|julia|osascript|pwsh)$/

/** `curl … | python3`, `python3 <(…)`, `node -e "$(…)"`: the code is not in the command. */
function isFromElsewhere({ name, args, input, readsFrom }: Call, isRead: boolean): boolean {
  if (!PROGRAMS.test(name)) return false
  const isOpen = args.some(
    ({ text, known }, i) =>
      text.startsWith('<(') ||
      (!known &&
        CODE.test(args[i - 1]?.text ?? '') &&
        /^\s*(?:\$[({\w]|`)/.test(text) &&
        /[)}\w`]\s*$/.test(text)),
  )
  if (isOpen) return true
  const isPiped =
    isRead &&
    input.length === 0 &&
    !args.some(({ text }) => CODE.test(text) || ATTACHED.test(text) || text === 'eval')
  return isPiped && readsFrom.some((source) => !/^(?:echo|printf|cat|tee|sed|envsubst)$/.test(source.name))
}

function hides(code: string, name: string): boolean {
  if (HIDING.test(code)) return true
  if (/^(?:pwsh|powershell)$/.test(name)) return IN_POWERSHELL.test(code)
  return /awk$/.test(name) && (/\bsystem\s*\(/.test(code) || pipesAnywhere(code))
}

/** Undefined if it runs a file. */
export function codeOf({ name, args, input, readsFrom }: Call, script: Script): string | undefined {
  const texts = args.map(({ text }) => text)
  const at = texts.findIndex(
    (text, i) =>
      CODE.test(text) ||
      ATTACHED.test(text) ||
      (text === 'eval' && i === 0) ||
      /^\+\D/.test(text) ||
      (text === 'timeit' && texts[i - 1] === '-m') ||
      text === '-mtimeit',
  )
  const file = texts.find((text) => !text.startsWith('-') && text !== '')
  const given = [...input]
  if (/awk$|^sqlite3$/.test(name)) return [...texts, ...given].join('\n')
  if (at >= 0) return [...texts.slice(at), ...given].join('\n')
  if (texts[0] === '-m' || (file !== undefined && !texts.some((text) => STDIN.test(text)))) return undefined
  // It reads its program from its input.
  return readsFrom.length > 0 ? [...given, script.text].join('\n') : given.join('\n')
}

function piecesOf(code: string): readonly string[] {
  const pieces = code.split(/[\s"'`;|&<>()=,{}\\[\]]+/)
  return [...new Set(pieces)].filter((piece) => piece.length > 3 && piece.length < 1024).slice(0, 5000)
}

function isGuarded(text: string, { folders }: Call, places: Places): boolean {
  const word = { text, known: true, glob: true }
  // `os.path.join('.claude', 'settings.json')`
  return places.hitBy(word, folders, /^\.[\w-]+\/?$/.test(text))?.verdict === 'deny'
}
