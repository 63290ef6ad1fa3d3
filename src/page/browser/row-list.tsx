// A list of rows that is walked by keyboard; one of them is open and shows its details.

import { Component } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Details, Row } from '../view/row.js'
import { useAsked } from './asked.js'
import { DetailsView } from './details.js'
import { clock, day, duration } from './format.js'

interface ListProps {
  readonly rows: readonly Row[]
  readonly open: number | undefined
  /** Another function draws every row again. */
  readonly onOpen: (seq: number | undefined) => void
}

/** More rows are drawn as somebody scrolls to them: every row that is drawn makes each new event dearer. */
const [FIRST_DRAWN, MORE_DRAWN] = [60, 100]
/** Distance from the end of the list at which more are drawn. */
const AHEAD = '800px'

export function RowList({ rows, open, onOpen }: ListProps) {
  const [most, setMost] = useState(FIRST_DRAWN)
  const list = useRef<HTMLOListElement>(null)
  const more = useRef<HTMLButtonElement>(null)
  const drawn = Math.max(most, rows.findIndex(({ seq }) => seq === open) + 1)
  const hidden = Math.max(0, rows.length - drawn)
  const draw = () => setMost(drawn + MORE_DRAWN)
  useEffect(() => {
    if (!more.current) return
    const observer = new IntersectionObserver(([end]) => end?.isIntersecting && draw(), { rootMargin: AHEAD })
    observer.observe(more.current)
    return () => observer.disconnect()
  }, [drawn, hidden > 0])
  useEffect(() => {
    const listener = () => isLeft(list.current) && setMost(FIRST_DRAWN)
    document.addEventListener('scroll', listener, { capture: true, passive: true })
    return () => document.removeEventListener('scroll', listener, { capture: true })
  }, [])
  return (
    <>
      <ol class="rows" ref={list}>
        {rows.slice(0, drawn).map((row) => (
          <RowItem key={row.seq} row={row} isOpen={row.seq === open} onOpen={onOpen} />
        ))}
      </ol>
      {hidden > 0 && (
        <button type="button" class="more" ref={more} onClick={draw}>
          Show {Math.min(hidden, MORE_DRAWN)} more
        </button>
      )}
    </>
  )
}

interface OlderProps extends ListProps {
  readonly open: number
}

/** The open entry if it is not among the rows: a link may lead to any entry of the record. */
export function OpenElsewhere({ rows, open, onOpen }: ListProps) {
  if (open === undefined || Number.isNaN(open) || rows.some(({ seq }) => seq === open)) return null
  return <Older key={open} rows={rows} open={open} onOpen={onOpen} />
}

function Older({ open, onOpen }: OlderProps) {
  const { value, problem } = useAsked<Details>('api/entry', { seq: String(open) })
  return (
    <section class="older" aria-label={`Entry ${open}`}>
      {problem !== undefined && <p class="banner">{problem}</p>}
      {value && <RowList rows={[value]} open={open} onOpen={onOpen} />}
    </section>
  )
}

/** True if the list is seen from its beginning and nobody walks it by keyboard. */
function isLeft(list: HTMLElement | null): boolean {
  return list !== null && list.getBoundingClientRect().top >= 0 && !list.contains(document.activeElement)
}

interface ItemProps {
  readonly row: Row
  readonly isOpen: boolean
  readonly onOpen: (seq: number | undefined) => void
}

class RowItem extends Component<ItemProps> {
  override shouldComponentUpdate(next: ItemProps): boolean {
    const { row, isOpen, onOpen } = this.props
    return next.row !== row || next.isOpen !== isOpen || next.onOpen !== onOpen
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
