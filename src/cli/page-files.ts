// The files of a page, which the build puts into a folder beside the program.

import { dirname, join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { realOf } from '../files/within.js'
import { type Asset, readAssets } from '../page/assets.js'
import { Refusal } from './refusal.js'

/** `page`: of `carabiner open`. `fleet-page`: of a gateway. */
export function pageFiles(folder: 'page' | 'fleet-page'): ReadonlyMap<string, Asset> {
  try {
    return readAssets(join(dirname(realOf(process.argv[1] ?? '')), folder))
  } catch (error) {
    throw new Refusal('PROGRAM_NOT_FOUND', `The files of the page cannot be read: ${textOf(error)}`, {
      hint: 'Install Carabiner again.',
    })
  }
}
