// What code in another language deletes, as far as its text shows.

import type { Call } from '../../effects/script/shell-script.js'
import { isOfTheSystem } from './delete-rule.js'
import type { Places } from './places.js'

/** Names specific enough to count as a delete wherever they occur. */
const SURE = [
  'rmtree|rmSync|rmdirSync|rm_rf!?|remove_tree|remove_dir(?:_all)?|remove_entry\\w*|rimraf(?:\\.sync)?|removeSync|deleteDir',
  'removeItem|removeDir|deleteSync|deleteRecursively|RemoveAll|delete-directory\\S*|fs\\.rm|promises\\.rm|Deno\\.remove\\w*|FileUtils\\.\\w+|unlinkSync|file delete(?: -force)?',
  'os\\.(?:remove|unlink|rename|replace)|shutil\\.move|renameSync|File\\.(?:rename|delete|unlink)|unlink\\s+glob|unlink(?=\\s*<|\\(\\))',
].join('|')
/** Common names, which only count as a delete if their argument fits. */
const MAYBE = 'rm|rm_r|rmdir|unlink|remove|call delete|fn\\.delete'

/** What may come before the path: `(path='..')`, `(Path(r".."))`, ` ".."`. */
const GIVEN = '\\s*\\(?\\s*(?:\\w+[=:]\\s*)?(?:new\\s+File\\s*\\(|(?:pathlib\\.)?Path\\s*\\()?\\s*[rbuf]{0,2}'

const LITERAL = /^(['"`])([^'"`\n]{1,300})\1\s*(?![+.%/*<&|\s])/

const HERE =
  /^(?:(?:os\.getcwdb?|process\.cwd|Deno\.cwd|(?:pathlib\.)?Path\.(?:cwd|home)|(?:os|require\(['"](?:node:)?os['"]\))\.homedir|getcwd|cwd)\(\)|Dir\.(?:pwd|home)|os\.path\.expanduser\(\s*['"]~\/?['"]\s*\)|(?:os\.environ|ENV)\[['"](?:HOME|PWD)['"]\]|process\.env\.(?:HOME|PWD)|\$ENV\{(?:HOME|PWD)\})\s*(?:[,);]|$)/

/** Expressions that can lead to the current folder, or to one above it. */
const LEADING =
  /\b(?:getcwdb?|cwd|homedir|expanduser|__dirname|__file__|readdirSync|listdir)\b|Dir\.(?:pwd|home)|\.parent\b|<\*>|file delete|\b(?:pardir|curdir|argv|ARGV|shift|environ|chr)\b|input\(|process\.env|(['"])\1\.join/

/** Expressions that list everything in a folder. */
const LISTING = /\b(?:listdir|scandir|readdir\w*|rglob|finddepth)\b|glob\S{0,9}\(?\s*['"]\*+['"]|Dir\[['"]\*/

const MOST = 200

export function deletedBy(code: string, { folders }: Call, places: Places): 'all' | 'unclear' | undefined {
  const isAll = (text: string) => {
    const path = text.replace(/(^|\/)\*$/, '$1.')
    return folders.some((folder) => places.isAbove(places.absolute(path, folder)))
  }
  let isUnclear = false
  for (const [names, isSure] of [
    [SURE, true],
    [MAYBE, false],
  ] as const) {
    const calls = code.matchAll(new RegExp(`(?<![\\w$])(?:${names})(?![\\w-])${GIVEN}`, 'g'))
    for (const found of [...calls].slice(0, MOST)) {
      const rest = code.slice(found.index + found[0].length, found.index + found[0].length + 400)
      const path = LITERAL.exec(rest)?.[2]
      if (HERE.test(rest) || (path !== undefined && (isAll(path) || isOfTheSystem(path)))) return 'all'
      const isName = /['"]/.test(code[found.index - 1] ?? '')
      if (path !== undefined && !isName) continue
      if (isSure) isUnclear = true
      else if (LISTING.test(code)) return 'unclear'
    }
  }
  return isUnclear && (LEADING.test(code) || literalsIn(code).some(isAll)) ? 'unclear' : undefined
}

/** Leaves out `/` alone, which is usually a separator. */
function literalsIn(code: string): readonly string[] {
  const texts = [...code.matchAll(/(['"`])([^'"`\n]{1,300})\1/g)].map(([, , text = '']) => text)
  return [...new Set(texts)].filter((text) => text !== '/').slice(0, MOST)
}
