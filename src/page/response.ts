// What every answer of the page carries, and the forms an answer has.

import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Download, Parts } from './answers.js'

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

export const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
  'permissions-policy':
    'publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), microphone=(), geolocation=()',
} as const

export function sendText(response: ServerResponse, status: number, text: string): void {
  send(response, status, 'text/plain; charset=utf-8', `${text}\n`)
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  send(response, status, 'application/json', JSON.stringify(value))
}

export function send(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Buffer,
  more: Readonly<Record<string, string>> = {},
): void {
  const length = { 'content-length': Buffer.byteLength(body) }
  response.writeHead(status, { ...HEADERS, 'content-type': type, ...length, ...more })
  response.end(body)
}

/** Waits for a browser that reads slowly. */
export async function sendFile(response: ServerResponse, { name, type, parts }: Download): Promise<void> {
  const disposition = `attachment; filename="${name}"`
  response.writeHead(200, { ...HEADERS, 'content-type': type, 'content-disposition': disposition })
  await pipeline(Readable.from(parts), response)
}

export async function sendParts(response: ServerResponse, { parts }: Parts): Promise<void> {
  response.writeHead(200, { ...HEADERS, 'content-type': 'application/x-ndjson' })
  await pipeline(Readable.from(linesOf(parts)), response)
}

async function* linesOf(parts: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const part of parts) yield `${JSON.stringify(part)}\n`
}
