// `if`: patterns over the file of a call, in the project and outside it.

import { bash, pre } from './make.mjs'

/** @param {string} rule @param {string} path @param {Record<string, string>} [read] read this file, do not write */
function path(rule, path, read) {
  const file_path = path.startsWith('{{') ? path : `{{PROJECT}}/${path}`
  return bash(
    `if-path ${rule}: ${path}`,
    'whether the rule lets the hook run',
    [pre('A', { fields: { if: rule } }), pre('CONTROL')],
    read
      ? { tool_name: 'Read', tool_input: { file_path }, files: read }
      : { tool_name: 'Write', tool_input: { file_path, content: 'x' } },
  )
}

const OUTSIDE = '{{FOLDER}}/x.md'

/** Pattern and path. @type {string[][]} */
const CASE = [
  ...[
    ['SRC/**', 'src/b.ts'],
    ['*.MD', 'b.md'],
    ['src/B.ts', 'src/b.ts'],
    ['[A-C].md', 'b.md'],
    ['É.md', 'é.md'],
  ],
  ...[
    ['//TMP/**', OUTSIDE],
    ['~/DEEP/**', '{{HOME}}/deep/x.md'],
    ['~/*.md', '{{HOME}}/X.MD'],
  ],
]

/** Pattern and path. @type {string[][]} */
const PLACES = [
  ...['*.md', '**', '**/*.md', '*/*', 'x.md', 'x*.md', '?.md', '[x].md', './x.md', './*.md', '/x.md'].map(
    (pattern) => [pattern, OUTSIDE],
  ),
  ...['//tmp/**', '//{{FOLDER}}/**', '/{{FOLDER}}/**', '../*.md', '../**', '**/', '/**/x.md'].map(
    (pattern) => [pattern, OUTSIDE],
  ),
  ...[
    ['sub/*.md', '{{FOLDER}}/sub/x.md'],
    ['*/src/**', '{{FOLDER}}/k/src/x.md'],
  ],
  ...[
    ['*b*/x.md', '{{FOLDER}}/abc/x.md'],
    ['.*', '{{FOLDER}}/.x'],
    ['*.md', '{{HOME}}/deep/x.md'],
  ],
  ...['~/x.md', 'home/*.md', '../home/*.md', '~', '~/'].map((pattern) => [pattern, '{{HOME}}/x.md']),
]

/** Pattern and path. @type {string[][]} */
const DEPTHS = [
  ...[
    ['*/b.ts', 'src/b.ts'],
    ['*/b.ts', 'a/src/b.ts'],
    ['*/src/b.ts', 'a/b/src/b.ts'],
    ['s*/b.ts', 'a/src/b.ts'],
  ],
  ...[
    ['?rc/b.ts', 'a/src/b.ts'],
    ['src/*/b.ts', 'src/a/c/b.ts'],
    ['src/*', 'src/deep/b.ts'],
    ['*/', 'b.ts'],
  ],
  ...[
    ['b.md', 'deep/b.md'],
    ['./*.md', 'deep/b.md'],
    ['/b.md', 'deep/b.md'],
    ['/*.md', 'deep/b.md'],
  ],
  ...[
    ['src**', 'src/b.ts'],
    ['src/**b.ts', 'src/x/b.ts'],
    ['**b.ts', 'src/ab.ts'],
    ['deep', 'deep/er/b.md'],
  ],
  ...[
    ['src/', 'src/b.ts'],
    ['src/b.ts/', 'src/b.ts'],
    ['/', 'b.ts'],
    ['.', 'b.ts'],
    ['./', 'b.ts'],
  ],
  ...[
    ['src/**', 'lib/../src/b.ts'],
    ['../**', 'src/b.ts'],
    ['src/./b.ts', 'src/b.ts'],
    ['src//b.ts', 'src/b.ts'],
  ],
]

/** Pattern and path. @type {string[][]} */
const SYNTAX = [
  ...[
    ['src/*.{ts,js}', 'src/b.ts'],
    ['src/[b].ts', 'src/b.ts'],
    ['src/[!a].ts', 'src/b.ts'],
    ['?.md', 'b.md'],
  ],
  ...[
    ['b\\.md', 'b.md'],
    ['src/\\b.ts', 'src/b.ts'],
    ['\\*.md', '*.md'],
    ['a\\(b.md', 'a(b.md'],
  ],
  ...[
    ['a(b).md', 'a(b).md'],
    [' b.md ', 'b.md'],
    ['a b.md', 'a b.md'],
    ['#b.md', '#b.md'],
    [':*', 'b.md'],
  ],
  ...[
    ['src:*', 'src/b.ts'],
    ['*.env', '.env'],
    ['.env', 'deep/.env'],
    ['{{PROJECT}}/src/**', 'src/b.ts'],
  ],
]

export const ifPaths = [
  ...[...CASE, ...PLACES, ...DEPTHS, ...SYNTAX].map(([pattern, file = '']) =>
    path(`Write(${pattern})`, file),
  ),
  path('Read(SRC/**)', 'src/a.ts', { 'src/a.ts': 'text' }),
  path('Read(*.TS)', 'src/a.ts', { 'src/a.ts': 'text' }),
]
