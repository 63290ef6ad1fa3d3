// How things stand beside the record: what waits for a person, what waits for a review, and what is broken.

import { useEffect, useState } from 'preact/hooks'
import type { WaitingView } from '../view/approvals.js'
import type { DoctorView } from '../view/doctor.js'
import type { TrustView } from '../view/trust.js'
import { useAsked } from './asked.js'
import { usePolled } from './poll.js'

export interface Standing {
  readonly questions: number
  /** Undefined until it is known. */
  readonly trust: TrustView | undefined
  /** Findings of Doctor that keep a hook from working. */
  readonly broken: number
}

const QUESTIONS_MS = 2000
/** Reviews and findings read many files, so they are looked for rarely, and after each visit to a screen that changes them. */
const REST_MS = 60_000
const CHANGES = ['trust', 'doctor', 'plugins']

export function useStanding(screen: string): Standing {
  const questions = usePolled<WaitingView>('api/waiting', QUESTIONS_MS).value?.count ?? 0
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const again = () => document.visibilityState === 'visible' && setTurn((before) => before + 1)
    const timer = window.setInterval(again, REST_MS)
    return () => window.clearInterval(timer)
  }, [])
  useEffect(() => {
    if (!CHANGES.includes(screen)) return
    return () => setTurn((before) => before + 1)
  }, [screen])
  const trust = useAsked<TrustView>('api/trust', {}, turn).value
  const found = useAsked<DoctorView>('api/doctor', {}, turn).value?.families ?? []
  const broken = found.flatMap(({ findings }) => findings).filter(({ severity }) => severity === 'broken')
  return { questions, trust, broken: broken.length }
}

/** The number beside a screen in the menu, and what it counts. */
export function badgeOf(screen: string, { questions, trust, broken }: Standing): readonly [number, string] {
  if (screen === 'approvals') return [questions, 'open']
  if (screen === 'trust') return [trust?.waiting.length ?? 0, 'to review']
  return screen === 'doctor' ? [broken, 'broken'] : [0, '']
}
