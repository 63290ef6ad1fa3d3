// Which files differ between two bundles.

import type { Bundle } from './bundle.js'

export interface FileChange {
  readonly change: 'added' | 'removed' | 'changed'
  readonly path: string
}

/** In the order of their paths. Without `from`, everything is new. */
export function changesBetween(
  from: Pick<Bundle, 'files'> | undefined,
  to: Pick<Bundle, 'files'>,
): readonly FileChange[] {
  const key = (one: Bundle['files'][number]) => `${one.sha256} ${one.executable}`
  const before = new Map(from?.files.map((one) => [one.path, key(one)]))
  const after = new Map(to.files.map((one) => [one.path, key(one)]))
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort()
  return paths.flatMap((path): readonly FileChange[] => {
    if (!before.has(path)) return [{ change: 'added', path }]
    if (!after.has(path)) return [{ change: 'removed', path }]
    return before.get(path) === after.get(path) ? [] : [{ change: 'changed', path }]
  })
}
