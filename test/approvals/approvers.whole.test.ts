// The list of approvers where it really is, /etc/carabiner, and the real program. Only root can try that, in a namespace
// whose /etc nobody else sees.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import { enrolmentCode } from '../../src/store/approvers.js'
import { DEPLOYMENT, Project, programFile, programWithPackages, type Run } from '../cli/program.js'
import { passkey } from './passkey.js'

const OWN_ETC =
  'mount -t tmpfs none "$0" && mkdir "$0/up" "$0/work" && mount -t overlay overlay -o "lowerdir=/etc,upperdir=$0/up,workdir=$0/work" /etc'
const canMount = spawnSync('unshare', ['-m', 'sh', '-c', OWN_ETC, '/mnt'], { stdio: 'ignore' }).status === 0
const ASKS = `printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"deployments need a person"}}'`

let project: Project
let machine: ChildProcess

beforeEach(async () => {
  project = new Project()
  project.hooks({ PreToolUse: [['Bash', ASKS]] })
  expect((await project.call(['trust', '--yes'])).code).toBe(0)
  machine = spawn('unshare', ['-m', 'sh', '-c', `${OWN_ETC} && echo ready && exec cat`, '/mnt'])
  await once(machine.stdout as NodeJS.ReadableStream, 'data')
})
afterEach(async () => {
  machine.stdin?.end()
  await once(machine, 'exit')
  project.remove()
})

/** Runs the program on a machine with its own /etc. */
function there(args: readonly string[], input?: object, program = programWithPackages()): Promise<Run> {
  const words = [
    '-m',
    `--wd=${project.folder}`,
    '-t',
    String(machine.pid),
    process.execPath,
    program,
    ...args,
  ]
  return project.run('nsenter', words, input === undefined ? {} : { input })
}

const fire = (program?: string) => there(['fire', '--json'], DEPLOYMENT, program)

/** The same user's queue, in a program that does not know about the list. */
function queue(): FileApprovals {
  const share = join(project.home, '.local')
  return new FileApprovals({
    stateDir: join(share, 'state', 'carabiner'),
    dataDir: join(share, 'share', 'carabiner'),
    approversFile: join(project.base, 'none'),
  })
}

function openQuestion() {
  const [pending] = queue().open()
  return pending ?? expect.unreachable()
}

describe.runIf(canMount)('on a machine with approvers', () => {
  it('a call passes with the signature of one of them, and in no other way', async () => {
    const ann = passkey('ann')
    expect((await there(['approvers', 'add', enrolmentCode(ann.approver)])).stdout).toBe(
      'ann may allow calls, and nobody without a passkey may\n',
    )
    const asked = await fire()
    expect([asked.code, asked.stdout]).toEqual([3, expect.stringContaining('with a passkey')])
    const typed = await there(['approvals', 'allow', openQuestion().id])
    expect([typed.code, typed.stderr]).toEqual([1, expect.stringContaining('only a passkey may allow')])

    expect(queue().answer(openQuestion().id, { decision: 'allow', by: 'ann' })).toMatchObject({
      status: 'answered',
    })
    const forged = await fire()
    expect([forged.code, forged.stderr + forged.stdout]).toEqual([
      3,
      expect.stringContaining('does not count'),
    ])

    const pending = openQuestion()
    const [option = ''] = pending.question.options
    const signature = ann.sign(pending, option)
    expect(queue().answer(pending.id, { option, by: 'ann', signature })).toMatchObject({ status: 'answered' })
    expect((await fire(programFile())).stdout).toContain('@simplewebauthn/server')
    expect((await fire()).code).toBe(0)
    expect((await fire()).code).toBe(3)

    expect((await there(['approvers'])).stdout).toMatch(/^ann {2}passkey /)
    expect((await there(['approvers', 'remove', 'ann'])).stdout).toContain('people allow by typing again')
    expect((await there(['approvals', 'allow', openQuestion().id])).code).toBe(0)
    expect((await fire()).code).toBe(0)
  })

  it('a name is on the list once', async () => {
    const add = (name: string) => there(['approvers', 'add', enrolmentCode(passkey(name).approver)])
    expect((await add('ann')).code).toBe(0)
    expect((await add('ben')).code).toBe(0)
    const again = await add('ann')
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('another passkey of ann')])
  })
})
