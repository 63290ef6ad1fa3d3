// The lists of commands in commands/: a bad one names effects that must be seen, an ordinary one names none.

import { readdirSync, readFileSync } from 'node:fs'

export interface ListedCommand {
  readonly family: string
  readonly command: string
  /** Each is part of an effect of the command. */
  readonly effects?: readonly Readonly<Record<string, unknown>>[]
}

/** The folders that the lists assume. */
export const HOME = '/home/dev'
export const PROJECT = '/home/dev/app'

const FOLDER = new URL('commands/', import.meta.url)

const all = readdirSync(FOLDER)
  .sort()
  .flatMap((file) => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as ListedCommand[])

/** Destructive or leaking. */
export const BAD: readonly ListedCommand[] = all.filter(({ effects }) => effects !== undefined)
export const ORDINARY: readonly ListedCommand[] = all.filter(({ effects }) => effects === undefined)
