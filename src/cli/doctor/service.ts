// The service, and clip, which asks it: whether agents can start clip, whether it is what setup made, and whether the service answers.

import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { readIfThere } from '../../files/plain-file.js'
import { realOf } from '../../files/within.js'
import { clipFile, clipState } from '../../hosts/clip-file.js'
import { isGone, ownCommand } from '../../hosts/own-command.js'
import { settingsFiles } from '../../pack/registrations.js'
import { isServiceOff, recipeFor } from '../../service/clip.js'
import {
  failureFile,
  findServices,
  folderProblem,
  isRunning,
  killLine,
  type Service,
  serviceFolder,
  silentText,
} from '../../service/socket/running-services.js'
import { counted, fromHere, shortPath } from '../print/lines.js'
import { agentCommands } from './agent-files.js'
import type { Facts } from './facts.js'
import type { Checked, Finding } from './finding.js'

/** A command in an agent's settings that starts through clip. */
interface Warm {
  readonly clip: string
  readonly file: string
  readonly line: number
  /** Makes it again. */
  readonly setup: string
}

export async function service(facts: Facts): Promise<Checked> {
  const own = (await agentCommands(facts.project)).commands.flatMap(({ command, file, line, setup }) => {
    const found = ownCommand({ command })
    return found ? [{ clip: found.clip, file, line, setup }] : []
  })
  const warm = own.flatMap(({ clip, ...place }) => (clip === undefined ? [] : [{ clip, ...place }]))
  const services = await findServices()
  const running = services.filter(isRunning).length
  const unused = running > 0 ? `not used, ${counted(running, 'service')} still running` : 'not used'
  if (own.length === 0) return { what: unused, findings: [] }
  if (warm.length === 0) return { what: unused, findings: await missing(own[0]?.setup ?? SETUP) }
  return {
    what: `${counted(warm.length, 'hook')} through clip, ${counted(running, 'service')} running`,
    findings: [...(await clips(warm, facts)), ...whyUnused(), ...services.flatMap(silent), ...failed()],
  }
}

const SETUP = 'carabiner setup'

/** Worth a note if setup would use the service but for something that the user can install. */
async function missing(setup: string): Promise<readonly Finding[]> {
  if (isServiceOff(process.env) || clipState(undefined) !== 'missing') return []
  const recipe = await recipeFor(process.argv[1] ?? '')
  if ('digest' in recipe)
    return [note('Every hook starts Node. With the service, hooks answer several times as fast', setup)]
  if (recipe.fix === undefined) return []
  return [
    note(`Every hook starts Node, and no service is used. ${recipe.why}`, `${recipe.fix} Then run ${setup}.`),
  ]
}

function note(text: string, fix: string): Finding {
  return { severity: 'note', code: 'service-unused', text, fix }
}

// ---- clip -----------------------------------------------------------------------------------------------------

async function clips(warm: readonly Warm[], { home, project }: Facts): Promise<readonly Finding[]> {
  const byClip = new Map(warm.map((one) => [realOf(one.clip), one]))
  const own = byClip.get(realOf(clipFile()))
  byClip.delete(realOf(clipFile()))
  const findings = [...(own ? await ofOwn(own) : []), ...[...byClip.values()].flatMap(ofOther)]
  const places = settingsFiles(home, project, process.env)
  const setupOf = (path: string) => warm.find(({ file }) => file === path)?.setup ?? SETUP
  return findings.map((one) => ({
    ...one,
    fix: places.find(({ file }) => file === realOf(one.file))?.heal ?? setupOf(one.file),
  }))
}

/** A finding about the entry at this place. The fix depends on the file. */
type AboutClip = Omit<Finding, 'fix' | 'file'> & { readonly file: string }

/** A missing one is told with the registrations. */
async function ofOwn({ file, line }: Warm): Promise<readonly AboutClip[]> {
  const recipe = await recipeFor(process.argv[1] ?? '')
  const clip = shortPath(clipFile())
  const place = { file, line }
  switch (clipState('digest' in recipe ? recipe.digest : undefined)) {
    case 'blocked':
      return [
        {
          ...place,
          severity: 'broken',
          code: 'clip-unusable',
          text: `${clip} cannot be executed, so no hook that starts through it runs`,
        },
      ]
    case 'changed':
      return [
        {
          ...place,
          severity: 'broken',
          code: 'clip-unusable',
          text: `${clip} is not the program that setup made, and it runs before every hook`,
        },
      ]
    case 'older':
      return [
        {
          ...place,
          severity: 'warning',
          code: 'clip-older',
          text: `${clip} belongs to another version of Carabiner; hooks may start Node instead of asking the service`,
        },
      ]
    default:
      return []
  }
}

/** Another user's, or that of another CARABINER_HOME. */
function ofOther({ clip, file, line }: Warm): readonly AboutClip[] {
  if (isGone(clip)) return []
  const text = `hooks start through ${shortPath(clip)}, but setup makes ${shortPath(clipFile())}`
  return [{ severity: 'warning', code: 'clip-unusable', file, line, text }]
}

// ---- the service ----------------------------------------------------------------------------------------------

function whyUnused(): readonly Finding[] {
  if (isServiceOff(process.env))
    return [note('CARABINER_SERVICE=off is set: hooks start Node', 'unset CARABINER_SERVICE')]
  const folder = serviceFolder()
  const problem = folderProblem(folder)
  if (problem === undefined) return []
  const path = shellQuoted(fromHere(folder))
  const fix = problem.startsWith('is open')
    ? `chmod 700 ${path}`
    : `mv ${path} ${shellQuoted(`${fromHere(folder)}.old`)}`
  const text = `${shortPath(folder)} ${problem}, so clip does not use it, and hooks start Node`
  return [{ severity: 'warning', code: 'service-unused', file: folder, text, fix }]
}

function silent(found: Service): readonly Finding[] {
  if (found.state !== 'silent') return []
  return [
    {
      severity: 'warning',
      code: 'service-silent',
      file: found.socket,
      text: silentText(found),
      fix: killLine(found),
    },
  ]
}

const LARGEST_FAILURE = 64 * 1024

function failed(): readonly Finding[] {
  const file = failureFile()
  const read = readIfThere(file, LARGEST_FAILURE)
  if (!read || 'problem' in read) return []
  const [time = '', error = ''] = read.text.split('\n')
  return [
    {
      severity: 'warning',
      code: 'service-failed',
      file,
      text: `the service ended with an error at ${time}: ${error}`,
      fix: `rm ${shellQuoted(fromHere(file))}   # after you have reported it; later events start a new one`,
    },
  ]
}
