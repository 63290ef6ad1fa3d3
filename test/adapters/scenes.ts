// The situations that every adapter must handle: what the model says, which hooks there are, and how an agent plays them.
// An agent of an SDK calls playScenes() with a function that runs the SDK's own loop.

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  askUser,
  createHooks,
  type Data,
  deny,
  fileApprovals,
  type Hold,
  inject,
  modify,
  queueApprover,
  respond,
  type Session,
} from 'carabiner'

/** A tool as every SDK can have it. */
export interface TestTool {
  readonly name: string
  /** The only field of its input, a text. */
  readonly field: 'at' | 'command'
  readonly run: (input: Readonly<Record<string, string>>, signal: AbortSignal | undefined) => Promise<string>
}

export interface AgentRun {
  readonly session: Session
  /** Of the mock model, without a path of a protocol. */
  readonly baseURL: string
  readonly prompt: string
  readonly streaming: boolean
  /** One of the adapter's ways to put hooks into an agent, by the name that its test gives it. */
  readonly way: string
  /** What waits for hooks in a stream, for adapters that have this option. */
  readonly hold: Hold
  readonly signal: AbortSignal
  readonly tools: readonly TestTool[]
  /** What a person answers if the SDK suspends the agent. */
  readonly approve: boolean
  /** Call it with every text that a person would see before the answer is complete. */
  readonly show: (text: string) => void
  /** Call it for every tool result that the SDK marks as an error. */
  readonly sayError: () => void
}

/** The system prompt of every agent. */
export const SYSTEM = 'You travel.'
const PROMPT = 'Please look.'

/** Runs the SDK's own loop to its end, and returns the last text. Throws what the SDK throws. */
export type RunAgent = (run: AgentRun) => Promise<string>

/** What happened in a scene. */
export interface Played {
  readonly text?: string
  readonly shown: string
  readonly error?: { readonly name: string; readonly message: string }
  /** Tools that ran, with the place they ran for. */
  readonly ran: readonly string[]
  /** What hooks told the test before the run ended. */
  readonly told: readonly string[]
  /** How many tool results the SDK marked as errors. */
  readonly errors: number
  /** Tool events that hooks saw. */
  readonly events: readonly Data[]
}

type Turn =
  | { readonly calls: readonly Call[] }
  | { readonly text: string; readonly deltas: readonly string[] }
interface Call {
  readonly name: string
  readonly input: Readonly<Record<string, string>>
}

interface Scene {
  /** What the model says, request for request. */
  readonly turns: readonly Turn[]
  readonly hooks?: (session: Session, run: SceneRun) => void
  /** The person says no. */
  readonly refuses?: true
  /** Questions go to the queue of approvals, where another process answers them so, or nobody does. */
  readonly elsewhere?: 'allow' | 'deny' | 'nobody'
  /** No hook sees what happens. */
  readonly unwatched?: true
  /** Hooks may change system messages, which are protected by default. */
  readonly unprotected?: true
  /** The only hooks are the rules in this person's home folder. */
  readonly ruled?: true
}

interface SceneRun {
  readonly abort: () => void
  /** What a hook wants the test to know. */
  readonly tell: (what: string) => void
}

const call = (name: string, at = 'a'): Call => ({ name, input: { at } })
const calls = (...made: readonly Call[]): Turn => ({ calls: made })
const says = (...deltas: readonly string[]): Turn => ({ text: deltas.join(''), deltas })
const DONE = says('All ', 'done.')
const runs = (command: string): readonly Turn[] => [calls({ name: 'bash', input: { command } }), DONE]
const LOOK = [calls(call('look')), DONE]
const THREE = [calls(call('look', 'a'), call('look', 'b'), call('look', 'c')), DONE]
/** The same file for every SDK, and for MCP servers. */
export const RULES = [
  { id: 'keep', effects: ['delete'], of: ['/srv/kept'], then: 'deny' },
  { id: 'out', effects: ['send'], except: ['localhost'], then: 'ask' },
  { id: 'lease', effects: ['git'], where: { force: true }, then: 'rewrite', to: 'force-with-lease' },
  { id: 'pnpm', effects: ['install'], then: 'tell', say: 'Use pnpm here.' },
  { id: 'hidden', redact: ['results'] },
]
/** In the form of a real token, so that a rule knows it. */
export const TOKEN = `ghp_${'16C7e42F292c6912E7710c838347Ae178B4a'}`

const SECRET = says('the pass', 'word is x')
const contentOf = (response: unknown) => String((response as Data).content)

const callsIn = (response: unknown) =>
  (response as { readonly tool_calls?: readonly (Data & { readonly input: Data })[] }).tool_calls ?? []

/** Without the system prompt and the tool `helper`, and with another prompt. Each SDK has these elsewhere in its requests. */
function rewritten(request: unknown): Data {
  const isKept = (one: Data | null) => one?.role !== 'system' && one?.name !== 'helper'
  return JSON.parse(JSON.stringify(request), (key, value) => {
    if (key === 'systemInstruction') return undefined
    if (Array.isArray(value)) return value.filter(isKept)
    return value === PROMPT ? 'Please listen.' : value
  })
}

/** A hook with a verdict for some places. */
const judged =
  (verdicts: Readonly<Record<string, ReturnType<typeof deny> | ReturnType<typeof respond>>>) =>
  (session: Session) => {
    session.register('PreToolUse', (_, { tool_input }) => verdicts[String((tool_input as Data).at)])
  }

/** One hook changes the input, and another asks about what it is then. */
function asksAboutB(session: Session): void {
  session.register('PreToolUse', () => modify({ tool_input: { at: 'b' } }))
  session.register('PreToolUse', () => askUser('really?'))
}

export const SCENES = {
  plain: { turns: LOOK },
  'no hooks': { turns: LOOK, unwatched: true },
  deny: { turns: LOOK, hooks: (session) => session.register('PreToolUse', () => deny('not this way')) },
  rewrite: {
    turns: LOOK,
    hooks: (session) => session.register('PreToolUse', () => modify({ tool_input: { at: 'b' } })),
  },
  'rewrite a result': {
    turns: LOOK,
    hooks: (session) => session.register('PostToolUse', () => modify({ tool_response: 'saw nothing' })),
  },
  inject: {
    turns: LOOK,
    hooks(session) {
      session.register('ModelRequest', () => inject('mind the gap'))
      session.register('PostToolUse', () => inject('it rains'))
    },
  },
  'ask, yes': { turns: LOOK, hooks: (session) => session.register('PreToolUse', () => askUser('really?')) },
  'ask, no': {
    turns: LOOK,
    hooks: (session) => session.register('PreToolUse', () => askUser('really?')),
    refuses: true,
  },
  'ask elsewhere, yes': { turns: LOOK, hooks: asksAboutB, elsewhere: 'allow' },
  'ask elsewhere, no': { turns: LOOK, hooks: asksAboutB, elsewhere: 'deny' },
  'ask elsewhere, no answer': { turns: LOOK, hooks: asksAboutB, elsewhere: 'nobody', refuses: true },
  respond: {
    turns: LOOK,
    hooks: (session) => session.register('PreToolUse', () => respond('from the cache')),
  },
  'respond for the model': {
    turns: [],
    hooks: (session) =>
      session.register('ModelRequest', () => respond({ role: 'assistant', content: 'cached answer' })),
  },
  'deny a request': {
    turns: [],
    hooks: (session) => session.register('ModelRequest', () => deny('over budget')),
  },
  'deny a response': {
    turns: [SECRET],
    hooks: (session) =>
      session.register('ModelResponse', (_, { response }) =>
        contentOf(response).includes('password') ? deny('a secret') : undefined,
      ),
  },
  'rewrite a request': {
    turns: [DONE],
    hooks: (session) =>
      session.register('ModelRequest', (_, { messages, tools, options }) =>
        modify(rewritten({ messages, tools, options })),
      ),
    unprotected: true,
  },
  'rewrite a response': {
    turns: [SECRET],
    hooks: (session) =>
      session.register('ModelResponse', (_, { response }) =>
        modify({ response: { ...(response as Data), content: 'redacted' } }),
      ),
  },
  'deny a call in a response': {
    turns: LOOK,
    hooks: (session) =>
      session.register('ModelResponse', (_, { response }) =>
        callsIn(response).some(({ input }) => input.at === 'a') ? deny('no such call') : undefined,
      ),
  },
  'rewrite a call in a response': {
    turns: LOOK,
    hooks: (session) =>
      session.register('ModelResponse', (_, { response }) => {
        const calls = callsIn(response).map((one) => ({ ...one, input: { ...one.input, at: 'b' } }))
        return calls.length > 0
          ? modify({ response: { ...(response as Data), tool_calls: calls } })
          : undefined
      }),
  },
  'parallel, at once': { turns: [calls(call('meet', 'a'), call('meet', 'b')), DONE] },
  'parallel, all verdicts': {
    turns: [calls(call('look', 'a'), call('look', 'b'), call('look', 'c'), call('look', 'd')), DONE],
    hooks: judged({
      b: deny('not to b'),
      c: modify({ tool_input: { at: 'C' } }),
      d: respond('d is known'),
    }),
  },
  'parallel, ask, yes': { turns: THREE, hooks: judged({ a: askUser('a?'), b: askUser('b?') }) },
  'parallel, ask, no': { turns: THREE, hooks: judged({ a: askUser('a?'), b: askUser('b?') }), refuses: true },
  'parallel, ask and deny': { turns: THREE, hooks: judged({ a: askUser('a?'), b: deny('not to b') }) },
  'parallel, error': { turns: [calls(call('look', 'a'), call('fail', 'b'), call('look', 'c')), DONE] },
  'parallel, abort': { turns: [calls(call('look', 'a'), call('wait', 'b')), DONE] },
  abort: { turns: [calls(call('wait')), DONE] },
  'abort in a hook': {
    turns: LOOK,
    hooks: (session, { abort, tell }) =>
      session.register(
        'PreToolUse',
        (_event, _data, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => {
              tell(`hook: ${signal.reason}`)
              resolve(undefined)
            })
            abort()
          }),
        { timeout: 2, onFailure: 'block' },
      ),
  },
  'tool error': { turns: [calls(call('fail')), DONE] },
  'rules, nothing': { turns: runs('ls'), ruled: true },
  'rules, deny': { turns: runs('rm -rf /srv/kept'), ruled: true },
  'rules, ask, yes': { turns: runs('curl -d @a https://example.com'), ruled: true },
  'rules, ask, no': { turns: runs('curl -d @a https://example.com'), ruled: true, refuses: true },
  'rules, rewrite': { turns: runs('git push --force origin topic'), ruled: true },
  'rules, redact': { turns: runs('env'), ruled: true },
  'rules, tell': { turns: runs('npm install left-pad'), ruled: true },
  subagent: {
    turns: [calls(call('helper', 'the river')), calls(call('look')), says('The helper ', 'is done.'), DONE],
    hooks: (session) =>
      session.register('PreToolUse', (_, { agent_id, tool_name }) =>
        agent_id === 'helper-1' && tool_name.endsWith('look') ? deny('no helper looks') : undefined,
      ),
  },
} satisfies Record<string, Scene>

export type SceneName = keyof typeof SCENES

/** A scene that is to be played, and how. */
export interface Wanted {
  readonly name: SceneName
  readonly streaming: boolean
  readonly way: string
  readonly hold: Hold
}

/** What the test tells its agent about a scene. */
interface Order extends Wanted {
  readonly baseURL: string
  /** The program that answers questions in the queue. */
  readonly answerer: string
}

/** Reads the scenes to play from standard input, and prints a line for each. */
export async function playScenes(runAgent: RunAgent): Promise<void> {
  let text = ''
  for await (const some of process.stdin) text += some
  const wanted = JSON.parse(text) as readonly Order[]
  for (const one of wanted) console.log(JSON.stringify(await played(runAgent, one)))
}

async function played(runAgent: RunAgent, { name, answerer, ...how }: Order): Promise<Played> {
  const scene: Scene = SCENES[name]
  const settings = scene.unprotected && { settings: { protect_system_messages: false } }
  const told: string[] = []
  const queue = scene.elsewhere && ownQueue(scene.elsewhere, answerer, (what) => told.push(what))
  const ruled = scene.ruled && ownRules()
  const hooks = await createHooks({ globals: false, ...settings, ...queue?.options, ...ruled?.options })
  const session = hooks.session()
  const events: Data[] = []
  const watched = scene.unwatched ? [] : (['PreToolUse', 'PostToolUse', 'PostToolUseFailure'] as const)
  for (const event of watched) session.register(event, (_, data) => void events.push(data as unknown as Data))
  const controller = new AbortController()
  const abort = () => controller.abort()
  scene.hooks?.(session, { abort, tell: (what) => told.push(what) })
  const ran: string[] = []
  let shown = ''
  let errors = 0
  const run: AgentRun = {
    ...{ ...how, session, signal: controller.signal, approve: !scene.refuses },
    prompt: PROMPT,
    tools: toolsOf(ran, abort, (prompt) => runAgent(asHelper(run, prompt))),
    show: (some) => {
      shown += some
    },
    sayError: () => {
      errors++
    },
  }
  try {
    const text = await runAgent(run)
    return { text, shown, ran, errors, events, told: [...told] }
  } catch (error) {
    const { name, message } = error as Error
    return { shown, ran, errors, events, told: [...told], error: { name, message } }
  } finally {
    await hooks.close()
    queue?.remove()
    ruled?.remove()
  }
}

/** A home folder with rules, and an empty project. */
function ownRules() {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-rules-'))
  const places = { projectDir: join(folder, 'project'), home: join(folder, 'home') }
  mkdirSync(places.projectDir)
  mkdirSync(join(places.home, '.amplifier'), { recursive: true })
  writeFileSync(join(places.home, '.amplifier', 'rules.json'), JSON.stringify({ rules: RULES }))
  process.env.CARABINER_HOME = join(folder, 'data')
  return {
    options: places,
    remove: () => {
      delete process.env.CARABINER_HOME
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A queue that another process answers as soon as a question is in it. */
function ownQueue(answer: 'allow' | 'deny' | 'nobody', answerer: string, tell: (what: string) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-queue-'))
  const places = { stateDir: join(folder, 'state'), dataDir: join(folder, 'data') }
  const onRaised: Parameters<typeof queueApprover>[0]['onRaised'] = ({ id, question }) => {
    tell(`asked about ${JSON.stringify(question.call.tool_input)}`)
    if (answer === 'nobody') return
    const plan = JSON.stringify({ ...places, ids: [id], by: 'ann', decision: answer })
    spawn(process.execPath, [answerer, 'answer', plan], { stdio: ['ignore', 'ignore', 'inherit'] })
  }
  const approver = queueApprover({
    queue: fileApprovals(places),
    project: process.cwd(),
    // Nobody watches the queue.
    wait: answer === 'nobody' ? 0 : 120,
    onRaised,
  })
  return { options: { approver }, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function asHelper(run: AgentRun, prompt: string): AgentRun {
  return { ...run, prompt, session: run.session.child({ agentId: 'helper-1', agentType: 'helper' }) }
}

function toolsOf(
  ran: string[],
  abort: () => void,
  help: (prompt: string) => Promise<string>,
): readonly TestTool[] {
  let here = 0
  let meet = () => {}
  const met = new Promise<void>((resolve) => {
    meet = resolve
  })
  const runs: Readonly<Record<string, TestTool['run']>> = {
    look: async ({ at }) => `saw ${at}`,
    // Ends only if two calls run at the same time.
    async meet({ at = '' }) {
      here++
      if (here === 2) meet()
      await met
      return `met at ${at}`
    },
    fail: async () => {
      throw new Error('no such place')
    },
    wait: (_, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new DOMException('stopped waiting', 'AbortError')))
        abort()
      }),
    helper: ({ at = '' }) => help(at),
    bash: async ({ command }) => (command === 'env' ? `TOKEN=${TOKEN}` : `ran ${command}`),
  }
  return Object.entries(runs).map(([name, run]): TestTool => {
    const field = name === 'bash' ? 'command' : 'at'
    return {
      name,
      field,
      run: (input, signal) => {
        ran.push(`${name} ${input[field]}`)
        return run(input, signal)
      },
    }
  })
}
