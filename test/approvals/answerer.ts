// A process of its own that uses the queue: `answerer TASK PLAN`. It begins when its standard input ends, and prints a line of JSON.

import { readSync, writeSync } from 'node:fs'
import type { Question } from '../../src/core/hooks/outcome.js'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'

export interface AnswererPlan {
  readonly stateDir: string
  readonly dataDir: string
  readonly by?: string
  readonly ids?: readonly string[]
  readonly decision?: 'allow' | 'deny'
  readonly questions?: readonly Question[]
  readonly project?: string
}

const [task = '', text = ''] = process.argv.slice(2)
const {
  stateDir,
  dataDir,
  by = '',
  ids = [],
  decision = 'allow',
  questions = [],
  project = '/p',
} = JSON.parse(text) as AnswererPlan
const queue = new FileApprovals({ stateDir, dataDir })
const print = (value: unknown) => writeSync(1, `${JSON.stringify(value)}\n`)

const TASKS: Readonly<Record<string, () => unknown>> = {
  answer: () => ids.map((id) => queue.answer(id, { decision, by })),
  // As an agent would that has read our sources.
  slip: () => {
    for (const name of Object.keys(process.env)) delete process.env[name]
    try {
      return ids.map((id) => queue.answer(id, { decision, by }))
    } catch (error) {
      return (error as Error).message
    }
  },
  take: () => questions.map((question) => queue.take(question) ?? null),
  raise: () => questions.map((question) => queue.raise(question, { project })),
  wait: () =>
    Promise.all(questions.map((question) => queue.wait(question, { until: performance.now() + 30_000 }))),
  watch: () => {
    queue.watching()
    setInterval(() => {}, 1000)
    return 'watching'
  },
}

print('ready')
while (readSync(0, Buffer.alloc(1)) > 0);
print(await TASKS[task]?.())
