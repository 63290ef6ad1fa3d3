// The ribbon of a session: one bar an event, the newest on the right, higher if it took longer.

import type { Row } from '../view/row.js'
import { counted } from './format.js'

const MOST_BARS = 40
const HEIGHT = 34
const [WIDTH, GAP] = [9, 2]

interface Props {
  readonly rows: readonly Row[]
  readonly open: number | undefined
  readonly onOpen: (seq: number) => void
}

/** The list says the same to people who do not see it. */
export function Ribbon({ rows, open, onOpen }: Props) {
  const bars = rows.slice(0, MOST_BARS).toReversed()
  const denied = bars.filter(({ tone }) => tone === 'bad').length
  const label = `The last ${counted(bars.length, 'event')}, ${denied} of them refused or without a gate`
  return (
    <svg
      class="ribbon"
      viewBox={`0 0 ${Math.max(1, bars.length) * (WIDTH + GAP)} ${HEIGHT}`}
      width={bars.length * (WIDTH + GAP)}
      role="img"
      aria-label={label}
      preserveAspectRatio="xMinYMax slice"
    >
      {bars.map(({ seq, ms = 0, tone }, i) => {
        const height = heightOf(ms)
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the mouse; the rows below are buttons
          <rect
            key={seq}
            class={`${tone}${seq === open ? ' expanded' : ''}`}
            x={i * (WIDTH + GAP)}
            y={HEIGHT - height}
            width={WIDTH}
            height={height}
            rx="1"
            onClick={() => onOpen(seq)}
          />
        )
      })}
    </svg>
  )
}

/** Logarithmic: from a tenth of a millisecond to ten seconds. */
function heightOf(ms: number): number {
  const part = (Math.log10(Math.max(0.1, Math.min(10_000, ms))) + 1) / 5
  return 3 + part * (HEIGHT - 3)
}
