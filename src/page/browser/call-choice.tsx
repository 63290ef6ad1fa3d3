// A choice among the newest calls on record, to begin with one of them.

import { useState } from 'preact/hooks'
import type { Details } from '../view/row.js'
import { ask } from './ask.js'
import type { Feed } from './feed.js'
import { clock } from './format.js'

const MOST_CALLS = 40
const LONGEST = 70

interface Props {
  readonly feed: Feed
  readonly onChoose: (call: Details) => void
}

export function CallChoice({ feed, onChoose }: Props) {
  const [problem, setProblem] = useState('')
  const calls = feed.rows.filter(({ kind }) => kind === 'fire').slice(0, MOST_CALLS)
  if (calls.length === 0) return null
  const choose = (seq: string) => {
    setProblem('')
    if (seq === '') return
    ask<Details>('api/entry', { seq }).then(onChoose, (error: Error) => setProblem(error.message))
  }
  return (
    <label class="choice">
      From the record
      <select value="" onChange={({ currentTarget }) => choose(currentTarget.value)}>
        <option value="">choose a call …</option>
        {calls.map(({ seq, time, event, tool = '', gist }) => (
          <option key={seq} value={seq}>
            {[clock(time), event, tool, gist].filter(Boolean).join(' ').slice(0, LONGEST)}
          </option>
        ))}
      </select>
      {problem !== '' && <span class="bad">{problem}</span>}
    </label>
  )
}
