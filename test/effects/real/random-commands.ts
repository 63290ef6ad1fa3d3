// Random commands of programs that Debian has, in every form in which a shell can run them. They only touch their own world.

import fc from 'fast-check'
import { CHANGES } from './changing-calls.js'
import { CODE } from './code-calls.js'
import { MACHINE, SLOW } from './machine-calls.js'
import { READS } from './reading-calls.js'
import { FORMS, MOVES, VARIABLES } from './shell-forms.js'
import { filled, oneOf, quoted, type Text } from './templates.js'

// ---- paths in the world that the driver makes for each command; `@` is its home folder -------------------------------

const plainPath = oneOf(String.raw`
  a.txt
  b.txt
  ./a.txt
  dir
  dir/
  dir/x.txt
  dir/sub
  dir/sub/y.txt
  new.txt
  new
  dir/new.txt
  dir/../b.txt
  ../out.txt
  ../other/o.txt
  .hidden
  link
  link/x.txt
  empty
  -odd
  ./-odd
  --
`)
const quotedPath = oneOf(String.raw`
  "c d.txt"
  'c d.txt'
  c\ d.txt
  "a.txt"
  'dir/x.txt'
  $'b.txt'
  $"b.txt"
  a"."txt
  "dir"/x.txt
  'a'.t\xt
`)
const shellPath = oneOf(String.raw`
  *.txt
  dir/*
  dir/*/y.txt
  [ab].txt
  ?.txt
  {a,b}.txt
  dir/{x.txt,sub}
  ~/h.txt
  ~/app/a.txt
  $HOME/h.txt
  "$HOME/app/b.txt"
  ${'$'}{HOME}/h.txt
  @/out.txt
  @/app/dir
  "$PWD"/a.txt
  $(pwd)/b.txt
`)
const path = fc.oneof(
  { weight: 6, arbitrary: plainPath },
  { weight: 2, arbitrary: quotedPath },
  { weight: 2, arbitrary: shellPath },
)

// ---- programs --------------------------------------------------------------------------------------------------------

const change = fc.constantFrom(...CHANGES).chain((template) => filled(template, path))
const looks = fc.constantFrom(...READS).chain((template) => filled(template, path))
const codes = fc.constantFrom(...CODE).chain((template) => filled(template, path))
const onMachine = fc.constantFrom(...MACHINE).chain((template) => filled(template, path))
const slow = fc.constantFrom(...SLOW).chain((template) => filled(template, path))
const simple = fc.oneof(
  { weight: 100, arbitrary: change },
  { weight: 40, arbitrary: looks },
  { weight: 20, arbitrary: codes },
  { weight: 20, arbitrary: onMachine },
  { weight: 1, arbitrary: slow },
)

// ---- forms -----------------------------------------------------------------------------------------------------------

const variables = fc.constantFrom(...VARIABLES).chain((template) => filled(template, plainPath))
const moved = fc
  .tuple(fc.constantFrom(...MOVES), fc.constantFrom(' && ', '; ', ' || ', '\n'), simple)
  .map((parts) => parts.join(''))
const PROGRAM = String.raw`
  \rm
  "rm"
  r'm'
  r\m
  /bin/rm
  $"rm"
  $'rm'
  $'\x72m'
  /usr/bin/env rm
  command rm
  command -p rm
  busybox rm
  env -- rm
  exec rm
`
const spelled = fc.tuple(oneOf(PROGRAM), path).map(([rm, target]) => `${rm} -rf ${target}`)

const base = fc.oneof(
  { weight: 10, arbitrary: simple },
  { weight: 3, arbitrary: variables },
  { weight: 2, arbitrary: moved },
  { weight: 1, arbitrary: spelled },
)

/** A form that takes a single program, such as `env`, gets the first words of a list, which bash runs alike. */
const within = (inner: Text): Text =>
  fc
    .tuple(fc.constantFrom(...FORMS), fc.array(inner, { minLength: 3, maxLength: 3 }))
    .map(([form, parts]) => {
      const commands = [...parts]
      return form.replace(/[§¤]/g, (sign) => {
        const text = commands.shift() ?? 'true'
        return sign === '§' ? text : quoted(text)
      })
    })

export const randomCommand: Text = fc.oneof(
  { weight: 6, arbitrary: base },
  { weight: 4, arbitrary: within(base) },
  { weight: 1, arbitrary: within(within(base)) },
)
