// Digests: of the call that an approval, a grant or an audit record is bound to; of any JSON; of a text.

import { hash } from 'node:crypto'
import { canonicalJson, type Data, isObject, type Json } from './json.js'

/** Input fields that describe a call without changing what it does. */
const INERT_INPUT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  Bash: ['description'],
  PowerShell: ['description'],
}

export function digest(value: Json): string {
  return sha256(canonicalJson(value))
}

/** Digest of the exact call that a question shows: any changed byte makes it another call. */
export function callDigest(event: string, data: Data): string {
  return digest({ event, call: callOf(data) })
}

/** The digest that a grant is bound to. Leaves out the fields known to be inert for that tool. */
export function grantDigest(event: string, data: Data): string {
  const call = callOf(data)
  const tool = String(call.tool_name)
  const inert = Object.hasOwn(INERT_INPUT_FIELDS, tool) ? INERT_INPUT_FIELDS[tool] : undefined
  if (!inert || !isObject(call.tool_input)) return digest({ event, call })
  const input = Object.fromEntries(Object.entries(call.tool_input).filter(([key]) => !inert.includes(key)))
  return digest({ event, call: { ...call, tool_input: input as Data } })
}

/** The part of an event's data that is the operation itself, without its circumstances. */
export function callOf(data: Data): Data {
  if (typeof data.tool_name === 'string')
    return { tool_name: data.tool_name, tool_input: data.tool_input ?? null }
  const { timestamp: _, session_id: __, ...rest } = data
  return rest
}

// ---- SHA-256
// The first few short texts are hashed here, because loading Node's library takes longer than a command needs to list hooks.

/** UTF-16 units. For longer texts the library is faster even if it is not loaded yet. */
const LONGEST = 4096
/** Beyond this many texts in a process, loading the library pays off. */
const FEW = 16
/** Kept, because a process that starts for one event hashes the same folders again and again. */
const few = new Map<string, string>()

export function sha256(text: string): string {
  const known = few.get(text)
  if (known !== undefined) return known
  if (text.length > LONGEST || few.size >= FEW) return hash('sha256', text)
  const made = shortHash(text)
  few.set(text, made)
  return made
}

/** Not kept, because records are never the same twice. */
let records = 0
const FEW_RECORDS = 4

export function sha256OfBytes(bytes: Uint8Array): string {
  if (bytes.length > LONGEST || records >= FEW_RECORDS) return hash('sha256', bytes)
  records++
  return hashOf(bytes)
}

/** Exported for its tests. */
export function shortHash(text: string): string {
  return hashOf(new TextEncoder().encode(text))
}

const BLOCK = 64
/** The padding after the bytes: a one bit, zeros, and the length in bits as eight bytes. */
const LENGTH_BYTES = 8

function hashOf(bytes: Uint8Array): string {
  const blocks = Math.ceil((bytes.length + 1 + LENGTH_BYTES) / BLOCK)
  const padded = new Uint8Array(blocks * BLOCK)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 4, bytes.length * 8)
  const state = Int32Array.from(START)
  const words = new Int32Array(BLOCK)
  for (let at = 0; at < padded.length; at += BLOCK) addBlock(state, words, view, at)
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

/** FIPS 180-4, section 6.2.2. */
function addBlock(state: Int32Array, words: Int32Array, view: DataView, at: number): void {
  for (let i = 0; i < 16; i++) words[i] = view.getInt32(at + i * 4)
  for (let i = 16; i < BLOCK; i++) {
    const old = words[i - 15] as number
    const recent = words[i - 2] as number
    const s0 = turned(old, 7) ^ turned(old, 18) ^ (old >>> 3)
    const s1 = turned(recent, 17) ^ turned(recent, 19) ^ (recent >>> 10)
    words[i] = (words[i - 16] as number) + s0 + (words[i - 7] as number) + s1
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as Eight
  for (let i = 0; i < BLOCK; i++) {
    const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (ROUND[i] as number) + (words[i] as number)) | 0
    const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  const added = [a, b, c, d, e, f, g, h]
  for (let i = 0; i < added.length; i++) state[i] = (state[i] as number) + (added[i] as number)
}

type Eight = [number, number, number, number, number, number, number, number]

function turned(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}

const START = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]

const ROUND = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]
