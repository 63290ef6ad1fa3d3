// Kind `module`: the fields of an entry, and the file that it loads.

import { isAbsolute, posix } from 'node:path'
import { isWritten, type Kind, STATUS_MESSAGE } from '../kind.js'
import type { ModuleHandler, ModuleSpec } from './module-hook.js'

/** A valid entry as its file has it. */
export type GivenModule = Omit<ModuleHandler, 'path'>

export const MODULE: Kind<ModuleSpec, GivenModule> = {
  summary: 'Calls a function that a JavaScript file exports.',
  fields: {
    module: [
      isWritten,
      'A JavaScript file, or TypeScript where Node.js runs it, from the folder of this file. Its default export, or the export named after the event, is called with (event, data, context).',
    ],
    statusMessage: STATUS_MESSAGE,
  },
  required: ['module'],
  isResident: true,
  failsLikeFunction: true,
  located: (given, folder) => ({ ...given, path: pathFrom(folder, given.module) }),
  target: ({ path }) => path,
  listed: ({ module }) => module,
  async load({ keeper }) {
    const { ModuleRunner } = await import('./module-hook.js')
    const runner = keeper.keep('module', () => new ModuleRunner(keeper.isWarm))
    runner.look()
    return {
      hooks: (spec, surroundings, problem) => runner.hooks(spec, surroundings, problem),
      renew: (make) => runner.renew(make),
      close: () => keeper.leave(runner),
    }
  },
}

/** Keeps a path that begins with a placeholder. */
function pathFrom(folder: string, module: string): string {
  return isAbsolute(module) || module.startsWith('${') ? module : `${folder}/${posix.normalize(module)}`
}
