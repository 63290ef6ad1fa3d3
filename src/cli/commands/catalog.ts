// `carabiner catalog`: lists of plugins to install from, kept on this machine, and searched.

import { visible, visibleName } from '../../core/base/text.js'
import { catalogSourceText } from '../../plugins/catalog/fetch.js'
import { type FoundPlugin, searchCatalogs } from '../../plugins/catalog/search.js'
import { type CatalogRecord, CatalogStore, type CatalogUpdate } from '../../plugins/catalog/store.js'
import { PluginProblem } from '../../plugins/plugin-problem.js'
import { type Command, checkOwners, chosen } from '../command.js'
import type { Output } from '../output.js'
import { checkPerson } from '../person.js'
import { asRefusals } from '../plugins/plugin-commands.js'
import { fitted } from '../print/fit.js'
import { columns, counted, indented, labelled, nextLines, oneLine, shortPath } from '../print/lines.js'
import { withProgress } from '../print/progress.js'
import type { Paint } from '../print/terminal.js'
import { EXIT, usage } from '../refusal.js'

const OPTIONS = {
  name: { type: 'string', value: 'NAME', help: 'add: call it by this name instead of its own.' },
} as const

const ACTIONS = ['list', 'add', 'search', 'remove', 'update'] as const
type Action = (typeof ACTIONS)[number]

export const command: Command<typeof OPTIONS> = {
  name: 'catalog',
  summary: 'Manage catalogs: add, list, search, update, remove.',
  positionals: ['[ACTION]', '[WHAT…]'],
  completes: [ACTIONS, 'file'],
  about:
    'ACTION is list (the default), add SRC, search WORDS, update [NAME] or remove NAME. SRC is a folder, a file or a git ' +
    'repository with a catalog.json, or with the .claude-plugin/marketplace.json of Claude Code. Searching uses ' +
    'what was fetched last, and needs no network. carabiner install NAME@CATALOG installs from one.',
  options: OPTIONS,
  exits: [
    [0, 'done; search: something was found'],
    [1, 'it could not be fetched, does not exist, or nothing was found'],
  ],
  examples: [
    { does: 'Your catalogs.', line: 'carabiner catalog' },
    {
      does: 'Add the marketplace of another agent.',
      line: 'carabiner catalog add https://github.com/anthropics/claude-code --name claude',
      needs: 'a network',
    },
    {
      does: 'Is there a plugin for this?',
      line: 'carabiner catalog search secret scan',
      needs: 'a catalog',
    },
    { does: 'What is new?', line: 'carabiner catalog update' },
  ],
  mayRun({ positionals: [action] }) {
    if (action === 'add') checkPerson('Adding a catalog')
    if (action === 'remove') checkPerson('Removing a catalog')
  },
  async run({ options, positionals: [first = 'list', ...words] }, output) {
    const action = chosen(first, ACTIONS, 'carabiner catalog has no action')
    checkOwners('catalog', action, options, { name: ['add'] })
    return asRefusals(() => act(action, words, options.name, output))
  },
}

async function act(
  action: Action,
  words: readonly string[],
  name: string | undefined,
  output: Output,
): Promise<number> {
  const store = new CatalogStore()
  switch (action) {
    case 'list':
      checkCount(action, words, 0)
      return list(store, output)
    case 'add':
      return add(store, wanted(action, words, 'SRC'), name, output)
    case 'search':
      return search(store, words, output)
    case 'remove':
      return remove(store, wanted(action, words, 'NAME'), output)
    case 'update':
      checkCount(action, words, 1)
      return update(store, words[0], output)
  }
}

function checkCount(action: Action, words: readonly string[], most: number): void {
  const extra = words[most]
  if (extra !== undefined) throw usage(`carabiner catalog ${action} does not accept ${JSON.stringify(extra)}`)
}

function wanted(action: Action, words: readonly string[], what: string): string {
  checkCount(action, words, 1)
  const [word] = words
  if (word !== undefined) return word
  throw usage(
    `Which one? carabiner catalog ${action} ${what}`,
    action === 'remove' ? 'carabiner catalog lists them.' : 'carabiner catalog --help shows how to use it.',
  )
}

// ---- list and search ------------------------------------------------------------------------------------------

async function list(store: CatalogStore, output: Output): Promise<number> {
  const { catalogs, problems } = store.all()
  const cells = catalogs.map((one) => [
    one.name,
    counted(one.plugins.length, 'plugin'),
    visible(shortPath(catalogSourceText(one.source))),
    `updated ${one.updated.slice(0, 10)}`,
  ])
  return output.result({ catalogs: catalogs.map(summaryOf), problems }, (paint) => [
    ...fitted(columns(cells).map((row) => row.join('  '))),
    ...(catalogs.length === 0 ? ['no catalogs', ...nextLines(['carabiner catalog add SRC'], paint)] : []),
    ...problems.flatMap((text) => labelled('note', visible(text), paint.yellow)),
  ])
}

function summaryOf(record: CatalogRecord) {
  const { name, source, commit, added, updated, plugins, problems } = record
  return {
    name,
    source: catalogSourceText(source),
    ...(commit !== undefined && { commit }),
    added,
    updated,
    plugins: plugins.length,
    problems,
  }
}

async function search(store: CatalogStore, words: readonly string[], output: Output): Promise<number> {
  const { catalogs, problems } = store.all()
  const found = searchCatalogs(catalogs, words)
  await output.result({ plugins: found.map(foundData), problems }, (paint) =>
    found.length > 0 ? found.flatMap((one) => foundLines(one, paint)) : nothingLines(catalogs.length, paint),
  )
  if (!output.json) await output.complain(problems.map((text) => `carabiner: ${visible(text)}`))
  return found.length > 0 ? EXIT.ok : EXIT.failed
}

function foundData({ entry: { name, description, version, keywords }, catalog }: FoundPlugin) {
  const install = `${name}@${catalog}`
  return { name, catalog, description, ...(version !== undefined && { version }), keywords, install }
}

function nothingLines(catalogs: number, paint: Paint): readonly string[] {
  if (catalogs === 0) return ['no catalogs', ...nextLines(['carabiner catalog add SRC'], paint)]
  return [
    `nothing found in ${counted(catalogs, 'catalog')}`,
    ...nextLines(['carabiner catalog update'], paint),
  ]
}

const LONGEST_SHOWN = 300

function foundLines({ entry, catalog }: FoundPlugin, paint: Paint): readonly string[] {
  const version = entry.version === undefined ? '' : `  ${visible(entry.version)}`
  const head = `${paint.bold(`${visible(entry.name)}@${catalog}`)}${version}`
  const text = visible(oneLine(entry.description, LONGEST_SHOWN))
  return [head, ...(text === '' ? [] : indented(text, 2))]
}

// ---- add, update and remove -----------------------------------------------------------------------------------

async function add(
  store: CatalogStore,
  text: string,
  name: string | undefined,
  output: Output,
): Promise<number> {
  const added = await withProgress(`fetching ${visible(text)}`, output, () => store.add(text, name))
  return output.result(summaryOf(added), (paint) => [
    `added ${added.name}: ${counted(added.plugins.length, 'plugin')} from ${visible(shortPath(catalogSourceText(added.source)))}`,
    ...leftOutLines(added, paint),
    ...nextLines(['carabiner catalog search', `carabiner install NAME@${added.name}`], paint),
  ])
}

const MOST_NOTES = 10

function leftOutLines({ problems }: CatalogRecord, paint: Paint): readonly string[] {
  return noteLines(problems, 'are left out', paint)
}

function noteLines(texts: readonly string[], what: string, paint: Paint): readonly string[] {
  const more = texts.length - MOST_NOTES
  return [
    ...texts.slice(0, MOST_NOTES).flatMap((text) => labelled('note', visible(text), paint.yellow)),
    ...(more > 0 ? labelled('note', `${more} more ${what}; --json lists all of them`, paint.yellow) : []),
  ]
}

/** A catalog that cannot be fetched does not stop the others. */
async function update(store: CatalogStore, name: string | undefined, output: Output): Promise<number> {
  const names = name === undefined ? store.names() : [name]
  const updated: CatalogUpdate[] = []
  const failed: { readonly name: string; readonly problem: string }[] = []
  for (const one of names) {
    try {
      updated.push(await withProgress(`fetching ${visible(one)}`, output, () => store.update(one)))
    } catch (error) {
      if (!(error instanceof PluginProblem) || name !== undefined) throw error
      failed.push({ name: one, problem: error.message })
    }
  }
  const changes = updated.map(({ catalog, ...rest }) => ({ ...summaryOf(catalog), ...rest }))
  await output.result({ updated: changes, failed }, (paint) => [
    ...(names.length === 0 ? ['no catalogs'] : []),
    ...updated.flatMap((one) => [
      changeLine(one),
      ...movedLines(one, paint),
      ...leftOutLines(one.catalog, paint),
    ]),
  ])
  const notices = failed.map((one) => `carabiner: ${one.name} stays as it was: ${visible(one.problem)}`)
  if (!output.json) await output.complain(notices)
  return failed.length > 0 ? EXIT.failed : EXIT.ok
}

function changeLine({ catalog, added, removed, changed }: CatalogUpdate): string {
  const parts = [
    ['new', added],
    ['changed', changed],
    ['gone', removed],
  ] as const
  const said = parts
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => `${what} ${oneLine(names.map(visibleName).join(', '), LONGEST_SHOWN)}`)
  return `${catalog.name}: ${said.length === 0 ? 'nothing new' : said.join('; ')}`
}

function movedLines({ moved }: CatalogUpdate, paint: Paint): readonly string[] {
  const texts = moved.map(({ name, was, now }) => `${name} came from ${was}, and now comes from ${now}`)
  return noteLines(texts, 'have moved', paint)
}

async function remove(store: CatalogStore, name: string, output: Output): Promise<number> {
  const gone = store.remove(name)
  return output.result({ removed: gone.name }, () => [`removed ${gone.name}; plugins installed from it stay`])
}
