// A fleet's policy on a machine, as a fetch leaves it.

import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sha256, sha256OfBytes } from '../../src/core/base/digest.js'
import {
  type BundleInForce,
  bundleFolder,
  bundleList,
  type InForce,
  inForceText,
} from '../../src/files/fleet/policy.js'
import { inForcePath, type PolicyPlace } from '../../src/files/fleet-places.js'
import '../files/in-a-fleet.js'
import type { Files } from './temp-tree.js'

export const HOUR_MS = 3_600_000
export const fromNow = (ms: number) => new Date(Date.now() + ms).toISOString()

export interface Sent extends Partial<Omit<InForce, 'enforced' | 'shadow'>> {
  readonly enforced?: Files
  readonly shadow?: Files
}

export const placeIn = (root: string): PolicyPlace => ({
  folder: join(root, 'etc', 'fleet-policy'),
  owner: process.getuid?.() ?? 0,
})

/** `etc` of the tree must exist. */
export function putPolicy(root: string, sent: Sent): void {
  putPolicyAt(placeIn(root).folder, sent)
}

export function putPolicyAt(folder: string, { enforced, shadow, ...more }: Sent): void {
  const inForce: InForce = {
    rollout: 3,
    ...(enforced && { enforced: unpack(folder, enforced, 7) }),
    ...(shadow && { shadow: unpack(folder, shadow, 8) }),
    expires: fromNow(HOUR_MS),
    afterExpiry: 'close',
    time: fromNow(0),
    ...more,
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(inForcePath(folder), inForceText(inForce))
}

function unpack(folder: string, files: Files, version: number): BundleInForce {
  const texts = Object.entries(files).map(
    ([path, value]) => [path, typeof value === 'string' ? value : JSON.stringify(value)] as const,
  )
  const digest = sha256(JSON.stringify([version, texts]))
  for (const [path, text] of texts) {
    const file = join(bundleFolder(folder, digest), path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    if (path.endsWith('.sh')) chmodSync(file, 0o755)
  }
  const list = JSON.stringify({
    files: Object.fromEntries(texts.map(([path, text]) => [path, sha256(text)])),
    programs: texts.map(([path]) => path).filter((path) => path.endsWith('.sh')),
  })
  writeFileSync(bundleList(folder, digest), list)
  return { digest, version, list: sha256OfBytes(Buffer.from(list)) }
}

/** Every file below a folder. */
export function filesBelow(folder: string): readonly string[] {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true })
  return all.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
}
