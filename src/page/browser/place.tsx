// A file and line. A long path breaks after a slash, never inside a name.

import { Fragment } from 'preact'

export function Place({ at }: { readonly at: string }) {
  const parts = at.split('/')
  return (
    <>
      {parts.map((part, i) => (
        <Fragment key={`${i} ${part}`}>
          {part}
          {i < parts.length - 1 && (
            <>
              /<wbr />
            </>
          )}
        </Fragment>
      ))}
    </>
  )
}
