// What tar, unzip and zip do to files: they unpack over what is there, and some remove what they have packed.

import { argumentsOf, type Effect, type EffectReader, each, literalWord, one } from './effect.js'
import { type Word, withText } from './word.js'

/** Into a folder, or where the call is. */
function unpacked(folders: readonly Word[]): Effect[] {
  const targets = folders.length > 0 ? folders : [literalWord('.')]
  return targets.map((target) => ({ ...one('write', target, true), arrives: 'names' }))
}

export const tarEffects: EffectReader = ({ args }) => {
  const [first] = args
  const bundled =
    first && /^[a-zA-Z]+$/.test(first.text) ? [withText(first, `-${first.text}`), ...args.slice(1)] : args
  const { operands, has, valuesOf } = argumentsOf(bundled, {
    valued: 'fCTXbIg',
    long: ['--file', '--directory', '--use-compress-program', '--to-command', '--checkpoint-action'],
  })
  if (has('x', '--extract', '--get'))
    return [...unpacked(valuesOf('C', '--directory')), ...each('write', operands, true)]
  if (!has('cruA', '--create', '--append', '--update')) return []
  const gone = args.some(({ text }) => /^--remove-/.test(text)) ? each('delete', operands, true) : []
  return [...each('write', valuesOf('f', '--file')), ...gone]
}

export const unzipEffects: EffectReader = ({ args }) => {
  const { operands, valuesOf } = argumentsOf(args, { valued: 'dP' })
  return [...unpacked(valuesOf('d')), ...each('write', operands.slice(1))]
}

/** With `-m` the files are in the archive only. */
export const zipEffects: EffectReader = ({ args }) => {
  const { operands, has } = argumentsOf(args, { valued: 'bnPt' })
  const [archive, ...files] = operands
  return [
    ...(archive ? each('write', [archive]) : []),
    ...(has('m', '--move') ? each('delete', files, true) : []),
  ]
}

/** Command lines in the options of tar. */
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
