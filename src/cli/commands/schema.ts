// `carabiner schema`: the JSON Schema of a file that people write, or of data that programs exchange.

import { type Command, chosen } from '../command.js'
import { columns, nextLines } from '../print/lines.js'
import { addressOf, SCHEMA_NAMES, SCHEMAS, type SchemaName, schemaFile, schemaOf } from '../schema/schemas.js'

export const command: Command = {
  name: 'schema',
  summary: 'Print the JSON Schema of a file or of messages.',
  positionals: ['[NAME]'],
  completes: [SCHEMA_NAMES],
  about:
    'With a name it prints that schema (JSON Schema, draft 2020-12). Without one it lists what has a schema, ' +
    'and the address to put into a file as "$schema". Editors fetch that address from the published package; without ' +
    'the network, write the schema to a file and use its path instead. The package also has the files, in its folder ' +
    'schema.',
  options: {},
  examples: [
    { does: 'What has a schema?', line: 'carabiner schema' },
    { does: 'The schema of hooks.json.', line: 'carabiner schema hooks' },
    {
      does: 'For an editor without the network; then "$schema": "./hooks.schema.json".',
      line: 'carabiner schema hooks > hooks.schema.json',
    },
  ],
  async run({ positionals: [named] }, output) {
    if (named !== undefined) {
      const name = nameOf(named)
      return output.result(schemaOf(name), () => [schemaFile(name).text.trimEnd()])
    }
    const all = SCHEMA_NAMES.map((name) => ({ name, file: SCHEMAS[name].where, address: addressOf(name) }))
    const rows = columns(all.map(({ name, file }) => [name, file]))
    return output.result({ schemas: all }, (paint) => [
      ...rows.map(([name = '', file = '']) => `${paint.bold(name)}  ${file}`),
      ...nextLines(['carabiner schema hooks', `in a file: "$schema": "${addressOf('hooks')}"`], paint),
    ])
  },
}

/** `hooks` or `hooks.json`. */
function nameOf(text: string): SchemaName {
  const plain = text.replace(/\.json$/, '')
  return chosen(plain, SCHEMA_NAMES, 'There is no schema')
}
