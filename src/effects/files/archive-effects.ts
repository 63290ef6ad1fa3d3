// What tar, unzip and zip do to files: they may overwrite files when unpacking, and some delete the files they packed.

import { type Word, withText } from '../script/word.js'
import {
  argumentsOf,
  type EffectReader,
  each,
  type FileEffect,
  inFolder,
  literalWord,
  one,
} from './file-effect.js'

/** Unpacks into the given folders, or into the current one. */
function unpacked(folders: readonly Word[]): FileEffect[] {
  const targets = folders.length > 0 ? folders : [literalWord('.')]
  return targets.map((target) => ({ ...one('write', target, true), arrives: 'names' }))
}

/** These programs read the word as a pattern even if it is quoted. */
function asPattern(word: Word): Word {
  return { ...word, glob: true }
}

/** The replacement in `s,^,.claude/,` may become a folder. */
function renamed(expressions: readonly Word[]): readonly Word[] {
  return expressions.flatMap((word) => {
    const [sign = '/'] = /(?<=^s)./s.exec(word.text) ?? []
    const [, , name = ''] = word.text.replaceAll(`\\${sign}`, '\0').split(sign)
    return name === '' ? [] : [withText(word, name.replaceAll('\0', sign))]
  })
}

/** The other programs unpack by a word (`7z x`) or by a letter (`cpio -i`). With -sdel, 7z deletes the files it packed. */
export const extractEffects: EffectReader = ({ name, args }) => {
  const shape = { valued: name === 'jar' ? 'C' : name === 'cpio' ? 'DEIFOHM' : 'oDEIF' }
  const [first, ...rest] = args
  const { operands, valuesOf } = argumentsOf(args, shape)
  const byLetter = /^(?:cpio|pax)$/.test(name)
  if (/^7z/.test(name) && args.some(({ text }) => text === '-sdel'))
    return each('delete', argumentsOf(rest, shape).operands.slice(1), true)
  const isIn = byLetter
    ? args.some(({ text }) => /^-\w*[irp]|^--(?:extract|pass-through)/.test(text))
    : /^-?\w*[xe]\w*$/.test(first?.text ?? '')
  if (name === 'ar' && /^-?[a-z]*[rqdms]/.test(first?.text ?? '')) return each('write', operands.slice(1, 2))
  if (byLetter && !isIn) return each('write', valuesOf('OF'))
  if (!isIn) return []
  const into = byLetter ? operands : operands.slice(1)
  return [...unpacked([...valuesOf('oDC'), literalWord('.')]), ...each('write', into, true)]
}

/** gzip and its kin write the name with and without their extension. */
export const packEffects: EffectReader = ({ name, args }) => {
  const { operands, valuesOf, has } = argumentsOf(args, { valued: 'oS', long: ['--suffix'] })
  if (has('clt', '--stdout', '--to-stdout', '--list', '--test')) return each('write', valuesOf('o'))
  const bare = operands.map((word) => withText(word, word.text.replace(/\.(?:gz|Z|xz|lzma|bz2|zst)$/, '')))
  const [named, others] = has('S', '--suffix') ? [valuesOf('S', '--suffix'), []] : [[], EXTENSIONS]
  const endings = [
    ...named.map(({ text }) => text),
    ...(others.find(([tools]) => tools.test(name))?.[1] ?? []),
  ]
  const packed = operands.flatMap((word) => endings.map((ending) => withText(word, word.text + ending)))
  return [
    ...each('write', [...operands, ...bare], has('r', '--recursive')),
    ...each('write', [...packed, ...valuesOf('o')]),
  ]
}

/** What each program adds to the name of a file that it packs. */
const EXTENSIONS: readonly (readonly [tools: RegExp, endings: readonly string[]])[] = [
  [/^gzip$/, ['.gz']],
  [/^xz$/, ['.xz']],
  [/^bzip2$/, ['.bz2']],
  [/^zstd$/, ['.zst']],
]

export const tarEffects: EffectReader = ({ args }) => {
  const [first] = args
  const bundled =
    first && /^[a-zA-Z]+$/.test(first.text) ? [withText(first, `-${first.text}`), ...args.slice(1)] : args
  const { operands, has, valuesOf } = argumentsOf(bundled, {
    valued: 'fCTXbIg',
    long: [
      '--file',
      '--directory',
      '--use-compress-program',
      '--to-command',
      '--checkpoint-action',
      '--transform',
      '--xform',
    ],
  })
  if (has('x', '--extract', '--get'))
    return [
      ...unpacked([...valuesOf('C', '--directory'), ...valuesOf('', '--one-top-level')]),
      ...each(
        'write',
        [...operands.map(asPattern), ...renamed(valuesOf('', '--transform', '--xform'))],
        true,
      ),
    ]
  if (!has('cruA', '--create', '--append', '--update', '--delete', '--concatenate', '--catenate')) return []
  const moved = valuesOf('C', '--directory').flatMap((folder) =>
    operands.map(({ text }) => inFolder(folder, text)),
  )
  const gone = args.some(({ text }) => /^--remove-/.test(text))
    ? each('delete', [...operands, ...moved], true)
    : []
  return [...each('write', valuesOf('f', '--file')), ...gone]
}

export const unzipEffects: EffectReader = ({ args }) => {
  const { operands, valuesOf } = argumentsOf(args, { valued: 'dP' })
  return [...unpacked(valuesOf('d')), ...each('write', operands.slice(1).map(asPattern))]
}

/** With `-m`, the files are deleted once they are in the archive. */
export const zipEffects: EffectReader = ({ args }) => {
  const { operands, has } = argumentsOf(args, { valued: 'bnPt' })
  const [archive, ...files] = operands
  return [
    ...(archive ? each('write', [archive, withText(archive, `${archive.text}.zip`)]) : []),
    ...(has('m', '--move') ? each('delete', files, true) : []),
  ]
}

/** Options of tar that carry a command line. */
const RUNS = /^--(?:use-compress-program|to-command|info-script|new-volume-script|rsh-command)=(.+)$/s

export function runByTar(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text, i) => {
    const next = texts[i + 1]
    if (
      /^(?:-\w*[IF]|--(?:use-compress-program|to-command|info-script|new-volume-script|rsh-command))$/.test(
        text,
      )
    )
      return next === undefined ? [] : [next]
    if (text === '--checkpoint-action') return next?.startsWith('exec=') ? [next.slice('exec='.length)] : []
    const found = RUNS.exec(text) ?? /^--checkpoint-action=exec=(.+)$/s.exec(text) ?? /^-I(.+)$/s.exec(text)
    return found?.[1] === undefined ? [] : [found[1]]
  })
}
