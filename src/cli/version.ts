// The version of the program; the bundle puts it in, so that starting reads no package.json.

declare const CARABINER_VERSION: string | undefined

export const version = typeof CARABINER_VERSION === 'string' ? CARABINER_VERSION : '0.0.0-source'
