// Whether the commands that setup registers ask the service: makes clip for them, or says why every hook starts Node.

import { dirname } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { dataHome } from '../../files/homes.js'
import { isInProject } from '../../files/within.js'
import { clipFile, clipState } from '../../hosts/clip-file.js'
import type { Program } from '../../hosts/entries.js'
import { isServiceOff, makeClip, recipeFor } from '../../service/clip.js'
import type { Output } from '../output.js'
import { isAgentShell } from '../person.js'
import { shortPath } from '../print/lines.js'
import { withProgress } from '../print/progress.js'
import { projectOf } from '../sources.js'

export interface Start {
  /** With clip, if the service is used. */
  readonly program: Program
  /** Why not, in whole sentences. Undefined if it is used. */
  readonly why: string | undefined
}

interface Wanted {
  /** The user wants no service. */
  readonly off: boolean
  /** Nothing must be written. */
  readonly dry: boolean
  /** The clips that the settings name now. */
  readonly registered: readonly string[]
}

export async function startOf(program: Program, wanted: Wanted, output: Output): Promise<Start> {
  const why = await problemOf(program, wanted, output)
  return why === undefined ? { program: { ...program, clip: clipFile() }, why } : { program, why }
}

async function problemOf(
  program: Program,
  { off, dry, registered }: Wanted,
  output: Output,
): Promise<string | undefined> {
  if (off) return '--no-service was given.'
  if (isServiceOff(process.env)) return 'CARABINER_SERVICE=off is set.'
  if (isInProject(dataHome(), projectOf({ project: undefined })))
    return `${shortPath(dataHome())} is in a project, which could replace the program that asks it.`
  const isMade = clipState(undefined) === 'good'
  // Its shell decides which compiler is found, and where clip would be.
  if (isAgentShell())
    return isMade && registered.includes(clipFile())
      ? undefined
      : 'An agent runs this. Run it in your own terminal to switch the service on.'
  const recipe = await recipeFor(program.script)
  if (!('digest' in recipe)) {
    // An older one still works.
    if (isMade) return undefined
    return `${recipe.why}${recipe.fix === undefined ? '' : ` ${recipe.fix} Then run this again.`}`
  }
  if (dry) return undefined
  try {
    await withProgress('compiling clip', output, () => makeClip(program, recipe))
    return undefined
  } catch (error) {
    return `clip could not be made in ${shortPath(dirname(clipFile()))}: ${textOf(error)}.`
  }
}

/** One line, after the label `service`. */
export function startText({ program, why }: Start, isDry = false): string {
  if (program.clip !== undefined)
    return `${isDry ? 'would be on' : 'on'}: hooks ask a program that stays ready, instead of starting Node`
  return `off: every hook starts Node. ${why}`
}
