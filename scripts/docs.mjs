// npm run docs: writes events.md and errors.md of docs/reference from the tables of the engine. A test compares without writing.

import { readdirSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { source } from './source.mjs'

/** @type {typeof import('../src/core/events/catalogue.js')} */
const { COMMON_FIELDS, FORMER_TOOL_NAMES, OWNED_FIELDS, TWIN_FIELDS } =
  await source('core/events/catalogue.ts')
/** @type {typeof import('../src/core/index.js')} */
const { DIAGNOSTIC_CODES, ERROR_CODES, knownEvents } = await source('core/index.ts')

/** @typedef {import('../src/core/index.js').EventKind} EventKind */
/** @typedef {import('../src/core/index.js').CodeEntry} CodeEntry */
/** @typedef {Readonly<Record<string, string>>} Fields */

/** Every page that is made, by its path in the project. */
export function pages() {
  return { 'docs/reference/events.md': eventsPage(), 'docs/reference/errors.md': errorsPage() }
}

// ---- events ---------------------------------------------------------------------------------------------------

function eventsPage() {
  const events = knownEvents()
  return page([
    '# Events',
    made('src/core/events/catalogue.ts'),
    `${events.length} events are known. Any other name is a [custom event](#custom-events).`,
    ...names(),
    ...firing(),
    '## At a glance',
    table(
      ['event', 'when', 'matcher field', 'a deny', 'a failing function hook', 'respond'],
      events.map((kind) => [
        `[${kind.name}](#${kind.name.toLowerCase()})`,
        kind.when,
        kind.matcher === null ? '–' : code(kind.matcher),
        denyWord(kind),
        failure(kind),
        kind.respond ? 'yes' : '–',
      ]),
    ),
    DENY_WORDS,
    ...events.flatMap(section),
    ...commonFields(),
    ...twins(),
    ...matchers(),
    ...customEvents(),
  ])
}

function names() {
  return [
    '## Names',
    list([
      'Wherever an event name is taken, an alias is taken too. A handler gets the name under which it was registered; `hook_event_name` in the data is always the canonical one.',
      'Every event also goes by the snake_case and camelCase spelling of its name: `PreToolUse` is `pre_tool_use` and `preToolUse`.',
      'A name that differs from a known one only in case, separators or one letter is refused: `PreTolUse` would be a gate that never runs. Any other unknown name is an event of your own; pass `{ custom: true }` to say so.',
      'Payload fields are snake_case, for function hooks too.',
    ]),
  ]
}

function firing() {
  return [
    '## Who fires them',
    '`session.callTool` fires PreToolUse, then PostToolUse or PostToolUseFailure. `session.callModel` fires ModelRequest and ModelResponse. A PreToolUse on which a hook asks fires PermissionRequest. Every other event happens only if the host calls `session.fire`.',
  ]
}

const DENY_WORDS = list([
  '**blocks**: the operation does not happen. `ask_user` works there too.',
  '**tells**: it has happened; the reason becomes an injection for the model.',
  '**goes on**: the agent does not stop; the reason is its next instruction.',
  '**reported**: nothing can be denied; the deny is in the trace and in `diagnostics` (`verdict-ignored`).',
  '`abort_turn` and `hard_abort` work on every event.',
])

/** @param {EventKind} kind */
function denyWord({ deny, denyOnlyClaudeFormat }) {
  if (denyOnlyClaudeFormat) return 'reported'
  return { block: 'blocks', tell: 'tells', 'go-on': 'goes on', none: 'reported' }[deny]
}

/** @param {EventKind} kind */
function failure({ onFailure }) {
  return onFailure === 'deny' ? 'denies' : 'is ignored'
}

/** @param {EventKind} kind */
function section(kind) {
  const { name, when, aliases, matcher } = kind
  return [
    `## ${name}`,
    `${capital(when)}.`,
    list([
      ...(aliases.length > 0 ? [`Also: ${aliases.map(code).join(', ')}`] : []),
      `Matcher: ${matcher === null ? 'ignored' : matcherField(matcher)}`,
      `Required: ${fields(kind, kind.required)}`,
      `Optional: ${fields(kind, without(kind.optional, kind.required))}`,
      `Deny: ${denySentence(kind)}`,
      `A function hook that fails ${failure(kind)}.`,
      ...(kind.respond ? ['`respond` works: the answer is given in place of the operation.'] : []),
    ]),
  ]
}

/** @param {EventKind} kind */
function denySentence(kind) {
  if (kind.deny === 'none') return 'not possible; it is reported.'
  if (kind.denyOnlyClaudeFormat) return 'not possible for function hooks; it is reported.'
  return `${kind.denyMeans}.`
}

/**
 * @param {Fields} some
 * @param {Fields} others
 */
function without(some, others) {
  return Object.fromEntries(Object.entries(some).filter(([field]) => !(field in others)))
}

/** @param {string} field */
function matcherField(field) {
  return field === 'file_path' ? '`file_path`, its last part' : code(field)
}

/**
 * @param {EventKind} kind
 * @param {Fields} some
 */
function fields(kind, some) {
  const written = Object.entries(some).map(([field, type]) => {
    const twin = kind.twins.find((pair) => pair.includes(field))?.find((name) => name !== field)
    const fallback = kind.defaults?.[field]
    return [
      `${code(field)} ${type}`,
      twin === undefined ? '' : ` (also ${code(twin)})`,
      fallback === undefined ? '' : `, default ${code(JSON.stringify(fallback))}`,
    ].join('')
  })
  return written.length > 0 ? written.join('; ') : 'none'
}

function commonFields() {
  const own = [...OWNED_FIELDS].map(code).join(', ')
  return [
    '## Common fields',
    `Any event may carry these. ${own} belong to the engine: no hook changes them. Fields beyond the catalogue pass through.`,
    table(
      ['field', 'type'],
      Object.entries(COMMON_FIELDS).map(([field, type]) => [code(field), type]),
    ),
    'Types: `list` is a JSON array, `object` a JSON object, `json` anything. An optional field may be null, which counts as absent. A required field that is missing, or a known field of the wrong type, is refused with [PAYLOAD_INVALID](errors.md#payload_invalid). Required fields are checked even where nobody listens.',
  ]
}

function twins() {
  return [
    '## Twin fields',
    'One field under two names, on events that have either. Both can be read; a change to one changes both.',
    list(TWIN_FIELDS.map((pair) => pair.map(code).join(' and '))),
  ]
}

function matchers() {
  const renamed = Object.entries(FORMER_TOOL_NAMES)
  const narrow = knownEvents()
    .filter((kind) => kind.narrowMatcher)
    .sort((a, b) => a.name.localeCompare(b.name))
  return [
    '## Matchers',
    list([
      'Absent, `""` and `"*"` match everything.',
      'Letters, digits, `_`, `-`, space, `,` and `|` alone are an exact list: `Write|Edit`. `Writ` does not match `Write`.',
      'Anything else is a regular expression, found anywhere in the value: `^mcp__.*__write`.',
      `On ${narrow.map((kind) => code(kind.name)).join(' and ')} only letters, digits, \`_\` and \`|\` make an exact list.`,
      'A hook for `*` gets every event; its matcher counts where the event has a matcher field.',
      'A pattern means the same on every version of Node: `(?i:bash)` ignores case, and two alternatives may use the same group name.',
      'Matching takes linear time. What the linear engine cannot express runs natively on short values, or matches everything: more often, never less.',
      `A matcher that names a tool’s former name still matches: ${renamed
        .map(([now, former]) => `${code(now)} (${former.map(code).join(', ')})`)
        .join(', ')}.`,
    ]),
  ]
}

function customEvents() {
  return [
    '## Custom events',
    'Any other name is an event of your own. Its data is any JSON object. Matchers are ignored, a deny, an ask or a respond is reported, a failing hook is ignored. Injections, messages, changes and aborts work.',
  ]
}

// ---- errors ---------------------------------------------------------------------------------------------------

function errorsPage() {
  return page([
    '# Errors and diagnostics',
    made('src/core/base/errors.ts'),
    'An **error** is a `HookError`: something was refused, or a hook failed. It has a stable `code`, a `message` that says what happened, a `hint` that says what to do, and often a `cause`. `TURN_ABORTED` and `AGENT_ABORTED` carry the `outcome`.',
    'A **diagnostic** is `{ code, text }`: nothing was refused, but somebody should know. It is in `outcome.diagnostics`, or in `hooks.diagnostics` where no outcome was under way.',
    'The failure of a hook is not thrown. It is in `outcome.hooks` with one of these codes as `why`, and in `outcome.messages` as a warning.',
    '## Errors',
    ...entries(ERROR_CODES),
    '## Diagnostics',
    ...entries(DIAGNOSTIC_CODES),
  ])
}

/** @param {Readonly<Record<string, CodeEntry>>} codes */
function entries(codes) {
  return Object.entries(codes).flatMap(([name, { means, todo }]) => [
    `### ${name}`,
    `${means}\n\n*What to do:* ${linked(todo)}`,
  ])
}

/** A page named in a hint becomes a link. @param {string} text */
function linked(text) {
  return text.replace(/carabiner docs ([\w-]+)/g, (command, name) => `[\`${command}\`](${pathOf(name)})`)
}

/** From docs/reference. @param {string} name */
function pathOf(name) {
  const pages = readdirSync(new URL('../docs', import.meta.url), { recursive: true, encoding: 'utf8' })
  const path = pages.find((page) => posix.basename(page) === `${name}.md`)
  if (path === undefined) throw new Error(`No page is called ${name}`)
  return posix.relative('reference', path)
}

// ---- markdown -------------------------------------------------------------------------------------------------

/** @param {readonly string[]} parts */
function page(parts) {
  return `${parts.join('\n\n')}\n`
}

/** @param {string} source */
function made(source) {
  return `<!-- Made from ${source} by npm run docs. Change the source, not this page. -->`
}

/** @param {readonly string[]} items */
function list(items) {
  return items.map((item) => `- ${item}`).join('\n')
}

/**
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 */
function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** @param {string} text */
function code(text) {
  return `\`${text}\``
}

/** @param {string} text */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

// ---- npm run docs ---------------------------------------------------------------------------------------------

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of Object.entries(pages())) {
    writeFileSync(new URL(`../${path}`, import.meta.url), text)
    console.log(path)
  }
}
