// The schema of catalog.json, a list of plugins to install from.

import { INTEGRITY } from '../../plugins/sources/file-tree.js'
import { ENTRY_NAME } from '../../plugins/sources/source.js'
import { type Schema, TEXT, TEXTS, WRITTEN } from './shapes.js'

const COMMIT = {
  description: 'The commit it must have.',
  type: 'string',
  pattern: '^[0-9a-fA-F]{40}$',
} as const

export function catalogSchema(): Schema {
  return {
    title: 'A catalog of plugins',
    description: 'catalog.json at the top of a folder or a git repository; carabiner catalog add takes it.',
    type: 'object',
    required: ['carabiner', 'plugins'],
    properties: {
      $schema: TEXT,
      carabiner: { description: 'The format.', const: 1 },
      name: { description: 'What the catalog calls itself.', ...TEXT },
      description: { description: 'For people.', ...TEXT },
      plugins: {
        description: 'The plugins to install from.',
        type: 'array',
        maxItems: 5000,
        items: { $ref: '#/$defs/plugin' },
      },
    },
    $defs: { plugin: pluginSchema(), source: sourceSchema() },
  }
}

function pluginSchema(): Schema {
  return {
    type: 'object',
    required: ['name', 'source'],
    properties: {
      name: {
        description: 'carabiner install NAME@CATALOG',
        type: 'string',
        pattern: ENTRY_NAME.source,
      },
      description: { description: 'What it does, in a sentence.', ...TEXT },
      version: { description: 'Its version.', ...TEXT },
      keywords: { description: 'Words to find it by.', ...TEXTS },
      source: { description: 'Where to get it.', $ref: '#/$defs/source' },
      commit: COMMIT,
      integrity: {
        description: 'The digest that its content must have.',
        type: 'string',
        pattern: INTEGRITY.source,
      },
    },
  }
}

function sourceSchema(): Schema {
  const git = { ref: { description: 'A branch or tag.', ...TEXT }, path: TEXT, sha: COMMIT }
  const kind = (source: string | readonly string[], required: readonly string[], properties: Schema) => ({
    type: 'object',
    required: ['source', ...required],
    properties: { source: typeof source === 'string' ? { const: source } : { enum: source }, ...properties },
  })
  return {
    anyOf: [
      {
        description:
          'A folder of the catalog itself, an address of git or of an archive, or npm:NAME@VERSION.',
        type: 'string',
        pattern: '^(?:\\.$|\\./|npm:|https://|ssh://|git@|file:///)',
      },
      kind('github', ['repo'], { repo: { description: 'OWNER/NAME', ...WRITTEN }, ...git }),
      kind(['git', 'url'], ['url'], { url: WRITTEN, ...git }),
      kind('git-subdir', ['url', 'path'], { url: WRITTEN, ...git }),
      kind('npm', ['package'], { package: WRITTEN, version: TEXT }),
    ],
  }
}
