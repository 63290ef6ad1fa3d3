// What bundles load late of Node's modules: functions are called, and classes are constructed.

import { expect, it } from 'vitest'
import { lateFunctions } from '../../scripts/bundle.mjs'

it('are as they are in Node', async () => {
  const code = `data:text/javascript,${encodeURIComponent(lateFunctions('node:crypto'))}`
  const late = (await import(/* @vite-ignore */ code)) as typeof import('node:crypto')
  expect(late.createHash('sha256').update('a').digest('hex')).toMatch(/^ca978112/)
  expect(() => new late.X509Certificate('none')).toThrow(/PEM|ASN/i)
})
