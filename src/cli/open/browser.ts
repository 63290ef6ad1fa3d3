// Starts the person's browser with a link that nobody else on the machine can see.

import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { programEnvironment } from '../../effects/shell/own-environment.js'
import { callerEnv } from '../../files/caller.js'
import { makePrivate } from '../../files/folder.js'
import { stateHome } from '../../files/homes.js'
import { removeIfThere } from '../../files/plain-file.js'
import { isProgram, searchPath } from '../../files/search-path.js'
import { isAgentShell } from '../person.js'
import { isTerminal } from '../print/terminal.js'

const STDOUT = 1

/** Whether a person sits before this machine, as far as one can tell. */
export function hasBrowser(): boolean {
  const { DISPLAY, WAYLAND_DISPLAY } = callerEnv()
  const isShown = process.platform !== 'linux' || Boolean(DISPLAY || WAYLAND_DISPLAY)
  return isTerminal(STDOUT) && isShown && !isAgentShell()
}

/**
 * Other users see the arguments of a program, so the browser gets a private file that leads to the link. Returns a
 * function that removes the file, or undefined if there is no program that opens it.
 */
export function startBrowser(link: string, { port, project }: StartOptions): (() => void) | undefined {
  const [program, ...args] = opener(project) ?? []
  if (program === undefined) return undefined
  const folder = join(stateHome(), 'page')
  const file = join(folder, `open-${port}.html`)
  makePrivate(folder)
  removeIfThere(file)
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${link}"><title>Carabiner</title><p><a href="${link}">Open the page</a></p></html>\n`
  writeFileSync(file, html, { mode: 0o600, flag: 'wx' })
  const env = programEnvironment(project)
  const child = spawn(program, [...args, file], { stdio: 'ignore', detached: true, env })
  // The link is printed, too.
  child.on('error', () => undefined)
  child.unref()
  return () => void removeIfThere(file)
}

interface StartOptions {
  readonly port: number
  readonly project: string
}

/** The program that opens a file in the browser. Never one of the project. */
function opener(project: string): readonly string[] | undefined {
  if (process.platform === 'darwin') return ['/usr/bin/open']
  if (process.platform === 'win32') return ['rundll32.exe', 'url.dll,FileProtocolHandler']
  const found = searchPath([project])
    .folders.map((folder) => join(folder, 'xdg-open'))
    .find(isProgram)
  return found === undefined ? undefined : [found]
}
