// What may be answered at once or later.

export type MaybePromise<T> = T | Promise<T>

/** Anything that can be awaited, also what another library made. */
export function isPromise<T>(value: MaybePromise<T> | unknown): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
