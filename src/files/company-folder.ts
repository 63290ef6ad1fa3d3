// The company's policy on this machine: a folder of root that is laid out like `.amplifier`.

import { lstatSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { lstatIfThere } from './if-there.js'
import { noted } from './looks.js'
import { checkOwned, ROOT_FOLDER } from './root-owned.js'

export interface CompanyFolder {
  readonly path: string
  /** Default: root. */
  readonly owner?: number
}

export const COMPANY_FOLDER: CompanyFolder = { path: join(ROOT_FOLDER, 'policy') }

export interface CompanyPolicy {
  readonly folder: string
  /** Why nobody can rely on it. Then every tool call is refused. */
  readonly problem?: string
}

/** Undefined if this machine has none. */
export function companyPolicy({ path, owner = 0 }: CompanyFolder): CompanyPolicy | undefined {
  const problem = problemOf(`${owner} ${path}`)
  if (problem === undefined) return undefined
  return problem === '' ? { folder: path } : { folder: path, problem }
}

/** A policy is a few files. More would slow down every event. */
const MOST_FILES = 10_000

/** Empty if there is none, undefined if there is no such folder. Every file counts: one that others can write is not the company's. */
const problemOf = noted((asked): string | undefined => {
  const [, owner = '', path = ''] = /^(\d+) (.*)$/s.exec(asked) ?? []
  try {
    if (lstatIfThere(path) === undefined) return undefined
    checkOwned(dirname(path), Number(owner))
    checkAll(Number(owner), path)
    return ''
  } catch (error) {
    return textOf(error)
  }
})

function checkAll(owner: number, folder: string): void {
  const paths = [folder]
  for (let seen = 0; paths.length > 0; seen++) {
    if (seen >= MOST_FILES) throw new Error(`${folder} has more than ${MOST_FILES} files`)
    const path = paths.pop() as string
    checkOwned(path, owner)
    if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) paths.push(join(path, name))
  }
}
