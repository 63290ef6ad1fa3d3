// What an editor writes and runs when it is started with commands: `vim -c 'w! x'`, `ed -s x <<< 'w y'`.

import { remembered } from '../remembered.js'
import type { Call } from '../script/shell-script.js'
import { ITS_INPUT } from '../script/word.js'
import { argumentsOf, type EffectReader, each, literalWord } from './file-effect.js'

const EDITORS = /^(?:vi|vim|nvim|view|ex|ed|red)$/
const SHAPE = { valued: 'cST', long: ['--cmd'] }

export const editEffects: EffectReader = (call) => {
  const valued = /^r?ed$/.test(call.name) ? 'p' : SHAPE.valued
  const { operands } = argumentsOf(call.args, { ...SHAPE, valued })
  const written = commandsOf(call).flatMap(writtenBy).map(literalWord)
  const isFed = /^(?:r?ed|ex)$/.test(call.name) && call.readsFrom.length > 0 && printedTo(call) === undefined
  if (isFed) written.push({ text: ITS_INPUT, known: false, glob: false })
  return each('write', [...operands, ...written])
}

export const isEditor = remembered((name) => EDITORS.test(name))

/** Command lines after `!`, and those passed to `system()`. */
export function runByEditor(call: Call): readonly string[] {
  if (!isEditor(call.name)) return []
  return commandsOf(call).flatMap((command) => {
    const [, line] = /^[\s:\d%$,.]*(?:[rw]\s+|terminal\s+|term\s+|silent!?\s+)?!+(.+)$/.exec(command) ?? []
    const [, called] = /\bsystem(?:list)?\(\s*['"]([^'"]+)['"]/.exec(command) ?? []
    return [line, called].filter((one) => one !== undefined)
  })
}

/** What echo and printf print. Undefined for other programs. */
function printedTo({ readsFrom: [source] }: Call): readonly string[] | undefined {
  if (!source || !/^(?:echo|printf)$/.test(source.name)) return undefined
  return source.args.map(({ text }) => text.replaceAll('\\n', '\n'))
}

/** The editor commands that it gets, one by one. */
function commandsOf(call: Call): readonly string[] {
  const { name, args, input } = call
  if (!isEditor(name)) return []
  const { valuesOf } = argumentsOf(args, SHAPE)
  const plus = args.flatMap(({ text }) => (/^\+./.test(text) ? [text.slice(1)] : []))
  const texts = [
    ...valuesOf('c', '--cmd').map(({ text }) => text),
    ...plus,
    ...input,
    ...(printedTo(call) ?? []),
  ]
  return texts.flatMap((text) => text.split(/[\n|]/)).slice(0, 1000)
}

function writtenBy(command: string): readonly string[] {
  const [, file] =
    /^[\s:\d%$,.']*(?:silent!?\s+)?(?:w|wq|wri(?:te)?|sav(?:eas)?|up(?:date)?|x|xit|e|edit|f|file|W)!?\s*(?:>>)?\s+([^!\s].*)$/.exec(
      command,
    ) ?? []
  return file === undefined ? [] : [file.trim()]
}
