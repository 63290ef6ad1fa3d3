// The fixes that `doctor --fix` makes itself, and the page, too, where a fix only tightens.

import { chmodSync, closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync } from 'node:fs'
import { PLAIN } from '../../files/plain-file.js'
import { isInProject } from '../../files/within.js'
import { fileStores } from '../../store/file-stores.js'
import { recordRevoked } from '../answer-record.js'
import { userName } from '../person.js'
import { shortPath } from '../print/lines.js'
import type { Finding, Repair } from './finding.js'

/**
 * What a button on the page says. A fix that is not here lets a program run or write, so a person types it: whoever has
 * the cookie of the page need not be one.
 */
export const REPAIR_BUTTONS: Readonly<Partial<Record<Repair['kind'], string>>> = {
  'revoke-grant': 'Revoke the grant',
}

export interface Repaired {
  readonly code: Finding['code']
  /** One sentence. */
  readonly text: string
}

/** Throws an Error that says why it was not done. */
export async function repair({ code, repair: wanted }: Finding, project: string): Promise<Repaired> {
  if (!wanted) throw new Error(`there is no safe fix for ${code}`)
  return { code, text: await done(wanted, project) }
}

async function done(wanted: Repair, project: string): Promise<string> {
  switch (wanted.kind) {
    case 'revoke-grant':
      return revoked(wanted.id, project)
    case 'make-executable':
      return executable(wanted.path, project)
    case 'make-writable':
      return writable(wanted.path)
  }
}

async function revoked(id: string, project: string): Promise<string> {
  const { sessions } = fileStores({ projectDir: project })
  const grant = (await sessions.grants()).find((one) => one.id === id)
  if (!grant || !(await sessions.revokeGrant(id))) throw new Error('there is no such grant any more')
  const problem = await recordRevoked(project, [grant], userName())
  return `revoked the grant ${id.slice(0, 8)}${problem === undefined ? '' : `; ${problem}`}`
}

/** Only the owner's own file, and never one of the project: that was trusted with its mode. */
function executable(path: string, project: string): string {
  if (isInProject(path, project)) throw new Error(`${shortPath(path)} belongs to the project`)
  const fd = openSync(path, constants.O_RDONLY | PLAIN)
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile() || !isMine(stats)) throw new Error(`${shortPath(path)} is not a file of yours`)
    fchmodSync(fd, (stats.mode & 0o7777) | 0o100)
  } finally {
    closeSync(fd)
  }
  return `made ${shortPath(path)} executable for you`
}

function writable(path: string): string {
  const stats = lstatSync(path)
  if (!stats.isDirectory() || !isMine(stats)) throw new Error(`${shortPath(path)} is not a folder of yours`)
  chmodSync(path, (stats.mode & 0o7777) | 0o700)
  return `made ${shortPath(path)} writable for you`
}

function isMine({ uid }: { readonly uid: number }): boolean {
  return process.geteuid === undefined || uid === process.geteuid()
}
