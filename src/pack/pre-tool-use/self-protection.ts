// Protects the guard's own files: hooks, agents' settings and Carabiner's data. An agent may read but not change them.

import { shown } from '../../core/base/text.js'
import type { FileEffect } from '../../effects/files/file-effect.js'
import { fileEffectsOf } from '../../effects/files/file-effects.js'
import { isNoFile, SOMEWHERE } from '../../effects/paths/absolute-path.js'
import type { Call, Script, WrittenFile } from '../../effects/script/shell-script.js'
import { isWild, type Word } from '../../effects/script/word.js'
import { treeFindings } from './copied-trees.js'
import { asked, denied, type Finding } from './finding.js'
import type { Depth, Hit, Places } from './places.js'

const DEEDS: Readonly<Record<FileEffect['deed'], string>> = {
  write: 'writes',
  delete: 'deletes',
  move: 'moves',
  change: 'changes the permissions of',
  link: 'links',
}

const INSTEAD = 'Tell the user what to change, and let them do it.'

export function protectionFindings(
  call: Call,
  effects: readonly FileEffect[],
  script: Script,
  places: Places,
): Finding[] {
  const findings = effects.flatMap((effect) => ofEffect(call, effect, script, places))
  findings.push(
    ...mentions(call, fileEffectsOf(call.name) === undefined ? call.args : sideOutputs(call), places),
  )
  findings.push(...treeFindings(call, script, places))
  return findings
}

/** Findings for files that `>` writes. */
export function outputFindings(script: Script, places: Places): Finding[] {
  return [...script.outputs, ...histories(script)].flatMap(({ words, folders }) =>
    words.flatMap((word) => {
      if (isNoFile(word.text)) return []
      if (!word.known) return [unknown('This command', 'writes', word)]
      return (
        lostFolder(word, folders, 'This command writes') ??
        found('This command', 'writes', word, places.hitBy(word, folders, false))
      )
    }),
  )
}

/** The files that `history -w` and the end of a shell write. */
function histories({ assignments, calls }: Script): readonly WrittenFile[] {
  if (!assignments.some((one) => one.startsWith('HISTFILE='))) return []
  const folders = [...new Set(calls.flatMap((call) => call.folders))]
  return assignments.flatMap((one) => {
    const [, path] = /^HISTFILE=(.+)$/s.exec(one) ?? []
    return path === undefined
      ? []
      : [{ words: [{ text: path, known: !/[$`]/.test(path), glob: true }], folders }]
  })
}

function ofEffect(call: Call, effect: FileEffect, { dots }: Script, places: Places): Finding[] {
  const { deed, target } = effect
  const folders = effect.folders ?? call.folders
  const who = `\`${call.name}\``
  if (isNoFile(target.text)) return []
  if (!target.known) return deed === 'delete' ? [] : [unknown(who, DEEDS[deed], target)]
  const hit = places.hitBy(target, folders, depthOf(effect, folders, places), effect.dots || dots)
  // A pattern that is expanded at run time may not match a protected file, so this is only a question.
  const isVague = isWild(target) && /\*\*\/\*?$/.test(target.text)
  if (hit) return found(who, DEEDS[deed], target, isVague ? { ...hit, verdict: 'ask' } : hit)
  if (effect.arrives === 'names' && places.holdsHome(target, folders)) {
    return [
      asked(
        'self-protection',
        `${who} unpacks into the home folder, where the archive may replace agents' settings. Unpack it into a separate folder.`,
      ),
    ]
  }
  if (deed === 'link' && leadsUp(target, folders, places)) {
    return [
      asked(
        'self-protection',
        `${who} links ${shown(target.text)}, which gives protected files a second name. Link only the files that you need in it.`,
      ),
    ]
  }
  return lostFolder(target, folders, `${who} ${DEEDS[deed]}`) ?? []
}

function depthOf({ deep, arrives, target }: FileEffect, folders: readonly string[], places: Places): Depth {
  if (arrives === undefined) return deep
  return arrives === 'maybe' && places.isFolder(target, folders) ? false : 'names'
}

function found(who: string, does: string, { text }: Word, hit: Hit | undefined): Finding[] {
  if (!hit) return []
  const sentence = `${who} ${does} ${shown(text)}: ${hit.what}, which agents may read but not change. ${INSTEAD}`
  return [hit.verdict === 'deny' ? denied('self-protection', sentence) : asked('self-protection', sentence)]
}

function unknown(who: string, does: string, { text }: Word): Finding {
  return asked(
    'not-understood',
    `${who} ${does} ${shown(text)}, but which file that is depends on the running shell. Write out the path.`,
  )
}

/** The path is relative to an unknown folder. */
function lostFolder({ text }: Word, folders: readonly string[], does: string): Finding[] | undefined {
  if (!folders.includes(SOMEWHERE) || /^[/~]/.test(text)) return undefined
  return [
    asked(
      'not-understood',
      `${does} ${shown(text)} in a folder that depends on the running shell. Write out the path.`,
    ),
  ]
}

/** Also follows the target's own links. */
function leadsUp({ text }: Word, folders: readonly string[], places: Places): boolean {
  return folders.some((folder) => places.isAbove(places.absolute(text, folder)))
}

/** Extra output files, such as `--log-file=x`. Options that exclude files do not count. */
function sideOutputs({ args, name }: Call): readonly Word[] {
  if (!EFFECTS_BESIDE.test(name)) return []
  return args.filter(({ text }) =>
    /^--(?!\w*-?(?:exclude|include|ignore|filter|reference|from|path|format|grep))[\w-]+=/.test(text),
  )
}

const EFFECTS_BESIDE = /^(?:rsync|tar|bsdtar|gtar|git|cp|mv|curl|wget|patch|split|sort)$/

/** If an unknown program names a protected file, a person decides. */
function mentions(call: Call, args: readonly Word[], places: Places): Finding[] {
  const words = args.flatMap((word) => [word, ...valuesIn(word)])
  // An interpreter only runs the first file that it names, and does not change it.
  const runs = /^(?:(?:ba|da|z|k)?sh|source|\.|python[\d.]*|node|bun|deno|tsx|ruby|perl|php)$/.test(call.name)
  const behind = call.args[0]?.text === '-m' ? 2 : 0
  const first = runs ? call.args.slice(behind).find(({ text }) => !text.startsWith('-')) : undefined
  for (const given of words) {
    if (given === first || !given.known || /\s/.test(given.text)) continue
    const word = asNamed(given)
    const hit = places.hitBy(word, call.folders, true)
    if (hit?.verdict === 'deny') {
      return [
        asked(
          'self-protection',
          `\`${call.name}\` gets ${shown(word.text)} as an argument: ${hit.what}, which agents may read but not change. ${INSTEAD}`,
        ),
      ]
    }
  }
  return []
}

/** Everything in a folder counts as the folder. Many programs expand a pattern even if it is quoted. */
function asNamed(word: Word): Word {
  if (/\/\*\*\/\*$/.test(word.text))
    return { ...word, text: word.text.slice(0, -'/**/*'.length), glob: false }
  return word.glob || !word.text.includes('*') || /^(?:\.\/)?[^/]*\*/.test(word.text)
    ? word
    : { ...word, glob: true }
}

/** `--out=x`, `-ox`, `if=x`, `OPEN:x`. */
function valuesIn(word: Word): readonly Word[] {
  const [, value] = /^(?:--?[\w-]+=|\w+=|[A-Za-z][\w-]*:(?!\/\/)|-\w(?=[./~]))(.+)$/s.exec(word.text) ?? []
  return value === undefined ? [] : [{ ...word, text: value }]
}
