// Two texts as a diff: the lines that differ, with a few around them.

const AROUND = 2

export function Diff({ before, after }: { readonly before: string; readonly after: string }) {
  return <DiffLines lines={diffOf(before, after)} />
}

/** Each begins with `+`, `-` or a space. */
export function DiffLines({ lines }: { readonly lines: readonly string[] }) {
  return (
    <pre class="diff">
      {lines.map((line, i) => (
        <span key={`${i} ${line}`} class={line.startsWith('-') ? 'gone' : line.startsWith('+') ? 'new' : ''}>
          {`${line}\n`}
        </span>
      ))}
    </pre>
  )
}

/** Hooks change one place of a text, so what is equal at both ends is enough. */
function diffOf(before: string, after: string): readonly string[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start++
  let end = 0
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end++
  const marked = (mark: string, lines: readonly string[]) => lines.map((text) => `${mark} ${text}`)
  return [
    ...marked(' ', old.slice(Math.max(0, start - AROUND), start)),
    ...marked('-', old.slice(start, old.length - end)),
    ...marked('+', now.slice(start, now.length - end)),
    ...marked(' ', old.slice(old.length - end, old.length - end + AROUND)),
  ]
}

/** An empty text has no lines. */
function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n')
}
