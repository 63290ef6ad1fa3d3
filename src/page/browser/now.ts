// The time, every second.

import { useEffect, useState } from 'preact/hooks'

const SECOND_MS = 1000

export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), SECOND_MS)
    return () => window.clearInterval(timer)
  }, [])
  return now
}
