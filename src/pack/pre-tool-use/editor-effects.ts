// What an editor writes and runs that is started with commands: `vim -c 'w! x'`, `ed -s x <<< 'w y'`.

import { argumentsOf, type EffectReader, each, literalWord } from './effect.js'
import type { Call } from './shell-script.js'

const EDITORS = /^(?:vi|vim|nvim|view|ex|ed|red)$/
const SHAPE = { valued: 'cST', long: ['--cmd'] }

export const editEffects: EffectReader = (call) => {
  const valued = /^r?ed$/.test(call.name) ? 'p' : SHAPE.valued
  const { operands } = argumentsOf(call.args, { ...SHAPE, valued })
  return each('write', [...operands, ...commandsOf(call).flatMap(writtenBy).map(literalWord)])
}

/** Command lines behind `!`, and those that `system()` is called with. */
export function runByEditor(call: Call): readonly string[] {
  return commandsOf(call).flatMap((command) => {
    const [, line] = /^[\s:\d%$,.]*(?:[rw]\s+|terminal\s+|term\s+|silent!?\s+)?!+(.+)$/.exec(command) ?? []
    const [, called] = /\bsystem(?:list)?\(\s*['"]([^'"]+)['"]/.exec(command) ?? []
    return [line, called].filter((one) => one !== undefined)
  })
}

/** Each line of what it is given. */
function commandsOf({ name, args, input }: Call): readonly string[] {
  if (!EDITORS.test(name)) return []
  const { valuesOf } = argumentsOf(args, SHAPE)
  const plus = args.flatMap(({ text }) => (/^\+./.test(text) ? [text.slice(1)] : []))
  const texts = [...valuesOf('c', '--cmd').map(({ text }) => text), ...plus, ...input]
  return texts.flatMap((text) => text.split(/[\n|]/)).slice(0, 1000)
}

function writtenBy(command: string): readonly string[] {
  const [, file] =
    /^[\s:\d%$,.']*(?:silent!?\s+)?(?:w|wq|wri(?:te)?|sav(?:eas)?|up(?:date)?|x|xit|e|edit|f|file|W)!?\s*(?:>>)?\s+([^!\s].*)$/.exec(
      command,
    ) ?? []
  return file === undefined ? [] : [file.trim()]
}
