// Judges a command line: parses it, and applies every rule to every call in it.

import { fileEffectsOf } from '../../effects/files/file-effects.js'
import { isForkBomb } from '../../effects/script/fork-bomb.js'
import { withGivenWords } from '../../effects/script/given-words.js'
import { guessedLines, hiddenScripts } from '../../effects/script/hidden-scripts.js'
import { withInner } from '../../effects/script/inner-calls.js'
import { type Call, readScript, type Script } from '../../effects/script/shell-script.js'
import type { PackContext } from '../pack-hook.js'
import { guardsPaths } from '../settings.js'
import { scriptFindings } from './allow-list.js'
import { codeFindings } from './code-rule.js'
import { destructionBy } from './delete-rule.js'
import { diskFindings, diskOutputs, givenDisks } from './disk-rule.js'
import { asked, denied, type Finding } from './finding.js'
import { gitFindings } from './git-rule.js'
import { makeFindings } from './make-rule.js'
import { hiddenAgentFindings, ownProgramFindings, switchedOffFindings } from './own-program-rule.js'
import { type Places, TooMuch } from './places.js'
import { outputFindings, protectionFindings } from './self-protection.js'

const FORK_BOMB = 'This command keeps starting itself until the machine freezes. Do not run it.'

/** How deep command lines may be nested in words of command lines. */
const MOST_LAYERS = 3

export async function shellFindings(
  text: string,
  folder: string,
  context: PackContext,
  places: Places,
  layer = 0,
): Promise<readonly Finding[]> {
  try {
    return await readFindings(text, folder, context, places, layer)
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error
    return [
      asked('not-understood', 'This command names too many files to check. Split it into several steps.'),
    ]
  }
}

async function readFindings(
  text: string,
  folder: string,
  context: PackContext,
  places: Places,
  layer: number,
): Promise<readonly Finding[]> {
  const { settings } = context
  const read = await readScript(text, folder, context)
  const script: Script = { ...read, calls: withGivenWords(read.calls).flatMap(withInner) }
  const findings = script.calls.flatMap((call) => callFindings(call, script, context, places))
  if (settings.bash.denyList) {
    if (isForkBomb(script)) findings.push(denied('fork-bomb', FORK_BOMB))
    findings.push(...diskOutputs(script.outputs))
  }
  if (guardsPaths(settings)) {
    findings.push(...outputFindings(script, places), ...switchedOffFindings(script))
    findings.push(...hiddenAgentFindings(script, places))
  }
  findings.push(...scriptFindings(script, settings.bash))
  if (layer < MOST_LAYERS) {
    // An allow-list only applies to what the text itself runs.
    const inner = { ...context, settings: { ...settings, bash: { ...settings.bash, allow: [] } } }
    for (const { line } of hiddenScripts(script))
      findings.push(...(await shellFindings(line, folder, inner, places, layer + 1)))
    for (const line of guessedLines(script))
      findings.push(...(await shellFindings(line, folder, inner, places, MOST_LAYERS)).flatMap(asGuess))
  }
  const { unknown, why } = script.reading
  if (unknown) {
    findings.push(
      asked(
        'not-understood',
        `Carabiner cannot see everything that this command runs: ${why}. Write it out, in several steps if needed.`,
      ),
    )
  }
  return findings
}

/** The text may never run, so a deny becomes a question, and a question is dropped. */
function asGuess({ verdict, rule, reason }: Finding): Finding[] {
  return verdict === 'deny' ? [asked(rule, `Part of the text may be run as a command. ${reason}`)] : []
}

function callFindings(call: Call, script: Script, { settings }: PackContext, places: Places): Finding[] {
  const { bash } = settings
  const effects = fileEffectsOf(call.name)?.(call) ?? []
  const findings: Finding[] = []
  if (bash.denyList) {
    findings.push(...destructionBy(call, effects, places), ...diskFindings(call, effects))
    findings.push(...makeFindings(call))
    if (fileEffectsOf(call.name) === undefined) findings.push(...givenDisks(call))
    findings.push(...gitFindings(call, script, bash.protectedBranches))
  }
  if (guardsPaths(settings)) {
    findings.push(...protectionFindings(call, effects, script, places), ...codeFindings(call, script, places))
    findings.push(...ownProgramFindings(call, places))
  }
  // `aws-like rm "$x"`: the word may not be the program that it looks like.
  return findings.map((finding) =>
    call.isGuess && finding.rule === 'unresolved-delete' ? asked(finding.rule, finding.reason) : finding,
  )
}
