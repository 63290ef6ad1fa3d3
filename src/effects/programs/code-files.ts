// Files that code in another language names, and what it does to them. It is not parsed: names of functions and literals tell.

import { posix } from 'node:path'
import { literalWord } from '../files/file-effect.js'
import { SOMEWHERE } from '../paths/absolute-path.js'
import { type Draft, onPlaces, type Use } from '../program.js'
import type { Word } from '../script/word.js'

const MOST = 1000
/** How far back the function is looked for: another literal may come before this one. */
const LONGEST_BEFORE = 500

export const STRING = `[rbuf]{0,2}(['"\`])((?:[^'"\`\\\\\\n]|\\\\.){1,400})`

/** What may come between a function and its first argument. */
const GIVEN = String.raw`\s*\(?\s*(?:\w+[=:]\s*)?(?:(?:pathlib\.)?Path\s*\(\s*)?$`
/** The same for its second argument. */
const SECOND = String.raw`\s*\(?\s*[rbuf]{0,2}['"\`][^'"\`\n]{0,400}['"\`]\)?\s*,\s*(?:\w+[=:]\s*)?[rbuf]{0,2}$`

const first = (names: string) => new RegExp(String.raw`(?<![\w$])(?:${names})${GIVEN}`)
const second = (names: string) => new RegExp(String.raw`(?<![\w$])(?:${names})${SECOND}`)

const READS = first(
  'open|openSync|ZipFile|TarFile|readFileSync|readFile|File\\.read|IO\\.read|file_get_contents|readlines|Path|createReadStream|load_dotenv|slurp|read_text|(?:source|load|require|run_path)(?=\\s*\\()',
)
/** `require('fs')` names a module, `require('./fs')` a file. */
const IMPORTED = /(?<![\w$.])require\s*\(\s*$/
const IS_FILE = /^[./~]|\.(?:[cm]?[jt]sx?|json|node|php|inc|rb|p[lm]|lua)$/
const WRITES = first(
  'writeFileSync|writeFile|appendFileSync|appendFile|File\\.write|IO\\.write|file_put_contents|createWriteStream|mkdirSync|mkdtempSync|mkdir|os\\.makedirs|makedirs|make_path|truncateSync|ftruncateSync|truncate|os\\.mknod|os\\.chmod|chmodSync|utimesSync|touch|FileUtils\\.(?:touch|mkdir_p|mkdir)',
)
const DELETES = first(
  'rmtree|rmSync|rmdirSync|unlinkSync|rm_rf!?|rm_r|remove_tree|remove_dir(?:_all)?|RemoveAll|removeSync|rimraf(?:\\.sync)?|fs\\.rm|promises\\.rm|os\\.(?:remove|unlink|rmdir|removedirs)|unlink(?:\\s+glob)?|File\\.(?:delete|unlink)|FileUtils\\.(?:rm|remove)\\w*|Deno\\.remove\\w*|remove_entry\\w*|removeItem|removeDir|rmdir|deleteDir|delete-directory\\S*|call delete|fn\\.delete|file delete',
)
/** Its first argument is a name without an ending. */
const ARCHIVES = first('make_archive')
const ARCHIVED = /\bmake_archive\s*\([^)\n]{0,300},\s*(?:\w+\s*=\s*)?$/
const EXTRACTS = first('extractall|unpack_archive\\s*\\(\\s*[^,)]{1,200},')
const MOVING =
  'os\\.(?:rename|renames|replace)|shutil\\.move|renameSync|fs\\.rename|promises\\.rename|File\\.rename|FileUtils\\.mv|rename|move'
const COPYING =
  'copyFileSync|copyFile|cpSync|fs\\.cp|promises\\.cp|shutil\\.copy\\w*|copytree|copy|copy2|FileUtils\\.cp\\w*|symlinkSync|symlink|linkSync|link|os\\.symlink|os\\.link|FileUtils\\.ln\\w*'
const [MOVED, MOVED_TO] = [first(MOVING), second(MOVING)]
const [COPIED, COPIED_TO] = [first(COPYING), second(COPYING)]

/** A file that is opened with a mode: `open(F, ">", "x")` in Perl. */
const OPENED = /\bopen\b[^;\n]{0,40}['"]\+?([<>]{1,2})[^'"]{0,20}['"]\s*,\s*$/
/** `open(F, ">x")` */
const OPENED_OLD = /\bopen\b\s*\(?\s*(?:my\s+)?\$?\w+\s*,\s*$/

/** What follows the name of the file. */
const OPENED_TO_WRITE =
  /^['"`]\s*,\s*(?:(?:mode\s*=\s*)?['"][rb]*[wax+]|[^)]{0,60}O_(?:CREAT|WRONLY|RDWR|TRUNC|APPEND))/
const AS_PATH = /(?:^|[^\w])(?:pathlib\.)?Path\s*\(\s*$/
const DELETED_PATH = /^['"]\s*\)\s*\.(?:unlink|rmdir)/
const MOVED_PATH = /^['"]\s*\)\s*\.(?:rename|replace)\s*\(/
const WRITTEN_PATH =
  /^['"]\s*\)\s*\.(?:write_|touch|mkdir|chmod|symlink_to|hardlink_to|open\s*\(\s*['"][rb]*[wax+])/
/** What comes before the second name: `Path('a').rename('b')`. */
const MOVED_PATH_TO =
  /Path\s*\(\s*['"][^'"\n]{0,400}['"]\s*\)\s*\.(?:rename|replace|symlink_to|hardlink_to)\s*\(\s*(?:(?:pathlib\.)?Path\s*\(\s*)?$/

/** Names that delete, wherever they occur. */
const DELETING =
  /\b(?:rmtree|rmSync|rmdirSync|unlinkSync|rm_rf|remove_tree|removeSync|RemoveAll|fs\.rm|promises\.(?:rm|unlink)|os\.(?:remove|unlink|rmdir|removedirs)|unlink|File\.(?:delete|unlink)|FileUtils\.(?:rm|remove)\w*)\b/
const WRITING =
  /\b(?:write\w*|append\w*|truncate\w*|rename\w*|mkdir\w*|makedirs|touch|move|copy\w*|symlink\w*)\b|['"]\+?[>wax]\+?b?['"]/
/** The words that a program was started with. */
const ARGUMENTS = /\bsys\.argv\b|\bprocess\.argv\b|\bARGV\b|\bshift\b|\$argv\b|<>|\bfileinput\b/

export function* filesIn(code: string, given: Use): Generator<Draft> {
  const use = whereItMoves(code, given)
  yield* givenFiles(code, use)
  yield* joinedPaths(code, use)
  // Without a folder, it unpacks into the current one.
  if (/\.extractall\s*\(\s*\)/.test(code)) yield* onPlaces('write', use.places(literalWord('.'), true))
  let count = 0
  for (const found of code.matchAll(new RegExp(STRING, 'g'))) {
    if (++count > MOST) return
    const [all, , text = ''] = found
    const before = code.slice(Math.max(0, found.index - LONGEST_BEFORE), found.index)
    const after = code.slice(found.index + all.length, found.index + all.length + 80)
    yield* ofLiteral({ text, before, after, code }, use)
  }
}

const MOVES = /\bchdir(?:Sync)?\s*\(?\s*(?:[rbuf]{0,2}(['"`])([^'"`\n]{1,400})\1)?/g
const MOST_FOLDERS = 5

/** `os.chdir('x')`: files that come after it are in that folder. */
function whereItMoves(code: string, use: Use): Use {
  if (!code.includes('chdir')) return use
  const moved = [...code.matchAll(MOVES)].slice(0, MOST_FOLDERS).flatMap(([, , to]) =>
    use.call.folders.map((folder) => {
      if (to === undefined || folder === SOMEWHERE) return SOMEWHERE
      return posix.resolve(folder, to)
    }),
  )
  const folders = [...new Set([...use.call.folders, ...moved])]
  return { ...use, places: (word, deep, others) => use.places(word, deep, others ?? folders) }
}

const JOINED =
  /\bPath\s*\(((?:\s*['"][^'"\n]{1,200}['"]\s*,?){2,9})\)\s*\.(unlink|rmdir|rename|replace|write_\w+|touch|mkdir|read_\w+)/g

/** `Path('a', 'b').unlink()` */
function* joinedPaths(code: string, use: Use): Generator<Draft> {
  for (const [, parts = '', method = ''] of [...code.matchAll(JOINED)].slice(0, MOST)) {
    const names = [...parts.matchAll(/['"]([^'"]*)['"]/g)].map(([, name]) => name)
    const places = use.places(literalWord(names.join('/')), true)
    if (/^(?:unlink|rmdir)$/.test(method)) yield* onPlaces('delete', places)
    else if (method.startsWith('read')) yield* onPlaces('read', places)
    else yield* onPlaces('write', places)
  }
}

interface Literal {
  readonly text: string
  readonly before: string
  readonly after: string
  readonly code: string
}

function* ofLiteral({ text, before, after, code }: Literal, use: Use): Generator<Draft> {
  const near = before.slice(-60)
  const isGlob = /glob\s*\(?\s*$/.test(near)
  const word: Word = { text, known: true, glob: isGlob }
  const isPath = AS_PATH.test(near)
  if (ARCHIVES.test(near))
    return yield* onPlaces('write', use.places({ ...word, text: `${text}.*`, glob: true }))
  if (ARCHIVED.test(before)) return yield* onPlaces('read', use.places(word, true))
  if (EXTRACTS.test(near)) return yield* onPlaces('write', use.places(word, true))
  if (MOVED_TO.test(before) || COPIED_TO.test(before) || MOVED_PATH_TO.test(before))
    return yield* onPlaces('write', use.places(word, true))
  if (DELETES.test(near) || (isPath && DELETED_PATH.test(after)) || (isGlob && DELETING.test(code)))
    return yield* onPlaces('delete', use.places(word, true))
  if (MOVED.test(near) || (isPath && MOVED_PATH.test(after))) {
    for (const place of use.places(word, true)) yield { kind: 'move', place, to: place }
    return
  }
  if (
    WRITES.test(near) ||
    (/open(?:Sync)?\s*\(\s*$/.test(near) && OPENED_TO_WRITE.test(after)) ||
    (isPath && WRITTEN_PATH.test(after))
  )
    return yield* onPlaces('write', use.places(word))
  const [, sign] = OPENED.exec(near) ?? []
  if (sign !== undefined) return yield* onPlaces(sign.includes('>') ? 'write' : 'read', use.places(word))
  if (use.call.name === 'perl' && OPENED_OLD.test(near)) return yield* openedByPerl(word, use)
  if (COPIED.test(near)) return yield* onPlaces('read', use.places(word, true))
  if (IMPORTED.test(near) && !IS_FILE.test(text)) return
  if ((isGlob || READS.test(near)) && !/^https?:/.test(text)) yield* onPlaces('read', use.places(word))
}

/** `>x`, `<x`, or a bare name. A pipe is a command, which is read elsewhere. */
function* openedByPerl(word: Word, use: Use): Generator<Draft> {
  const [, sign = '', name = ''] = /^\s*([+<>|]*)\s*(.*?)\s*$/s.exec(word.text) ?? []
  if (sign.includes('|') || name === '' || name.endsWith('|')) return
  yield* onPlaces(sign.includes('>') ? 'write' : 'read', use.places({ ...word, text: name }))
}

/** `python -c '… sys.argv …' FILE`: what the code does, it may do to each of the words behind it. */
function* givenFiles(code: string, use: Use): Generator<Draft> {
  if (!ARGUMENTS.test(code)) return
  const at = use.texts.findIndex((text) => text.length > 3 && code.includes(text))
  const words = use.args.slice(at < 0 ? use.args.length : at + 1)
  const places = words.flatMap((word) => use.places(word))
  yield* onPlaces('read', places)
  if (WRITING.test(code)) yield* onPlaces('write', places)
  if (DELETING.test(code)) yield* onPlaces('delete', places)
}
