// The files that curl and wget write: those named by options, and those named by the address.

import { type Word, withText } from '../script/word.js'
import { argumentsOf, baseOf, type EffectReader, each, inFolder } from './file-effect.js'

const CURL = [
  ...['--output', '--dump-header', '--cookie-jar', '--stderr', '--trace', '--trace-ascii', '--etag-save'],
  ...['--hsts', '--alt-svc', '--libcurl'],
]

/** With `-O`, the last part of the address is the file's name. */
export const curlEffects: EffectReader = ({ args }) => {
  const { operands, has, valuesOf } = argumentsOf(args, {
    valued: 'oDcHXdAbeFuTx',
    long: [...CURL, '--output-dir', '--header', '--data'],
  })
  const named = has('OJ', '--remote-name', '--remote-header-name') ? operands.map(lastPart) : []
  // `#1` stands for a variable part of the address.
  const written = [
    ...valuesOf('oDc', ...CURL).map((word) =>
      /#\d/.test(word.text) ? { ...word, text: word.text.replace(/#\d/g, '*'), glob: true } : word,
    ),
    ...named,
  ]
  return each('write', [...written, ...within(valuesOf('', '--output-dir'), written)])
}

const WGET = ['--output-document', '--output-file', '--append-output', '--save-cookies']

export const wgetEffects: EffectReader = ({ args }) => {
  const { operands, has, valuesOf } = argumentsOf(args, {
    valued: 'OPoaUe',
    long: [...WGET, '--directory-prefix', '--header'],
  })
  const named = has('O', '--output-document') ? [] : operands.map(lastPart)
  const folders = valuesOf('P', '--directory-prefix')
  return each('write', [...valuesOf('Ooa', ...WGET), ...folders, ...named, ...within(folders, named)])
}

function within(folders: readonly Word[], names: readonly Word[]): readonly Word[] {
  return folders.flatMap((folder) =>
    names.map((name) => ({ ...inFolder(folder, name.text), known: folder.known && name.known })),
  )
}

function lastPart(address: Word): Word {
  return withText(address, baseOf(withText(address, address.text.replace(/[?#].*$/s, ''))))
}
