// `carabiner rules`: the presets of rules, to read and to copy.

import { presetFile } from '../../rules/presets.js'
import { PRESET_NAMES } from '../../rules/rule.js'
import { type Command, chosen } from '../command.js'
import { fitted } from '../print/fit.js'
import { columns, counted, nextLines } from '../print/lines.js'

export const command: Command = {
  name: 'rules',
  summary: 'Show the presets of rules, to read and to copy.',
  positionals: ['[PRESET]'],
  completes: [PRESET_NAMES],
  about:
    'With a name it prints that preset as a rules file. In your own file, {"preset": "standard"} takes all of its rules, ' +
    'and a rule with the id "standard/…" changes one of them. Without a name it lists the presets. carabiner list shows ' +
    'the rules that are in force.',
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
      const file = presetFile(chosen(named, PRESET_NAMES, 'There is no preset'))
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
