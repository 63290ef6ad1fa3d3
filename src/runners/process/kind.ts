// Kind `process`: the fields of an entry under "processes". One process provides up to three hooks.

import { isObject } from '../../core/base/json.js'
import { type Check, isFlag, isOneOf, isSeconds, isText } from '../../core/base/options.js'
import type { HookMode } from '../../core/hooks/hook.js'
import { INTERCEPTS, type Intercept } from '../../systems/picoclaw/protocol.js'
import { isEnv, type Kind } from '../kind.js'
import type { Restart } from './back-off.js'
import type { ProcessHandler, ProcessSpec } from './process-hooks.js'

/** A valid entry as its file has it. */
export interface GivenProcess {
  readonly enabled?: boolean
  readonly command: readonly string[]
  readonly dir?: string
  readonly env?: Readonly<Record<string, string>>
  readonly priority?: number
  readonly transport?: 'stdio'
  readonly observe?: readonly string[]
  readonly intercept?: readonly Intercept[]
  readonly timeouts?: Partial<ProcessHandler['timeouts']>
  readonly onFailure?: 'block' | 'continue'
  readonly mode?: HookMode
  readonly restart?: boolean | Partial<Restart>
  readonly maxLineBytes?: number
}

/** Seconds, as in PicoClaw. */
export const USUAL_TIMEOUTS: ProcessHandler['timeouts'] = {
  observe: 0.5,
  intercept: 5,
  approve: 60,
  hello: 5,
}
export const USUAL_RESTART: Restart = { delay: 0.25, maxDelay: 30, attempts: 5 }

/** Points at which a process can decide. */
export const POINTS: readonly string[] = Object.keys(INTERCEPTS)

// ---- checks ---------------------------------------------------------------------------------------------------

// biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the file
const LIKE_THIS = '["python3", "${CLAUDE_PLUGIN_ROOT}/hook.py"]'

const isCommand: Check = [
  (value) => isTexts(value) && isText[0](value[0]) && value.every((word) => !word.includes('\0')),
  `a list: the program, then each of its arguments, such as ${LIKE_THIS}`,
]
const isNumber: Check = [Number.isFinite, 'a number']
const isKinds: Check = [isTexts, 'a list of kinds, such as ["tool_exec_start"], or ["*"]']
const isPoints: Check = [
  // PicoClaw ignores an empty string.
  (value) => isTexts(value) && value.every((one) => one === '' || POINTS.includes(one)),
  `a list of ${POINTS.map((point) => `"${point}"`).join(', ')}`,
]
const isTimeouts: Check = [
  (value) =>
    isObject(value) &&
    Object.entries(value).every(([key, one]) => Object.hasOwn(USUAL_TIMEOUTS, key) && isSeconds[0](one)),
  `an object of seconds for ${Object.keys(USUAL_TIMEOUTS).join(', ')}`,
]
const isRestart: Check = [
  (value) => typeof value === 'boolean' || (isObject(value) && Object.entries(value).every(isRestartTerm)),
  'true, false, or an object with delay and maxDelay (seconds) and attempts',
]
const LONGEST_LINE = 256 * 1024 * 1024
const isLineLength: Check = [
  (value) => Number.isInteger(value) && (value as number) >= 1024 && (value as number) <= LONGEST_LINE,
  `a number of bytes from 1024 to ${LONGEST_LINE}`,
]

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function isRestartTerm([key, value]: [string, unknown]): boolean {
  if (key === 'attempts') return Number.isInteger(value) && (value as number) >= 0
  return (key === 'delay' || key === 'maxDelay') && Number.isFinite(value) && (value as number) >= 0
}

// ---- the row --------------------------------------------------------------------------------------------------

const TEXTS = { type: 'array', items: { type: 'string' } } as const
const PAUSE = { type: 'number', minimum: 0 } as const

export const PROCESS: Kind<ProcessSpec, GivenProcess> = {
  summary: 'Keeps a program running and calls it for each event.',
  fields: {
    enabled: [isFlag, 'Whether it is started.'],
    command: [
      isCommand,
      'The program and its arguments. It runs without a shell.',
      { ...TEXTS, minItems: 1 },
    ],
    dir: [isText, 'The folder it runs in.'],
    env: [isEnv, 'Environment variables for the process.'],
    priority: [isNumber, 'Lower numbers run first.'],
    transport: [isOneOf('stdio'), 'How Carabiner talks to it.'],
    observe: [isKinds, 'Kinds of events that it is told about. "*" means all.', TEXTS],
    intercept: [isPoints, 'Points at which it decides.', { type: 'array', items: { enum: ['', ...POINTS] } }],
    timeouts: [
      isTimeouts,
      'Timeouts in seconds for each of its roles.',
      {
        type: 'object',
        properties: Object.fromEntries(
          Object.keys(USUAL_TIMEOUTS).map((key) => [key, { type: 'number', exclusiveMinimum: 0 }]),
        ),
        additionalProperties: false,
      },
    ],
    onFailure: [isOneOf('block', 'continue'), '"block" closes the gate when it fails.'],
    mode: [
      isOneOf('enforce', 'shadow'),
      '"shadow": it runs, and what it would have done is recorded, but nothing of it counts.',
    ],
    restart: [
      isRestart,
      'Whether and how it is restarted.',
      {
        anyOf: [
          { type: 'boolean' },
          {
            type: 'object',
            properties: { delay: PAUSE, maxDelay: PAUSE, attempts: { type: 'integer', minimum: 0 } },
            additionalProperties: false,
          },
        ],
      },
    ],
    maxLineBytes: [
      isLineLength,
      'The longest line it may write, in bytes.',
      { type: 'integer', minimum: 1024 },
    ],
  },
  required: ['command'],
  isResident: true,
  target: ({ command }) => command.join(' '),
  program: ({ command: [program = '', ...args], dir, env }) => ({
    command: program,
    args,
    ...(dir !== undefined && { dir }),
    ...(env && { env }),
  }),
  async load({ keeper }) {
    const { processHooks } = await import('./process-hooks.js')
    const { Residents } = await import('./residents.js')
    const residents = keeper.keep('process', () => new Residents(keeper.isWarm))
    residents.look()
    return {
      hooks: (spec, surroundings, problem) => processHooks(spec, surroundings, residents, problem),
      renew: (make) => residents.renew(make),
      close: () => keeper.leave(residents),
    }
  },
}
