// npm start: a short tour, or with --all a scripted agent session through real hooks and what came of every event.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { playApproval } from './approval.mjs'
import { play } from './player.mjs'
import { playPlugin } from './plugin.mjs'
import {
  auditLine,
  diagnosticLine,
  eventLines,
  painter,
  resultLine,
  skippedLine,
  stepLines,
  summaryLine,
} from './print.mjs'
import { missingPrograms } from './programs.mjs'
import { playPrompt } from './prompt.mjs'
import { playResident } from './resident.mjs'
import { findPlugins, loadHooks, readScript, ScriptError } from './script.mjs'
import { playTour } from './tour.mjs'
import { playTrust } from './trust.mjs'

/** @import { Played } from './player.mjs' */

const HELP = `Plays a scripted agent session through real hooks. Needs no model, key or network.

Usage: node examples/play/play.mjs [--all | SCRIPT]

Without arguments: a tour of six calls. With --all: the session.json beside this program, and
every kind of hook, trust, approvals and plugins. SCRIPT is a JSON file with a session of yours.
A script names hook modules and plugins, and they are run: play only what you would run.

Examples:
  npm start -- --all
  node examples/play/play.mjs my-session.json

Options:
  --all     plays everything
  --help    prints this`

const USAGE_ERROR = 64

const paint = painter(process.stdout.isTTY === true && !process.env.NO_COLOR)
/** @param {readonly string[]} lines */
const print = (lines) => console.log(lines.join('\n'))

/**
 * @param {string} file
 * @param {boolean} isOwn the session that comes with this program
 */
async function playAll(file, isOwn) {
  const script = await readScript(file)
  const missing = await missingPrograms([...script.plugins, ...script.steps].map(({ needs }) => needs))
  const isMissing = (/** @type {string | undefined} */ needs) => needs !== undefined && missing.has(needs)
  const cast = {
    registers: await loadHooks(script),
    plugins: await findPlugins(script, isMissing),
    isMissing,
  }
  /** @type {Played[]} */
  const events = []
  const skipped = script.plugins.filter(({ needs }) => isMissing(needs))
  print([paint.bold(script.title ?? script.file), ...skipped.map((one) => skippedLine(one, paint))])
  const { diagnostics, audit } = await play(script, cast, {
    onStep: (step) => print(stepLines(step, paint)),
    onEvent: (played) => {
      events.push(played)
      print(eventLines(played, paint))
    },
    onResult: (text) => print([resultLine(text)]),
  })
  if (isOwn) await playResident(paint, print)
  if (isOwn) await playPrompt(paint, print)
  if (isOwn) await playTrust(paint, print)
  if (isOwn) await playApproval(paint, print)
  if (isOwn) await playPlugin(paint, print)
  print(['', ...diagnostics.map((one) => diagnosticLine(one, paint)), paint.bold(summaryLine(events))])
  print([auditLine(audit, paint)])
}

/** @returns {{ help: boolean, file: string | undefined, isOwn: boolean } | string} or what is wrong with the command line */
function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        all: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (positionals.length > 1) return `one script at a time, got ${positionals.join(' ')}`
    if (values.all && positionals.length > 0) return '--all plays everything; leave out the script'
    const own = relative('', fileURLToPath(new URL('session.json', import.meta.url)))
    return { help: values.help, file: positionals[0] ?? (values.all ? own : undefined), isOwn: values.all }
  } catch (error) {
    return /** @type {Error} */ (error).message
  }
}

// A reader that has seen enough (`| head`) is no error; the session is played to its end and cleans up.
process.stdout.on('error', (error) => {
  if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPIPE') throw error
})

const given = readArguments()
if (typeof given === 'string') {
  console.error(`${given}\nTry: node examples/play/play.mjs --help`)
  process.exitCode = USAGE_ERROR
} else if (given.help) {
  console.log(HELP)
} else {
  // What plugins keep, they keep here: nothing is left in the home of whoever looks on.
  const kept = await mkdtemp(join(tmpdir(), 'carabiner-play-'))
  process.env.CARABINER_HOME = kept
  await (given.file === undefined ? playTour(paint, print) : playAll(given.file, given.isOwn))
    .catch((error) => {
      if (!(error instanceof ScriptError)) throw error
      console.error(error.message)
      process.exitCode = 1
    })
    .finally(() => rm(kept, { recursive: true, force: true }))
}
