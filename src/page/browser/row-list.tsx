// A list of rows that is walked by keyboard; one of them is open and shows its details.

import { Component } from 'preact'
import type { Row } from '../view.js'
import { DetailsView } from './details.js'
import { clock, day, duration } from './format.js'

interface ListProps {
  readonly rows: readonly Row[]
  readonly open: number | undefined
  readonly onOpen: (seq: number | undefined) => void
}

export function RowList({ rows, open, onOpen }: ListProps) {
  return (
    <ol class="rows">
      {rows.map((row) => (
        <RowItem key={row.seq} row={row} isOpen={row.seq === open} onOpen={onOpen} />
      ))}
    </ol>
  )
}

interface ItemProps {
  readonly row: Row
  readonly isOpen: boolean
  readonly onOpen: (seq: number | undefined) => void
}

/** A class, because two thousand of them are drawn again for every event. */
class RowItem extends Component<ItemProps> {
  override shouldComponentUpdate(next: ItemProps): boolean {
    return next.row !== this.props.row || next.isOpen !== this.props.isOpen
  }

  override render({ row, isOpen, onOpen }: ItemProps) {
    const { seq, time, event, kind, tool, gist, reason, missed, tone } = row
    const id = `entry-${seq}`
    return (
      <li class={`row ${tone}${isOpen ? ' expanded' : ''}`}>
        <button
          type="button"
          class="head"
          data-seq={seq}
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          onClick={() => onOpen(isOpen ? undefined : seq)}
        >
          <time dateTime={time} title={new Date(time).toLocaleString()}>
            {day(time) !== '' && <span class="day">{day(time)} </span>}
            {clock(time)}
          </time>
          <span class="event">{event === '' ? kind : event}</span>
          <span class="call">
            {tool !== undefined && <b>{tool}</b>} <code>{gist === '' ? (reason ?? '') : gist}</code>
          </span>
          {missed.length > 0 && <span class="chip down">gate down</span>}
          <span class="ran">{ranText(row)}</span>
          <span class="ms">{row.ms === undefined ? '' : duration(row.ms)}</span>
          <span class={`chip ${tone}`}>{row.said}</span>
        </button>
        {isOpen && <DetailsView seq={seq} row={row} id={id} />}
      </li>
    )
  }
}

function ranText({ ran, of, kind, failed }: Row) {
  if (kind !== 'fire' && kind !== 'late') return ''
  if (of === 0) return 'no hooks'
  return (
    <>
      {failed > 0 ? <em>{failed} failed</em> : ran === 0 ? 'none' : `${ran} ran`}
      <span class="dim"> of {of}</span>
    </>
  )
}

/** Moves the focus to another row. */
export function stepRow(by: 1 | -1): void {
  const heads = [...document.querySelectorAll<HTMLElement>('.rows .head')]
  const at = heads.indexOf(document.activeElement as HTMLElement)
  const next = heads[at < 0 ? 0 : Math.min(heads.length - 1, Math.max(0, at + by))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}
