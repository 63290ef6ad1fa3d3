// The version of the program. The bundler inserts it, so that no package.json is read at start.

declare const CARABINER_VERSION: string | undefined

export const version = typeof CARABINER_VERSION === 'string' ? CARABINER_VERSION : '0.0.0-source'
