// Two texts as a diff: the lines that differ, with a few around them.

const AROUND = 2

interface Line {
  readonly mark: '-' | '+' | ' '
  readonly text: string
}

export function Diff({ before, after }: { readonly before: string; readonly after: string }) {
  return (
    <pre class="diff">
      {diffOf(before, after).map(({ mark, text }, i) => (
        <span key={`${i}${mark}`} class={mark === '-' ? 'gone' : mark === '+' ? 'new' : ''}>
          {`${mark} ${text}\n`}
        </span>
      ))}
    </pre>
  )
}

/** Hooks change one place of a text, so what is equal at both ends is enough. */
export function diffOf(before: string, after: string): readonly Line[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start++
  let end = 0
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end++
  const same = (lines: readonly string[]): readonly Line[] => lines.map((text) => ({ mark: ' ', text }))
  return [
    ...same(old.slice(Math.max(0, start - AROUND), start)),
    ...old.slice(start, old.length - end).map((text) => ({ mark: '-' as const, text })),
    ...now.slice(start, now.length - end).map((text) => ({ mark: '+' as const, text })),
    ...same(old.slice(old.length - end, old.length - end + AROUND)),
  ]
}

/** An empty text has no lines. */
function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n')
}
