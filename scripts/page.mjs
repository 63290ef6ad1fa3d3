// Bundles the page of `carabiner open`: a first file, a file for each screen, and its style.

import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const browser = (/** @type {string} */ name) =>
  fileURLToPath(new URL(`../src/page/browser/${name}`, import.meta.url))

/** @param {string} outdir */
export async function bundlePage(outdir) {
  rmSync(outdir, { recursive: true, force: true })
  mkdirSync(outdir, { recursive: true })
  copyFileSync(browser('index.html'), join(outdir, 'index.html'))
  await build({
    entryPoints: [browser('main.tsx'), browser('page.css')],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    // Where light-dark() works, so does this.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
  })
}
