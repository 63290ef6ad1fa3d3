// `carabiner rules`: the presets of rules, to read and to copy.

import { GUARD, guardFile, presetFile } from '../../rules/presets.js'
import { PRESET_NAMES } from '../../rules/rule.js'
import { type Command, chosen } from '../command.js'
import { fitted } from '../print/fit.js'
import { columns, counted, nextLines } from '../print/lines.js'

/** The guard's rules are no preset of a file, but people read them in the same way. */
const NAMES = [...PRESET_NAMES, GUARD] as const

export const command: Command = {
  name: 'rules',
  summary: 'Show the presets of rules, to read and to copy.',
  positionals: ['[PRESET]'],
  completes: [NAMES],
  about:
    'With a name it prints that preset as a rules file. In your own file, {"preset": "standard"} takes all of its rules, ' +
    'and a rule with the id "standard/…" changes one of them. "guard" prints the rules of the guard, which you change with ' +
    'the id "guard/…". Without a name it lists the presets. carabiner list shows the rules that are in force.',
  options: {},
  examples: [
    { does: 'Which presets are there?', line: 'carabiner rules' },
    { does: 'What does one say?', line: 'carabiner rules standard' },
    {
      does: 'Copy it, to change it as you like.',
      line: 'carabiner rules relaxed > my-rules.json',
    },
    {
      does: 'What would it have done last week?',
      line: 'carabiner replay --rules my-rules.json',
      needs: 'the copy above',
    },
  ],
  async run({ positionals: [named] }, output) {
    if (named !== undefined) {
      const name = chosen(named, NAMES, 'There is no preset')
      const file = name === GUARD ? guardFile() : presetFile(name)
      return output.result(file, () => JSON.stringify(file, null, 2).split('\n'))
    }
    const all = PRESET_NAMES.map((name) => {
      const { description, rules } = presetFile(name)
      return { name, description, rules: rules.length }
    })
    return output.result({ presets: all }, (paint) => [
      ...fitted(
        columns(all.map(({ name, rules, description }) => [name, counted(rules, 'rule'), description])).map(
          ([name = '', rules, description]) => `${paint.cyan(name)}  ${rules}  ${description}`,
        ),
      ),
      ...nextLines(['carabiner rules standard', 'carabiner setup --preset standard'], paint),
    ])
  },
}
