// A script: which hooks and plugins to load, which steps to play. Reads and checks it; problems name file and step.

import { readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** @import { Data, Hooks, Json } from 'carabiner' */

/**
 * `person` is what the person answers if asked; `needs` a program without which the step is skipped.
 *
 * @typedef {{ number: number, note?: string, needs?: string, person?: string }} Common
 * @typedef {Common & { verb: 'start', start: string }} StartStep
 * @typedef {Common & { verb: 'prompt', prompt: string }} PromptStep
 * @typedef {Common & { verb: 'model', model: string | Data }} ModelStep
 * @typedef {Common & { verb: 'tool', tool: string, input?: Data, result?: Json, fails?: string }} ToolStep
 * @typedef {Common & { verb: 'fire', fire: string, data?: Data }} FireStep
 * @typedef {Common & { verb: 'stop', stop: string }} StopStep
 * @typedef {Common & { verb: 'end', end: string }} EndStep
 * @typedef {StartStep | PromptStep | ModelStep | ToolStep | FireStep | StopStep | EndStep} Step
 * @typedef {{ path: string, needs?: string }} Plugin
 * @typedef {object} Script
 * @property {string} file
 * @property {string} [title]
 * @property {readonly string[]} hooks
 * @property {readonly Plugin[]} plugins
 * @property {readonly Step[]} steps
 * @typedef {(hooks: Pick<Hooks, 'register'>) => unknown} Register
 */

/** What a script got wrong, one problem a line. */
export class ScriptError extends Error {
  /**
   * @param {string} file
   * @param {readonly string[]} problems
   */
  constructor(file, problems) {
    super(problems.map((problem) => `${file}: ${problem}`).join('\n'))
    this.name = 'ScriptError'
  }
}

/**
 * @typedef {'text' | 'program' | 'object' | 'text or object' | 'anything'} Shape
 * @type {Record<Shape, readonly [(value: unknown) => boolean, string]>}
 */
const SHAPES = {
  text: [(value) => typeof value === 'string' && value !== '', 'a non-empty string'],
  program: [(value) => typeof value === 'string' && /^[\w.+-]+$/.test(value), 'the name of a program'],
  object: [isObject, 'an object'],
  'text or object': [(value) => isObject(value) || SHAPES.text[0](value), 'a non-empty string or an object'],
  anything: [() => true, 'anything'],
}

/**
 * Verbs, with the shape of their own value and of the keys beside it.
 *
 * @type {Record<Step['verb'], { is: Shape, keys: Record<string, Shape> }>}
 */
const VERBS = {
  start: { is: 'text', keys: {} },
  prompt: { is: 'text', keys: { person: 'text' } },
  model: { is: 'text or object', keys: { person: 'text' } },
  tool: { is: 'text', keys: { input: 'object', result: 'anything', fails: 'text', person: 'text' } },
  fire: { is: 'text', keys: { data: 'object', person: 'text' } },
  stop: { is: 'text', keys: {} },
  end: { is: 'text', keys: {} },
}
const VERB_NAMES = Object.keys(VERBS)

/**
 * Keys that every step may have.
 *
 * @type {Record<string, Shape>}
 */
const COMMON_KEYS = { note: 'text', needs: 'program' }

/**
 * Rejects with a ScriptError if the file cannot be read or is no script.
 *
 * @param {string} file
 * @returns {Promise<Script>}
 */
export async function readScript(file) {
  const text = await readFile(file, 'utf8').catch((error) => {
    throw new ScriptError(file, [
      error.code === 'ENOENT' ? 'there is no such file' : `cannot be read (${error.code})`,
    ])
  })
  return parseScript(text, file)
}

/**
 * @param {string} text
 * @param {string} file for the messages, and what hooks are found beside
 * @returns {Script}
 */
export function parseScript(text, file) {
  const json = parseJson(text, file)
  if (!isObject(json)) throw new ScriptError(file, [`a script must be an object, got ${kindOf(json)}`])
  const problems = unknownKeys(json, ['title', 'hooks', 'plugins', 'steps'])
  const { title, hooks = [], plugins = [], steps } = json
  if (title !== undefined && typeof title !== 'string')
    problems.push(`"title" must be a string, got ${kindOf(title)}`)
  if (!Array.isArray(hooks) || !hooks.every(SHAPES.text[0]))
    problems.push('"hooks" must be a list of module paths')
  if (!Array.isArray(plugins)) problems.push('"plugins" must be a list of folders')
  else problems.push(...plugins.flatMap((plugin, at) => pluginProblems(plugin, at + 1)))
  if (!Array.isArray(steps) || steps.length === 0)
    problems.push('"steps" must be a list of at least one step')
  else problems.push(...steps.flatMap((step, at) => stepProblems(step, at + 1)))
  if (problems.length > 0) throw new ScriptError(file, problems)
  const numbered = /** @type {object[]} */ (steps).map((step, at) => ({
    ...step,
    number: at + 1,
    verb: verbsOf(step)[0],
  }))
  return {
    file,
    title: /** @type {string | undefined} */ (title),
    hooks: /** @type {string[]} */ (hooks),
    plugins: /** @type {(string | Plugin)[]} */ (plugins).map((one) => (isObject(one) ? one : { path: one })),
    steps: /** @type {Step[]} */ (/** @type {unknown} */ (numbered)),
  }
}

/**
 * Imports the modules that the script names, relative to its file. Each must export `register(hooks)`.
 *
 * @param {Script} script
 * @returns {Promise<Register[]>}
 */
export async function loadHooks({ file, hooks }) {
  const loaded = []
  for (const path of hooks) {
    const url = pathToFileURL(resolve(dirname(file), path)).href
    const module = await import(url).catch((error) => {
      const missing = error.code === 'ERR_MODULE_NOT_FOUND' && error.url === url
      throw new ScriptError(file, [`hooks: ${path}: ${missing ? 'there is no such module' : error.message}`])
    })
    if (typeof module.register !== 'function') {
      throw new ScriptError(file, [`hooks: ${path}: the module must export a function register(hooks)`])
    }
    loaded.push(answering(file, path, module.register))
  }
  return loaded
}

/**
 * Whatever a module does wrong when it registers is a problem of the script that names it.
 *
 * @param {string} file
 * @param {string} path
 * @param {Register} register
 * @returns {Register}
 */
function answering(file, path, register) {
  return async (hooks) => {
    try {
      await register(hooks)
    } catch (error) {
      throw new ScriptError(file, [`hooks: ${path}: ${error instanceof Error ? error.message : error}`])
    }
  }
}

/**
 * The folders that the script names, relative to its file.
 *
 * @param {Script} script
 * @param {(program: string) => boolean} isMissing plugins that need it are left out
 * @returns {Promise<string[]>}
 */
export async function findPlugins({ file, plugins }, isMissing) {
  const found = plugins.filter(({ needs }) => needs === undefined || !isMissing(needs))
  return Promise.all(
    found.map(async ({ path }) => {
      const folder = resolve(dirname(file), path)
      const stats = await stat(folder).catch(() => undefined)
      if (!stats?.isDirectory()) throw new ScriptError(file, [`plugins: ${path}: there is no such folder`])
      return folder
    }),
  )
}

/**
 * @param {unknown} plugin
 * @param {number} number
 * @returns {string[]}
 */
function pluginProblems(plugin, number) {
  if (SHAPES.text[0](plugin)) return []
  if (!isObject(plugin)) return [`plugin ${number}: must be a folder or an object, got ${kindOf(plugin)}`]
  const problems = [
    ...unknownKeys(plugin, ['path', 'needs']),
    ...misshapen({ path: undefined, ...plugin }, { path: 'text', needs: 'program' }),
  ]
  return problems.map((problem) => `plugin ${number}: ${problem}`)
}

/**
 * @param {unknown} step
 * @param {number} number
 * @returns {string[]}
 */
function stepProblems(step, number) {
  if (!isObject(step)) return [`step ${number}: must be an object, got ${kindOf(step)}`]
  const verbs = verbsOf(step)
  const [verb] = verbs
  if (verb === undefined || verbs.length > 1) {
    const got = verbs.length > 1 ? verbs : Object.keys(step)
    return [`step ${number}: needs one verb of ${VERB_NAMES.join(', ')}; it has ${listed(got)}`]
  }
  const { is, keys } = VERBS[verb]
  /** @type {Record<string, Shape>} */
  const shapes = { [verb]: is, ...keys, ...COMMON_KEYS }
  const problems = [...unknownKeys(step, Object.keys(shapes)), ...misshapen(step, shapes)]
  if ('result' in step && 'fails' in step) problems.push('a tool has a "result" or "fails", not both')
  return problems.map((problem) => `step ${number} (${verb}): ${problem}`)
}

/**
 * @param {object} step
 * @returns {Step['verb'][]}
 */
function verbsOf(step) {
  return /** @type {Step['verb'][]} */ (Object.keys(step).filter((key) => VERB_NAMES.includes(key)))
}

/**
 * @param {object} value
 * @param {readonly string[]} known
 * @returns {string[]}
 */
function unknownKeys(value, known) {
  const unknown = Object.keys(value).filter((key) => !known.includes(key))
  return unknown.map((key) => `unknown key "${key}"; choose from ${known.join(', ')}`)
}

/**
 * @param {Record<string, unknown>} value
 * @param {Record<string, Shape>} shapes
 * @returns {string[]}
 */
function misshapen(value, shapes) {
  return Object.entries(shapes).flatMap(([key, shape]) => {
    const [fits, wanted] = SHAPES[shape]
    return key in value && !fits(value[key]) ? [`"${key}" must be ${wanted}, got ${kindOf(value[key])}`] : []
  })
}

/**
 * @param {string} text
 * @param {string} file
 * @returns {unknown}
 */
function parseJson(text, file) {
  try {
    return JSON.parse(text)
  } catch (error) {
    // It may quote the text, line breaks and all, and gives a position only for some mistakes.
    const message = /** @type {Error} */ (error).message.replace(/\s+/g, ' ')
    const position = /position (\d+)/.exec(message)?.[1]
    const line = position && text.slice(0, Number(position)).split('\n').length
    throw new ScriptError(line ? `${file}:${line}` : file, [`is not valid JSON: ${message}`])
  }
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @param {unknown} value */
function kindOf(value) {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (value === '') return 'an empty string'
  return isObject(value) ? 'an object' : `a ${typeof value}`
}

/** @param {readonly string[]} keys */
function listed(keys) {
  return keys.length === 0 ? 'no key' : keys.map((key) => `"${key}"`).join(' and ')
}
