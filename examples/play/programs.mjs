// Which programs this machine lacks: a plugin is not played where its language is not installed.

import { execFile } from 'node:child_process'

/**
 * @param {readonly (string | undefined)[]} needed
 * @returns {Promise<ReadonlySet<string>>}
 */
export async function missingPrograms(needed) {
  const names = [...new Set(needed)].filter((name) => name !== undefined)
  const missing = await Promise.all(names.map(isMissing))
  return new Set(names.filter((_name, at) => missing[at]))
}

/**
 * A program that is there and cannot start is of no use: a version manager leaves such ones behind.
 *
 * @param {string} name
 * @returns {Promise<boolean>}
 */
function isMissing(name) {
  return new Promise((done) => execFile(name, ['--version'], (error) => done(error !== null)))
}
