// npm run docs: writes events.md, errors.md and protocol.md in docs/reference from the engine's tables, docs/hosts.md from the
// recorded proof, docs/sdks.md from the capabilities of adapters and their examples, and docs/performance.md from the figures that were saved. A test
// compares without writing.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ENTRY_NAMES } from './library.mjs'
import { capital, code, list, made, page, table } from './markdown.mjs'
import { performancePages } from './performance.mjs'
import { factRows } from './proof-table.mjs'
import { source } from './source.mjs'

/** @type {typeof import('../src/core/events/catalogue.js')} */
const { COMMON_FIELDS, FORMER_TOOL_NAMES, OWNED_FIELDS, TWIN_FIELDS } =
  await source('core/events/catalogue.ts')
/** @type {typeof import('../src/core/index.js')} */
const { DIAGNOSTIC_CODES, ERROR_CODES, knownEvents } = await source('core/index.ts')

/** @type {typeof import('../src/cli/refusal-codes.js')} */
const { REFUSAL_CODES } = await source('cli/refusal-codes.ts')

/** @type {typeof import('../src/service/stdio/protocol.js')} */
const { fieldType, HOST_METHODS, METHODS } = await source('service/stdio/protocol.ts')
/** @type {typeof import('../src/service/stdio/structures.js')} */
const { STRUCTURES } = await source('service/stdio/structures.ts')

/** @type {typeof import('../src/hosts/setups.js')} */
const { allSetups } = await source('hosts/setups.ts')
/** @type {typeof import('../src/hosts/late-parts.js')} */
const { partsOf } = await source('hosts/late-parts.ts')
const setups = await allSetups()
/** @type {typeof import('../src/hosts/abilities.js')} */
const { abilityFacts } = await source('hosts/abilities.ts')

/** @type {typeof import('../src/adapters/capabilities.js')} */
const { SITUATIONS } = await source('adapters/capabilities.ts')
const situations = /** @type {[import('../src/adapters/capabilities.js').Situation, string][]} */ (
  Object.entries(SITUATIONS)
)

/** Adapters by the name of their export. @type {readonly { name: string, capabilities: import('../src/adapters/capabilities.js').Capabilities }[]} */
const adapters = await Promise.all(
  ENTRY_NAMES.flatMap((entry) => /^adapters\/(.+)\/index$/.exec(entry)?.[1] ?? []).map(async (name) => {
    const { capabilities } = await source(`adapters/${name}/index.ts`)
    return { name, capabilities }
  }),
)

/** What `npm run proof -- --all --record` wrote. @type {readonly import('./proof-table.mjs').ProvenAgent[]} */
const proof = JSON.parse(readFileSync(new URL('../test/verify/proof.json', import.meta.url), 'utf8'))

/** @typedef {import('../src/service/stdio/protocol.js').MethodRow} MethodRow */
/** @typedef {import('../src/service/stdio/protocol.js').Fields} MessageFields */
/** @typedef {import('../src/core/index.js').EventKind} EventKind */
/** @typedef {import('../src/core/index.js').CodeEntry} CodeEntry */
/** @typedef {Readonly<Record<string, string>>} Fields */

/** Every generated page, by its path in the project. */
export function pages() {
  return {
    'docs/reference/events.md': eventsPage(),
    'docs/reference/errors.md': errorsPage(),
    'docs/reference/protocol.md': protocolPage(),
    'docs/hosts.md': hostsPage(),
    'docs/sdks.md': sdksPage(),
    ...performancePages(),
  }
}

// ---- agents ---------------------------------------------------------------------------------------------------

function hostsPage() {
  const [head = [], ...rows] = factRows(proof)
  return page([
    '# Agents, as they were proven',
    made('test/verify/proof.json'),
    'See which agents obey hooks, and what hooks can do in each. Every agent here was started, without network, by [`carabiner verify`](use/verify.md); run it to see the same of the version on your machine.',
    table(head, rows),
    list([
      '**runs**: without the hook, the command runs and the file is written. **command**, **file**: with it, they do not. **reason**: the model is told why.',
      '**rewrite**: a changed command runs instead; `refused`: the agent cannot change it, so it does not run. **context**: what a hook says with the prompt, at the start of a session, after a tool or before a tool reaches the model, at once or with a later event that can carry it.',
      "**subagent**: a subagent's command does not run. **stop**: a refused end keeps the agent going, and not for ever. **ask**: a command that needs a person does not run without one. **with guard**: the guard and other hooks work side by side; `one context`: of the context that several commands give for one event, the model is told one.",
      '**–**: the agent has no way to do it. **?**: the run did not get so far.',
    ]),
    ...proof.flatMap(agentSection),
    '## Every agent that setup knows',
    'The name is what you type: `carabiner setup codex`. The file is where hooks are registered, in your home folder or in a project. What an agent cannot do is never let through: the call is denied, or the reason says what to do instead. **a question**: a hook asks a person in the agent’s own dialog, or through `carabiner approvals`, with a deny until then. **a refused prompt**: whether a hook can keep a prompt from the model.',
    table(
      ['agent', 'name', 'proven', 'file', 'a question', 'a refused prompt', 'hooks cannot', 'in another way'],
      byTitle(setups).map((known) => setupRow(known)),
    ),
    `Not proven: \`carabiner setup\` registers hooks as the agent's documents say, and what it sends and reads is tested. Nobody has started it here.`,
  ])
}

/** @satisfies {import('../src/hosts/abilities.js').Wish} */
const ASK = 'ask a person'
/** @satisfies {import('../src/hosts/abilities.js').Wish} */
const PROMPT = 'deny a prompt'

/** @param {readonly import('../src/hosts/setups.js').KnownSetup[]} known */
function byTitle(known) {
  return [...known].sort((a, b) => a.host.title.localeCompare(b.host.title, 'en'))
}

/** @param {import('../src/hosts/setups.js').KnownSetup} known */
function setupRow({ host, setup }) {
  const { folder, files, project } = setup
  const place =
    files.length > 0 ? { root: '~/', folder, files } : { root: '', folder: '', files: [], ...project }
  const all = abilityFacts(host)
  const told = (/** @type {string} */ wish) => all.find((fact) => fact.wish === wish)?.text ?? ''
  const facts = all.filter(({ wish }) => wish !== ASK && wish !== PROMPT)
  const wishes = (/** @type {string} */ how) => facts.filter((fact) => fact.how === how)
  return [
    host.title,
    code(host.name),
    partsOf(host).proof ? 'yes' : 'no',
    place.files.map(({ name }) => code(`${place.root}${posix.join(place.folder, name)}`)).join(', '),
    told(ASK).startsWith('yes') ? 'its own dialog' : 'approvals',
    told(PROMPT),
    wishes('no')
      .map(({ wish }) => wish)
      .join(', ') || '–',
    wishes('via')
      .map(({ wish, text }) => `${wish} (${text})`)
      .join(', ') || '–',
  ]
}

/** @param {import('./proof-table.mjs').ProvenAgent} agent */
function agentSection({ title, version, date, facts, bypasses, note }) {
  const worth = facts.filter(({ name, state }) => state !== 'held' || name === 'rewrite' || name === 'stop')
  return [
    `## ${title}`,
    list([
      ...(version === undefined
        ? []
        : [`Version ${version}${date === undefined ? '' : `, proven on ${date}`}.`]),
      ...(note === undefined ? [] : [`${capital(note)}.`]),
      ...worth.map(({ text }) => `${capital(text)}.`),
      ...bypasses.map((text) => `Known way around: ${text}.`),
    ]),
  ]
}

// ---- SDKs -----------------------------------------------------------------------------------------------------

/** @typedef {import('../src/adapters/capabilities.js').Capabilities} Capabilities */

function sdksPage() {
  return page([
    '# SDKs',
    made('the adapters in src/adapters'),
    'Put hooks into an agent that is built with an SDK. Each adapter is an export of this package, and the SDK is an optional peer: install it yourself. Carabiner is not on a registry yet: run `npm install` in a clone of it, then `npm install --install-links ../carabiner` in your project, with the path of the clone. A mere link would look for the SDK in the clone. [Sessions](write/sessions.md) are for agents without an SDK.',
    table(
      [
        '',
        ...adapters.map(
          ({ name, capabilities }) =>
            `[${capabilities.sdk}](#${anchor(capabilities.sdk)})<br>${code(`carabiner/${name}`)}`,
        ),
      ],
      situations.map(([situation]) => [
        situation,
        ...adapters.map(({ capabilities }) => worksIn(capabilities[situation])),
      ]),
    ),
    list(situations.map(([situation, means]) => `**${situation}**: ${means}.`)),
    'The same scenes were played inside the SDK’s own agent loop, with each version that is named here. Where an SDK plays one differently, or not at all, the cell says “partly” or “no”, and its limits are below.',
    'Below, `hooks` comes from [`createHooks()`](start/embed.md), and the tests run the examples.',
    ...adapters.flatMap(sdkSection),
  ])
}

/** @param {import('../src/adapters/capabilities.js').Capability} capability */
function worksIn({ works, limit }) {
  if (!works) return 'no'
  return limit === undefined ? 'yes' : 'partly'
}

/** @param {{ name: string, capabilities: Capabilities }} adapter */
function sdkSection({ name, capabilities }) {
  const notes = situations.flatMap(([situation]) => {
    const { works, how, limit } = capabilities[situation]
    const against = limit === undefined ? [] : [`${works ? 'Limit' : 'No'}: ${limit}`]
    const texts = [...(how === undefined ? [] : [how]), ...against]
    return texts.length === 0 ? [] : [`**${situation}**: ${texts.join('. ')}.`]
  })
  return [
    `## ${capabilities.sdk}`,
    `${code(`carabiner/${name}`)}, for ${code(capabilities.package)}; tried with ${capabilities.versions.join(', ')}. From the [example](../examples/sdks/${name}/README.md):`,
    `\`\`\`mjs\n${shownCode(name)}\`\`\``,
    ...(notes.length > 0 ? [list(notes)] : []),
  ]
}

/** What an example imports from Carabiner, and its region for this page. @param {string} name */
function shownCode(name) {
  const text = readFileSync(new URL(`../examples/sdks/${name}/agent.mjs`, import.meta.url), 'utf8')
  const imports = text.split('\n').filter((line) => /^import .* from 'carabiner\//.test(line))
  const [, region] = /#region docs\/sdks\.md\n([\s\S]*?)^ *\/\/ #endregion$/m.exec(text) ?? []
  if (imports.length === 0 || region === undefined)
    throw new Error(`${name}/agent.mjs has no region for docs/sdks.md`)
  return `${imports.join('\n')}\n\n${region.replace(/^ {2}/gm, '')}`
}

/** @param {string} title */
function anchor(title) {
  return title
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replace(/ /g, '-')
}

// ---- events ---------------------------------------------------------------------------------------------------

function eventsPage() {
  const events = knownEvents()
  return page([
    '# Events',
    made('src/core/events/catalogue.ts'),
    `Look up when each of the ${events.length} events happens, which fields it has, and what a deny does. Any other name is a [custom event](#custom-events).`,
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
      'You can use an alias wherever you can use an event name. A handler gets the name under which it was registered. `hook_event_name` in the data is always the canonical name.',
      'Every name also works in snake_case and camelCase: `PreToolUse` is `pre_tool_use` and `preToolUse`.',
      'A name that differs from a known one only in case, separators or one letter is refused: `PreTolUse` would be a gate that never runs. Any other unknown name is an event of your own. Pass `{ custom: true }` to say so.',
      'Payload fields are in snake_case, for function hooks too.',
    ]),
  ]
}

function firing() {
  return [
    '## Who fires events',
    '`session.callTool` fires PreToolUse, then PostToolUse or PostToolUseFailure. `session.callModel` fires ModelRequest and ModelResponse. If a hook asks on PreToolUse, PermissionRequest is fired. Every other event happens only if your agent calls `session.fire`.',
  ]
}

const DENY_WORDS = list([
  '**blocks**: the operation does not happen. `ask_user` works there too.',
  '**tells**: the operation has already happened. The model is told the reason.',
  '**goes on**: the agent does not stop. The reason is its next instruction.',
  '**reported**: the event cannot be denied. The deny is in the trace and in `diagnostics` (`verdict-ignored`).',
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
      ...(kind.respond ? ['`respond` works: a hook can answer instead of the operation.'] : []),
    ]),
  ]
}

/** @param {EventKind} kind */
function denySentence(kind) {
  if (kind.deny === 'none') return 'not possible; the deny is reported.'
  if (kind.denyOnlyClaudeFormat) return 'not possible for function hooks; their deny is reported.'
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
    `Any event may have these fields. ${own} belong to the engine: no hook can change them. Unknown fields pass through.`,
    table(
      ['field', 'type'],
      Object.entries(COMMON_FIELDS).map(([field, type]) => [code(field), type]),
    ),
    'Types: `list` is a JSON array, `object` a JSON object, `json` anything. An optional field may be null, which counts as absent. A missing required field, or a known field of the wrong type, is refused with [PAYLOAD_INVALID](errors.md#payload_invalid), even if no hook listens.',
  ]
}

function twins() {
  return [
    '## Fields with two names',
    'Events that have one of these names have both. Hooks can read either, and a change to one changes both.',
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
      'A matcher of only letters, digits, `_`, `-`, space, `,` and `|` is an exact list: `Write|Edit`. `Writ` does not match `Write`.',
      'Anything else is a regular expression that may match anywhere in the value: `^mcp__.*__write`.',
      `On ${narrow.map((kind) => code(kind.name)).join(' and ')} only letters, digits, \`_\` and \`|\` make an exact list.`,
      'A hook for `*` gets every event. Its matcher counts on events with a matcher field.',
      'A pattern means the same on every version of Node: `(?i:bash)` ignores case, and two alternatives may use the same group name.',
      'Matching takes linear time. A pattern that the linear engine cannot express runs natively on short values, or matches everything: the hook runs more often, never less.',
      `A tool’s former name still matches: ${renamed
        .map(([now, former]) => `${code(now)} (${former.map(code).join(', ')})`)
        .join(', ')}.`,
    ]),
  ]
}

function customEvents() {
  return [
    '## Custom events',
    'Any other name is an event of your own. Its data is any JSON object. Injections, messages, changes and aborts work. Matchers and failing hooks are ignored. A deny, an ask or a respond is reported.',
  ]
}

// ---- errors ---------------------------------------------------------------------------------------------------

function errorsPage() {
  return page([
    '# Errors and diagnostics',
    made('src/core/base/errors.ts and src/cli/refusal-codes.ts'),
    'Look up what a code means and what to do about it. `carabiner docs CODE` prints the same in a terminal.',
    list([
      'An **error** is a `HookError`: something was refused, or a hook failed. It has a stable `code`, a `message` that says what happened, a `hint` that says what to do, and often a `cause`. `TURN_ABORTED` and `AGENT_ABORTED` have the `outcome`.',
      'A **diagnostic** is `{ code, text }`: nothing was refused, but somebody should know. It is in `outcome.diagnostics`, or in `hooks.diagnostics` if no event was being fired.',
      'The failure of a hook is not thrown. It is in `outcome.hooks`, with one of these codes as `why`, and in `outcome.messages` as a warning.',
    ]),
    '## Errors',
    ...entries(ERROR_CODES),
    '## Diagnostics',
    ...entries(DIAGNOSTIC_CODES),
    '## Refusals of the command line',
    'A command that does not do what was asked prints a message and a hint. With `--json`, `error.code` is one of these, or one of the errors above.',
    ...entries(REFUSAL_CODES),
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

/** Relative to docs/reference. @param {string} name */
function pathOf(name) {
  const pages = readdirSync(new URL('../docs', import.meta.url), { recursive: true, encoding: 'utf8' })
  const path = pages.find((page) => posix.basename(page) === `${name}.md`)
  if (path === undefined) throw new Error(`No page is called ${name}`)
  return posix.relative('reference', path)
}

// ---- the protocol ---------------------------------------------------------------------------------------------

function protocolPage() {
  return page([
    '# The protocol of carabiner serve',
    made('src/service/stdio/protocol.ts'),
    'Look up every message of `carabiner serve --stdio`. It is JSON-RPC 2.0, one message a line, in UTF-8. [Serve](../write/serve.md) shows a whole host in Python, and `carabiner schema serve` prints the JSON Schema.',
    list([
      'A field with a `?` may be left out. An unknown field, and one of the wrong type, is refused with [OPTIONS_INVALID](errors.md#options_invalid); `error.data.field` names it.',
      'An error reply has `data.code` (a code of [errors](errors.md)), `data.hint`, and for an aborted turn `data.outcome`.',
      '`carabiner` gives sessions and calls their names. Requests have the ids that you choose, each used once at a time.',
    ]),
    '## Requests to carabiner',
    ...Object.entries(METHODS).flatMap(([name, row]) => method(name, row, 'Params')),
    '## Messages to the host',
    'Only `approve` is a request. The others are notifications.',
    ...Object.entries(HOST_METHODS).flatMap(([name, row]) => method(`host: ${name}`, row, 'Params')),
    '## Structures',
    ...Object.entries(STRUCTURES).flatMap(([name, parts]) => [
      `### ${name} (structure)`,
      table(
        ['field', ''],
        Object.entries(parts).map(([key, { means, optional }]) => [
          code(`${key}${optional ? '?' : ''}`),
          means,
        ]),
      ),
    ]),
  ])
}

/**
 * @param {string} name
 * @param {MethodRow} row
 * @param {string} label
 */
function method(name, { does, params, result, statuses }, label) {
  const answers = statuses
    ? Object.entries(statuses).flatMap(([status, fields]) => [
        `Answer with status \`${status}\`:`,
        fieldTable(fields),
      ])
    : result && Object.keys(result).length > 0
      ? ['Answer:', fieldTable(result)]
      : []
  const given = Object.keys(params).length > 0 ? [`${label}:`, fieldTable(params)] : []
  return [`### ${name}`, does, ...given, ...answers]
}

/** @param {MessageFields} fields */
function fieldTable(fields) {
  return table(
    ['field', 'type', ''],
    Object.entries(fields).map(([key, { of, means, optional }]) => [
      code(`${key}${optional ? '?' : ''}`),
      typeWords(of),
      means,
    ]),
  )
}

/** @param {MessageFields[string]['of']} of */
function typeWords(of) {
  const words = fieldType(of)?.check[1]
  if (words !== undefined) return words.replaceAll('|', '\\|')
  const name = typeof of === 'string' ? of : of[0]
  const link = `[${name}](#${name.toLowerCase()}-structure)`
  return typeof of === 'string' ? link : `a list of ${link}`
}

// ---- npm run docs ---------------------------------------------------------------------------------------------

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of Object.entries(pages())) {
    writeFileSync(new URL(`../${path}`, import.meta.url), text)
    console.log(path)
  }
}
