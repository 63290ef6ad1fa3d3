// The preset of rules that setup starts the user's rules file with. A file that is there already stays as it is.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { rulesFileOf } from '../../config/discovery.js'
import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import { userHome } from '../../files/homes.js'
import { lstatIfThere } from '../../files/if-there.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import { presetFile } from '../../rules/presets.js'
import { PRESET_NAMES, type PresetName } from '../../rules/rule.js'
import { chosen, type OptionTable } from '../command.js'
import { answerTo, isLeaving } from '../confirm.js'
import { isCode, type Output } from '../output.js'
import { fitted } from '../print/fit.js'
import { columns, shortPath } from '../print/lines.js'
import { type Paint, painter } from '../print/terminal.js'
import { Refusal } from '../refusal.js'

const NONE = 'none'
const CHOICES = [...PRESET_NAMES, NONE] as const
type PresetChoice = (typeof CHOICES)[number]

export const PRESET_OPTION = {
  preset: {
    type: 'string',
    value: 'NAME',
    completes: CHOICES,
    help: 'Start your rules with careful, standard, relaxed or none.',
  },
} as const satisfies OptionTable

/** False if nobody can look there: writing the file then says why. */
export function hasRules(): boolean {
  try {
    return lstatIfThere(ownRules()) !== undefined
  } catch {
    return false
  }
}

function ownRules(): string {
  return rulesFileOf(userHome())
}

/** Undefined for none. */
export function presetCalled(name: string | undefined): PresetName | undefined {
  if (name === undefined) return undefined
  return wanted(chosen(name, CHOICES, 'There is no preset'))
}

function wanted(choice: PresetChoice): PresetName | undefined {
  return choice === NONE ? undefined : choice
}

// ---- asking ---------------------------------------------------------------------------------------------------

/** The name that a person chooses. */
export async function askedPreset(output: Output): Promise<PresetChoice> {
  const paint = painter(1)
  const rows = columns(CHOICES.map((name, i) => [`  ${i + 1}`, name, meaningOf(name)]))
  const lines = rows.map(([number, name = '', means]) => `${number}  ${paint.cyan(name)}  ${means}`)
  await output.print(fitted([paint.bold('Rules about what your agents may do'), ...lines]))
  for (;;) {
    const typed = await answerTo('Type a number or a name. Press Enter for none, or q to leave: ', output)
    if (typed === undefined || isLeaving(typed))
      throw new Refusal('NOT_ANSWERED', 'Nothing was registered: no preset was chosen')
    if (typed === '') return NONE
    const choice = CHOICES[Number(typed) - 1] ?? CHOICES.find((name) => name === typed.toLowerCase())
    if (choice !== undefined) return choice
    await output.print([`${JSON.stringify(visible(typed))} is not on the list.`])
  }
}

function meaningOf(choice: PresetChoice): string {
  return choice === NONE ? 'No rules. You can write some later.' : presetFile(choice).description
}

// ---- writing --------------------------------------------------------------------------------------------------

export interface StartedRules {
  readonly file: string
  readonly preset: PresetName
  /** `there`: the file existed before, and was not changed. */
  readonly state: 'written' | 'would be written' | 'there'
}

/** Never changes a file. */
export function startRules(preset: PresetName, isDry: boolean): StartedRules {
  const file = ownRules()
  if (hasRules()) return { file, preset, state: 'there' }
  if (isDry) return { file, preset, state: 'would be written' }
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, textFor(preset), { flag: 'wx', mode: 0o644 })
    return { file, preset, state: 'written' }
  } catch (error) {
    if (isCode(error, 'EEXIST') && hasRules()) return { file, preset, state: 'there' }
    const hint = `The hooks are registered. Correct this and run the command again, or write {"preset": "${preset}"} into that file.`
    throw new SetupProblem(`${file} cannot be written: ${textOf(error)}`, hint)
  }
}

function textFor(preset: PresetName): string {
  return `{
  // What agents may do. To see the rules of the preset: carabiner rules ${preset}
  "preset": "${preset}",
  // Your own rules, and changes to those of the preset: carabiner docs rules
  "rules": []
}
`
}

export function rulesLines({ file, preset, state }: StartedRules, paint: Paint): readonly string[] {
  const path = visible(shortPath(file))
  switch (state) {
    case 'written':
      return [`wrote ${path} with the preset ${preset}`]
    case 'would be written':
      return [`would write ${path} with the preset ${preset}`]
    case 'there':
      return [
        `${paint.yellow('left alone')} ${path}: it exists. For the preset, write "preset": "${preset}" in it`,
      ]
  }
}

/** After hooks were removed. */
export function leftRules(): string | undefined {
  return hasRules() ? `${shortPath(ownRules())} has your rules` : undefined
}
