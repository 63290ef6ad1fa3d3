// A certificate authority for tests, and a certificate for the loopback, made by openssl.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Authority {
  /** The certificate of the authority. */
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** `names`: others that the certificate is for, such as `IP:10.0.0.1`. `days`: how long it is valid; negative: it has expired. */
export function madeAuthority(folder: string, names: readonly string[] = [], days = 2): Authority {
  const at = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=test authority',
    '-days',
    '2',
  )
  openssl('req', ...newKey, '-keyout', 'key.pem', '-out', 'request.pem', '-subj', '/CN=localhost')
  writeFileSync(at('names'), `subjectAltName=${['DNS:localhost', 'IP:127.0.0.1', ...names].join(',')}`)
  const signing = [
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-extfile',
    'names',
    '-days',
    String(days),
  ]
  openssl('x509', '-req', '-in', 'request.pem', '-out', 'cert.pem', ...signing)
  const [ca = '', cert = '', key = ''] = ['ca.pem', 'cert.pem', 'key.pem'].map((name) =>
    readFileSync(at(name), 'utf8'),
  )
  return { ca, cert, key }
}
