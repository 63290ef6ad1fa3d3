// The schema of hooks.test.json.

import { CASE, FILE } from '../test-cases/case-file.js'
import { EXPECTATION, type Expectation, type Fields } from '../test-cases/expectation.js'
import { FLAG, OBJECT, propertiesOf, type Schema, TEXT, TEXT_MAP, TEXTS, WRITTEN } from './shapes.js'

const FILE_WORDS: Readonly<Record<string, string>> = {
  $schema: 'Where this schema is.',
  description: 'For people.',
  sequential: 'Run the cases one after the other, because the hooks write into their own folder.',
  cases: 'Each case is an event, and what the hooks should decide.',
}

const CASE_WORDS: Readonly<Record<string, string>> = {
  name: 'What the case shows.',
  event: 'The event that is fired, such as "PreToolUse".',
  payload: 'The data of the event; fields that agents always send are filled in.',
  payloadFile: 'A JSON file with the payload, relative to the folder of this file.',
  expect: 'What must be true; all of it.',
  files: 'Files of the project it runs in, by path.',
  env: 'Variables for the hooks.',
  timeout: 'Seconds for the case.',
  skip: 'Do not run it; a text says why.',
}

const EXPECTATION_WORDS: Readonly<Record<keyof Expectation, string>> = {
  action: 'The decision.',
  reason: 'Text that the reason contains; null for none.',
  permission: 'Whether a hook allowed the call by itself.',
  context: 'Text that the context for the model contains; null for none.',
  messages: 'Text that the messages to the user contain; null for none.',
  modified: 'A part of the data after every change, or whether anything was changed.',
  response: 'A part of the answer that replaces the operation.',
  ran: 'The names of all hooks that ran.',
  failed: 'The names of all hooks that failed; without it none may.',
}

const RULE: Schema = {
  anyOf: [
    TEXT,
    { type: 'object', required: ['matches'], properties: { matches: TEXT }, additionalProperties: false },
  ],
}
const RULES: Schema = { anyOf: [RULE, { type: 'array', items: RULE }, { type: 'null' }] }

export function casesSchema(): Schema {
  return {
    title: 'Test cases of hooks',
    description: 'hooks.test.json, which carabiner test runs.',
    type: 'object',
    required: ['cases'],
    properties: propertiesOf(words(FILE), FILE_WORDS, {
      cases: { type: 'array', items: { $ref: '#/$defs/case' } },
    }),
    additionalProperties: false,
    $defs: { case: caseSchema(), expectation: expectationSchema() },
  }
}

function caseSchema(): Schema {
  const [timeout = ''] = CASE.timeout ?? []
  const most = Number(/at most (\d+)/.exec(timeout)?.[1])
  return {
    type: 'object',
    required: ['event', 'expect'],
    properties: propertiesOf(words(CASE), CASE_WORDS, {
      event: WRITTEN,
      payloadFile: WRITTEN,
      expect: { $ref: '#/$defs/expectation' },
      files: TEXT_MAP,
      env: TEXT_MAP,
      timeout: { type: 'number', exclusiveMinimum: 0, maximum: most },
      skip: { anyOf: [FLAG, WRITTEN] },
    }),
    not: { required: ['payload', 'payloadFile'] },
    additionalProperties: false,
  }
}

function expectationSchema(): Schema {
  const actions = (EXPECTATION.action?.[0] ?? '').replace('one of ', '').split(', ')
  return {
    type: 'object',
    minProperties: 1,
    properties: propertiesOf(words(EXPECTATION), EXPECTATION_WORDS, {
      action: { enum: actions },
      reason: { anyOf: [RULE, { type: 'null' }] },
      permission: { enum: ['allow', null] },
      context: RULES,
      messages: RULES,
      modified: { anyOf: [FLAG, OBJECT] },
      response: {},
      ran: TEXTS,
      failed: TEXTS,
    }),
    additionalProperties: false,
  }
}

function words(fields: Fields): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fields).map(([key, [text]]) => [key, text]))
}
