// An answer of the server that is asked for again and again while somebody looks.

import { useEffect, useState } from 'preact/hooks'
import { ask } from './ask.js'

/** `value` is undefined until the first answer, and old while there is a `problem`. `again` asks at once. */
export function usePolled<T>(
  path: string,
  everyMs: number,
): { readonly value: T | undefined; readonly problem: string; again: () => void } {
  const [value, setValue] = useState<T>()
  const [problem, setProblem] = useState('')
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    let isWanted = true
    let timer: number | undefined
    const look = async () => {
      if (document.visibilityState === 'visible')
        await ask<T>(path).then(
          (found) => {
            if (!isWanted) return
            setValue(found)
            setProblem('')
          },
          (error: Error) => isWanted && setProblem(error.message),
        )
      if (isWanted) timer = window.setTimeout(() => void look(), everyMs)
    }
    void look()
    return () => {
      isWanted = false
      window.clearTimeout(timer)
    }
  }, [path, everyMs, turn])
  return { value, problem, again: () => setTurn((before) => before + 1) }
}
