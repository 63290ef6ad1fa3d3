// The packages of The Update Framework, which a policy is signed and checked with. They are loaded here, and only when needed.

import { textOf } from '../../core/base/errors.js'

export type Models = Pick<typeof import('@tufjs/models'), 'Key' | 'Metadata' | 'Signature'>

/** For what is signed. */
export async function tufModels(): Promise<Models> {
  return loaded(async () => {
    const module = await import('@tufjs/models')
    // Bundled, the package is required, and its names are not on the module itself.
    return module.default ?? module
  })
}

export type TrustedStore = import('tuf-js/dist/store.js').TrustedMetadataStore

/**
 * For a machine that checks what it fetches. Not the `Updater` around it, which writes each file in place: a machine that
 * is killed then could have half of one.
 */
export async function trustedStore(root: string): Promise<TrustedStore> {
  const { TrustedMetadataStore } = await loaded(async () => {
    const module = await import('tuf-js/dist/store.js')
    return module.default ?? module
  })
  return new TrustedMetadataStore(Buffer.from(root))
}

async function loaded<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    throw new Error(
      `the policy of a fleet needs the packages tuf-js and @tufjs/models (${textOf(error)}); install them where Carabiner is installed: npm install -g tuf-js @tufjs/models`,
      { cause: error },
    )
  }
}
