// A project and a home of their own, and the real command line in them.

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../../dist/bin/carabiner.js', import.meta.url))

/**
 * @typedef {object} Stage
 * @property {string} project
 * @property {string} home where trust and audit are kept
 * @property {(args: readonly string[], input?: object) => Promise<{ stdout: string, stderr: string, code: number }>} carabiner
 *   whatever its exit code
 */

/** @param {(stage: Stage) => Promise<void>} scene */
export async function onStage(scene) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'carabiner-play-')))
  const [project, home] = [join(folder, 'project'), join(folder, 'home')]
  await mkdir(project)
  await mkdir(home)
  /** @type {Stage['carabiner']} */
  const carabiner = (args, input) => run(args, { project, home, input: input ? JSON.stringify(input) : '' })
  try {
    await scene({ project, home: join(home, 'carabiner'), carabiner })
  } finally {
    // Its copies are read-only; this removes them as it should be.
    await carabiner(['untrust', '--all'])
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * @param {readonly string[]} args
 * @param {{ project: string, home: string, input: string }} where
 * @returns {Promise<{ stdout: string, stderr: string, code: number }>}
 */
function run(args, { project, home, input }) {
  const env = { PATH: process.env.PATH, HOME: home, CARABINER_HOME: join(home, 'carabiner') }
  return new Promise((resolve) => {
    const options = { cwd: project, env }
    const child = execFile(process.execPath, [PROGRAM, ...args], options, (error, stdout, stderr) =>
      resolve({ stdout, stderr, code: error ? Number(error.code) : 0 }),
    )
    child.stdin?.end(input)
  })
}
