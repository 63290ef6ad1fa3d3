// An answer of the server that is asked for again and again while somebody looks.

import { useEffect, useState } from 'preact/hooks'
import { ask } from './ask.js'

/** Undefined until the first answer. `again` asks at once. */
export function usePolled<T>(
  path: string,
  everyMs: number,
): { readonly value: T | undefined; again: () => void } {
  const [value, setValue] = useState<T>()
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    let isWanted = true
    let timer: number | undefined
    const look = async () => {
      if (document.visibilityState === 'visible')
        await ask<T>(path).then(
          (found) => isWanted && setValue(found),
          () => undefined,
        )
      if (isWanted) timer = window.setTimeout(() => void look(), everyMs)
    }
    void look()
    return () => {
      isWanted = false
      window.clearTimeout(timer)
    }
  }, [path, everyMs, turn])
  return { value, again: () => setTurn((before) => before + 1) }
}
