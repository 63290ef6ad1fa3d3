// Code in other languages: nobody here reads it, so what it names decides, and what hides what it names is asked about.

import { shown } from '../../core/text.js'
import { asked, denied, type Finding } from './finding.js'
import type { Places } from './places.js'
import type { Call, Script } from './shell-script.js'

const INTERPRETERS =
  /^(?:python[\d.]*|pypy[\d.]*|node|nodejs|bun|deno|tsx|ts-node|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|luajit|tclsh|wish|Rscript|R|pwsh|powershell|osascript|awk|gawk|mawk|nawk|ghci|runghc|scala|groovy|julia|elixir|iex|guile|racket|jshell|sqlite3|expect|m4|bc)$/

export function isInterpreter(name: string): boolean {
  return INTERPRETERS.test(name)
}

/** Options behind which code stands. */
const CODE = /^(?:-[a-zA-Z]*[ceErpn]|--(?:eval|print|execute|command|expression|run))(?:=|$)/

/** `-c'…'`: the code is in the same word. */
const ATTACHED = /^-(?!m)[a-zA-Z]*[ceEr]./s

const STDIN = /^(?:-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/

/** Longer code is not looked through. */
const LONGEST = 200_000

/** What makes names that nobody can read. */
const HIDING =
  /\b(?:b64decode|a85decode|unhexlify|fromhex|fromCharCode|fromCodePoint|atob|decodeURIComponent|rot13|pack\s*\(|codecs\.decode|bytes\.fromhex|zlib\.decompress|marshal\.loads|base64_decode|hex2bin)|Buffer\.from\([^)]*['"](?:base64|hex)['"]|\bchr\s*\(\s*\d+\s*\)\s*[.+]/

/** A tree that is the working folder, or above it. */
const REMOVES =
  'rmtree|rmSync|rmdirSync|rmdir|rm|rm_rf|rm_r|remove_entry|rimraf(?:\\.sync)?|remove_tree|remove_dir_all|unlinkSync|removeSync|remove'
const WIPING = new RegExp(`\\b(?:${REMOVES})\\s*\\(?\\s*['"]([^'"\\n]{1,300})['"]`, 'g')

/** The same, by what tells where it is. */
const WIPING_HERE = new RegExp(
  `\\b(?:${REMOVES})\\s*\\(?\\s*(?:(?:os\\.getcwdb?|process\\.cwd|Deno\\.cwd|(?:pathlib\\.)?Path\\.(?:cwd|home)|os\\.homedir|getcwd|cwd)\\(\\)|Dir\\.(?:pwd|home)|os\\.path\\.expanduser\\(\\s*['"]~/?['"]\\s*\\)|(?:os\\.environ|ENV)\\[['"](?:HOME|PWD)['"]\\]|process\\.env\\.(?:HOME|PWD)|\\$ENV\\{(?:HOME|PWD)\\})\\s*(?:[,);]|$)`,
)

function wipes(code: string, { folders }: Call, places: Places): boolean {
  if (WIPING_HERE.test(code)) return true
  const paths = new Set([...code.matchAll(WIPING)].map(([, path = '']) => path))
  return [...paths]
    .slice(0, 100)
    .some((path) => folders.some((folder) => places.isAbove(places.absolute(path, folder))))
}

/** What awk prints into a program whose name it makes up, or reads from one. */
function pipesAnywhere(code: string): boolean {
  const bare = code
    .replace(/"(?:[^"\\\n]|\\.){0,2000}"/g, '""')
    .replace(/(^|[~(,!&|{;\n])(\s{0,9})\/(?:[^/\\\n]|\\.){1,2000}\//g, '$1$2')
  return /\bprintf?\b[^;{}\n|]{0,2000}\|(?!\||&?\s{0,9}"")|[^"\s|]\s{0,9}\|\s{0,9}getline/.test(bare)
}

export function codeFindings(call: Call, script: Script, places: Places): Finding[] {
  if (!isInterpreter(call.name)) return []
  const code = codeOf(call, script)
  if (code === undefined) return []
  if (code.length > LONGEST)
    return [
      asked(
        'not-understood',
        `The code that \`${call.name}\` runs is too long to be looked through. Put it into a file.`,
      ),
    ]
  const named = piecesOf(code).find((piece) => isGuarded(piece, call, places))
  if (named !== undefined) {
    return [
      asked(
        'self-protection',
        `The code that \`${call.name}\` runs names ${shown(named)}, which agents may read but not change. To read it, use a command such as cat.`,
      ),
    ]
  }
  if (wipes(code, call, places)) {
    return [
      denied(
        'destructive-delete',
        `The code that \`${call.name}\` runs deletes a folder that holds all the others. Name the files or folders in it that you mean.`,
      ),
    ]
  }
  if (!HIDING.test(code) && !(/awk$/.test(call.name) && (/\bsystem\s*\(/.test(code) || pipesAnywhere(code))))
    return []
  return [
    asked(
      'not-understood',
      `The code that \`${call.name}\` runs hides what it works on. Write names and code out.`,
    ),
  ]
}

/** Undefined where it runs a file. */
export function codeOf({ name, args, input, readsFrom }: Call, script: Script): string | undefined {
  const texts = args.map(({ text }) => text)
  const at = texts.findIndex(
    (text) => CODE.test(text) || ATTACHED.test(text) || (name === 'deno' && text === 'eval'),
  )
  const file = texts.find((text) => !text.startsWith('-') && text !== '')
  const given = [...input]
  if (/awk$|^sqlite3$/.test(name)) return [...texts, ...given].join('\n')
  if (at >= 0) return [...texts.slice(at), ...given].join('\n')
  if (texts[0] === '-m' || (file !== undefined && !texts.some((text) => STDIN.test(text)))) return undefined
  // It reads its program: from what comes in, or from nobody.
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
