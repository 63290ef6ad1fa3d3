// Help, made from the commands' own declarations.

import { allOptions, type Command, type Option } from './command.js'
import type { Output } from './output.js'
import { fitted } from './print/fit.js'
import { columns } from './print/lines.js'
import { type Paint, painter, width } from './print/terminal.js'
import { EXIT } from './refusal.js'

/** `others`: all commands, for the help of the whole program. */
export async function printHelp(command: Command, others: readonly Command[], output: Output): Promise<void> {
  if (output.json) return output.document(helpDocument(command, others))
  await output.print(helpLines(command, others, painter(1)))
}

function helpLines(command: Command, others: readonly Command[], paint: Paint): readonly string[] {
  return [
    ...fitted(head(command, paint)),
    ...section(
      'commands',
      others.map((one) => [callOf(one), one.summary]),
      paint,
    ),
    ...(command.actions ?? []).flatMap(({ title, rows }) => section(title, rows, paint)),
    ...section(
      'options',
      listed(command).map((entry) => optionCells(entry)),
      paint,
    ),
    ...section(
      'exit codes',
      exitsOf(command).map(([code, means]) => [String(code), means]),
      paint,
    ),
    ...(command.name === '' ? section('environment', ENVIRONMENT, paint) : []),
    '',
    paint.bold('examples'),
    ...command.examples.flatMap(({ does, line }) => [
      ...fitted([`  ${paint.dim(`# ${does}`)}`]),
      `  ${line}`,
    ]),
  ]
}

const ENVIRONMENT = [
  ['CARABINER_OFF=1', 'run no hook at all, and say so'],
  ['CARABINER_PRE_TRUSTED=FILE', 'the same as --pre-trusted FILE'],
  ['CARABINER_HOME=DIR', 'where trust, copies and sessions are kept'],
  ['CARABINER_SERVICE=off', 'start Node for every event, without the service'],
  ['CARABINER_SPAWNER=off', 'start command hooks without a helper'],
  ['CARABINER_DEBUG=1', 'show the stack of an internal error'],
  ['NO_COLOR=1', 'no colours'],
]

function head(command: Command, paint: Paint): readonly string[] {
  const { name, summary, about } = command
  if (name === '') {
    return [
      `${paint.bold('carabiner')}: clip any hook onto any agent`,
      '',
      'usage: carabiner [COMMAND] [options]',
      `  Without a command: ${summary.charAt(0).toLowerCase()}${summary.slice(1)}`,
      '  carabiner help COMMAND explains one command.',
    ]
  }
  return [
    `${paint.bold(`carabiner ${name}`)}: ${summary}`,
    '',
    `usage: carabiner ${callOf(command)} [options]`,
    ...fitted([`  ${about}`], Math.min(80, width()), 2),
  ]
}

function callOf({ name, positionals }: Command): string {
  return [name, ...positionals].join(' ')
}

function optionCells([name, { short, value, help }]: readonly [string, Option]): readonly string[] {
  return [`${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`, help]
}

function section(title: string, rows: readonly (readonly string[])[], paint: Paint): readonly string[] {
  if (rows.length === 0) return []
  const cells = columns(rows)
  const hang = (cells[0]?.[0]?.length ?? 0) + 4
  return [
    '',
    paint.bold(title),
    ...fitted(
      cells.map(([first = '', rest = '']) => `  ${first}  ${rest}`),
      width(),
      hang,
    ),
  ]
}

function helpDocument(command: Command, others: readonly Command[]) {
  const { name, summary, positionals, actions, examples } = command
  const exits = exitsOf(command)
  return {
    command: name === '' ? 'carabiner' : `carabiner ${name}`,
    summary,
    positionals,
    ...(actions && {
      actions: actions.flatMap(({ title, rows }) => rows.map(([call, does]) => ({ call, does, for: title }))),
    }),
    options: listed(command).map(([option, { short, value, multiple = false, help }]) => ({
      option: `--${option}`,
      ...(short && { short: `-${short}` }),
      ...(value && { value }),
      repeatable: multiple,
      help,
    })),
    ...(exits.length > 0 && { exits: Object.fromEntries(exits) }),
    examples,
    ...(others.length > 0 && { commands: others.map((one) => ({ name: one.name, summary: one.summary })) }),
  }
}

function listed(command: Command): readonly (readonly [string, Option])[] {
  return Object.entries(allOptions(command)).filter(([, { hidden }]) => !hidden)
}

function exitsOf({ exits }: Command): NonNullable<Command['exits']> {
  if (!exits || exits.some(([code]) => code === EXIT.usage)) return exits ?? []
  return [...exits, [EXIT.usage, 'wrong usage']]
}
