// The package of The Update Framework that reads and writes the metadata of a policy. It is loaded here, and only when needed.

import { textOf } from '../../core/base/errors.js'

export type Models = Pick<typeof import('@tufjs/models'), 'Key' | 'Metadata' | 'Signature'>

export async function tufModels(): Promise<Models> {
  try {
    const module = await import('@tufjs/models')
    // Bundled, the package is required, and its names are not on the module itself.
    return module.default ?? module
  } catch (error) {
    throw new Error(
      `the policy of a fleet needs the package @tufjs/models (${textOf(error).split('\n')[0]}); install it where Carabiner is installed: npm install -g @tufjs/models`,
      { cause: error },
    )
  }
}
