// Which programs can be the helper on this machine: clip, or else Node.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isProgram } from '../../files/search-path.js'
import { clipFile, clipState } from '../../hosts/clip-file.js'
import { CLIP } from '../../hosts/own-command.js'
import type { HelperCommand } from './helper.js'

/** As in src/service/clip.c: an older clip, or a newer one, ends at once. */
const SPAWNER = '--spawner=1'

/** Bytes of memory. In a smaller process, a helper in Node gains nothing. */
const LARGE = 100 * 1024 * 1024

const NODE_HELPER = 'spawner.mjs'

/** The best one first. */
export function helperCommands(): readonly HelperCommand[] {
  const [clip, script] = [readyClip(), inPackage(NODE_HELPER)]
  const all: HelperCommand[] = []
  if (clip !== undefined) all.push({ file: clip, args: [SPAWNER], hasGuard: true })
  if (script !== undefined && isNodeGood())
    all.push({ file: process.execPath, args: [script, String(process.pid)], hasGuard: false })
  return all
}

function isNodeGood(): boolean {
  // The program of an Electron app is the app.
  if (process.versions.electron !== undefined || process.memoryUsage.rss() < LARGE) return false
  // Node lets itself open as many files as it may, and programs would get that from it.
  return /^Max open files +(\d+) +\1 /m.test(readFileSync('/proc/self/limits', 'latin1'))
}

/** One that came with the release, or the one that setup made. */
function readyClip(): string | undefined {
  const prebuilt = inPackage(join('prebuilt', `${process.platform}-${process.arch}`, CLIP))
  if (prebuilt !== undefined && isProgram(prebuilt)) return prebuilt
  return clipState(undefined) === 'good' ? clipFile() : undefined
}

/** Beside the program, or in the `bin` of the package that the library belongs to. */
function inPackage(name: string): string | undefined {
  const start = dirname(fileURLToPath(import.meta.url))
  const places = ['.', 'bin', '../bin', '../../../dist/bin'].map((place) => join(start, place, name))
  return places.find((path) => existsSync(path))
}
