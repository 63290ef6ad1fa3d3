// An answer of the server that is asked for once, or when the question changes.

import { useEffect, useState } from 'preact/hooks'
import { ask } from './ask.js'

export interface Answered<T> {
  readonly value?: T
  readonly problem?: string
  readonly isLoading: boolean
}

/** No question is asked while `path` is empty. */
export function useAsked<T>(
  path: string,
  query: Readonly<Record<string, string>> = {},
  turn = 0,
): Answered<T> {
  const [answered, setAnswered] = useState<Answered<T>>({ isLoading: true })
  const key = JSON.stringify([path, query, turn])
  useEffect(() => {
    let isWanted = true
    const [asked, given] = JSON.parse(key) as [string, Record<string, string>]
    if (asked === '') {
      setAnswered({ isLoading: false })
      return
    }
    setAnswered((before) => ({ ...before, isLoading: true }))
    ask<T>(asked, given).then(
      (value) => isWanted && setAnswered({ value, isLoading: false }),
      (error: Error) => isWanted && setAnswered({ problem: error.message, isLoading: false }),
    )
    return () => {
      isWanted = false
    }
  }, [key])
  return answered
}
