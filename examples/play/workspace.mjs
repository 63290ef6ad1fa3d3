// The folder the played agent works in: a scratch directory, and the tools that really write there.

import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve, sep } from 'node:path'

/** @import { Data } from 'carabiner' */
/** @typedef {Awaited<ReturnType<typeof openWorkspace>>} Workspace */

export async function openWorkspace() {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'carabiner-play-')))
  return {
    dir,
    /**
     * Write and Edit happen for real, so that hooks that look at files find them. Others are only played.
     *
     * @param {string} tool
     * @param {Data} input
     */
    async touch(tool, input) {
      if (tool === 'Write') await write(inside(dir, input.file_path), text(input, 'content'))
      else if (tool === 'Edit') await edit(inside(dir, input.file_path), input)
    },
    remove: () => rm(dir, { recursive: true, force: true }),
  }
}

/**
 * A script, or a hook that rewrites a path, must not reach the reader's own files.
 *
 * @param {string} dir
 * @param {unknown} filePath
 */
function inside(dir, filePath) {
  const path = resolve(dir, typeof filePath === 'string' ? filePath : '')
  const way = relative(dir, path)
  if (way === '' || way === '..' || way.startsWith(`..${sep}`) || resolve(way) === way) {
    throw new Error(`file_path must lie in the workspace, got ${JSON.stringify(filePath)}`)
  }
  return path
}

/**
 * @param {Data} input
 * @param {string} key
 */
function text(input, key) {
  const value = input[key]
  if (typeof value !== 'string') throw new Error(`${key} must be a string`)
  return value
}

/**
 * @param {string} path
 * @param {string} content
 */
async function write(path, content) {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
}

/**
 * @param {string} path
 * @param {Data} input
 */
async function edit(path, input) {
  const before = await readFile(path, 'utf8').catch(() => undefined)
  if (before === undefined) throw new Error(`${input.file_path} does not exist`)
  const old = text(input, 'old_string')
  if (!before.includes(old)) throw new Error(`old_string is not in ${input.file_path}`)
  await writeFile(
    path,
    before.replace(old, () => text(input, 'new_string')),
  )
}
