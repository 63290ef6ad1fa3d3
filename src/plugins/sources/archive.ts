// An archive as a tree, by what is in it and not by what it is called: from a file, or from an address.

import { textOf } from '../../core/base/errors.js'
import { visibleName } from '../../core/base/visible.js'
import { readPlainBytes } from '../../files/plain-file.js'
import { PluginProblem } from '../plugin-problem.js'
import { FileTree } from './file-tree.js'
import { NO_ZIP } from './source.js'
import { gunzipped, isGzip, readTar } from './tar-archive.js'

export const MOST_PACKED_BYTES = 64 * 1024 * 1024
const DOWNLOAD_MS = 180_000

export function readArchive(bytes: Buffer): FileTree {
  if (isZip(bytes)) throw new PluginProblem('ARCHIVE_INVALID', 'The archive is a zip archive', NO_ZIP)
  const tree = new FileTree()
  readTar(isGzip(bytes) ? gunzipped(bytes) : bytes, tree)
  return tree
}

function isZip(bytes: Buffer): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b
}

/** `place`: an absolute path, or an address. */
export async function fetchArchive(place: string): Promise<FileTree> {
  return readArchive(/^https?:/i.test(place) ? await downloaded(place) : fileAt(place))
}

function fileAt(path: string): Buffer {
  let read: ReturnType<typeof readPlainBytes>
  try {
    read = readPlainBytes(path, MOST_PACKED_BYTES)
  } catch (error) {
    read = { problem: `cannot be read: ${textOf(error)}` }
  }
  if ('problem' in read) throw new PluginProblem('SOURCE_NOT_FOUND', `${visibleName(path)} ${read.problem}`)
  return read.bytes
}

async function downloaded(address: string): Promise<Buffer> {
  const signal = AbortSignal.timeout(DOWNLOAD_MS)
  try {
    return await bodyOf(await responseOf(address, signal), address)
  } catch (error) {
    if (error instanceof PluginProblem) throw error
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    throw new PluginProblem('FETCH_FAILED', `${visibleName(address)} cannot be fetched: ${textOf(cause)}`)
  }
}

/** Redirects are followed here, so that each is looked at. */
async function responseOf(address: string, signal: AbortSignal): Promise<Response> {
  const { leadsOn, MOST_REDIRECTS, redirectIn } = await import('./redirect.js')
  let url = new URL(address)
  for (let n = 0; n <= MOST_REDIRECTS; n++) {
    const response = await fetch(url, { redirect: 'manual', signal, credentials: 'omit' })
    if (response.ok) return response
    await response.body?.cancel()
    const next = await redirectIn(response, url, address)
    if (!next) throw new PluginProblem('FETCH_FAILED', `${visibleName(address)} answered ${response.status}`)
    url = next
  }
  throw leadsOn(address)
}

async function bodyOf(response: Response, address: string): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > MOST_PACKED_BYTES) {
      throw new PluginProblem(
        'TOO_LARGE',
        `${visibleName(address)} has more than ${MOST_PACKED_BYTES / 1024 / 1024} MiB`,
      )
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
