// Limits on a plugin's size.

import { PluginProblem } from '../plugin-problem.js'

export const MOST_ENTRIES = 10_000
export const MOST_BYTES = 64 * 1024 * 1024
export const MOST_FILE_BYTES = 16 * 1024 * 1024

const SMALLER = 'If the plugin is only a part of the source, name its folder with --path DIR.'

export function tooLarge(path: string | undefined, most: number): PluginProblem {
  const what = path === undefined ? 'The plugin' : JSON.stringify(path.slice(0, 200))
  return new PluginProblem('TOO_LARGE', `${what} is larger than ${most / 1024 / 1024} MiB`, SMALLER)
}

export function tooMany(): PluginProblem {
  return new PluginProblem('TOO_LARGE', `The plugin has more than ${MOST_ENTRIES} files and folders`, SMALLER)
}
