// Code in other languages. It is not parsed: the names in it decide, and code that hides its names leads to a question.

import { shown } from '../../core/base/text.js'
import { codeOf, inPlainText, isFromElsewhere, isInterpreter } from '../../effects/script/program-code.js'
import type { Call, Script } from '../../effects/script/shell-script.js'
import { deletedBy } from './code-deletes.js'
import { isRealDisk } from './disk-rule.js'
import { asked, denied, type Finding } from './finding.js'
import type { Places } from './places.js'

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

function hides(code: string, name: string): boolean {
  if (HIDING.test(code)) return true
  if (/^(?:pwsh|powershell)$/.test(name)) return IN_POWERSHELL.test(code)
  return /awk$/.test(name) && (/\bsystem\s*\(/.test(code) || pipesAnywhere(code))
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
