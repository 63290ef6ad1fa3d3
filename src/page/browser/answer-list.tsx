// Who answered what, and when: searched by the call, the person, the hook or the reason.

import { useState } from 'preact/hooks'
import type { AnswerView, HistoryOfAnswers } from '../view/approvals.js'
import { useAsked } from './asked.js'
import { clock, counted, day, moment } from './format.js'
import { addressOf } from './route.js'
import { Search } from './search.js'
import { areIn } from './words.js'

const FIRST_SHOWN = 50

/** `turn`: another number asks again. */
export function AnswerList({ turn }: { readonly turn: number }) {
  const { value, problem } = useAsked<HistoryOfAnswers>('api/answers', {}, turn)
  const [words, setWords] = useState('')
  const [most, setMost] = useState(FIRST_SHOWN)
  const found = value?.answers.filter((answer) => areIn(words, textOf(answer))) ?? []
  return (
    <section class="group">
      <div class="listing">
        <h2>Who answered</h2>
        <Search label="Find a call, person or hook" words={words} onWords={setWords} />
      </div>
      {problem !== undefined && <p class="bad">{problem}</p>}
      {value && found.length === 0 && (
        <p class="nothing">
          {value.answers.length === 0
            ? `Nobody answered a question in the last ${value.days} days.`
            : 'No answer has these words.'}
        </p>
      )}
      {found.length > 0 && (
        <ol class="rows">
          {found.slice(0, most).map((answer) => (
            <Answer key={answer.seq} answer={answer} />
          ))}
        </ol>
      )}
      {found.length > most && (
        <button type="button" class="more" onClick={() => setMost(most + FIRST_SHOWN)}>
          Show older answers
        </button>
      )}
      {value && (
        <p class="dim">
          The last {value.days} days{value.isCut && `, the newest ${counted(value.answers.length, 'answer')}`}
          . <a href={addressOf('audit', '', 'kind=approval')}>Audit</a> goes back further.
        </p>
      )}
    </section>
  )
}

function textOf({ tool, gist, by, how, said, reason, session, asks }: AnswerView): string {
  const asked = asks.flatMap(({ hook, prompt }) => [hook, prompt])
  return [tool, gist, by, how, said, reason, session, ...asked].join('\n')
}

/** The link leads to the record. */
function Answer({ answer }: { readonly answer: AnswerView }) {
  const { seq, kind, time, said, tone, by, how, tool, gist, asks, reason, used, session } = answer
  const [first] = asks
  return (
    <li class={`row ${tone}`}>
      <a class="head answered" href={addressOf('audit', String(seq), `kind=${kind}`)}>
        <time dateTime={time} title={new Date(time).toLocaleString()}>
          {day(time) !== '' && <span class="day">{day(time)} </span>}
          {clock(time)}
        </time>
        <span class="about">
          <span>
            {tool !== undefined && <b>{tool}</b>} <code>{gist}</code>
          </span>
          <span class="dim">
            {[first?.prompt, first && `asked by ${first.hook}`, session && `session ${session}`]
              .filter(Boolean)
              .join(' · ')}
          </span>
          {reason !== undefined && <span class="dim">“{reason}”</span>}
        </span>
        <span class="who">
          <span>
            <b>{by}</b> {how}
          </span>
          <span class="dim">{used === undefined ? useOf(said) : `used ${moment(used)}`}</span>
        </span>
        <span class={`chip ${tone}`}>{said}</span>
      </a>
    </li>
  )
}

function useOf(said: string): string {
  return said === 'allowed once' ? 'not used' : ''
}
