// Bundles the page of `carabiner open` and that of a gateway: a first file, a file for each screen, and its style.

import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const browser = (/** @type {string} */ name) =>
  fileURLToPath(new URL(`../src/page/browser/${name}`, import.meta.url))

const COMMON = {
  bundle: true,
  splitting: true,
  format: /** @type {const} */ ('esm'),
  platform: /** @type {const} */ ('browser'),
  // Where light-dark() works, so does this.
  target: ['chrome123', 'firefox120', 'safari17.5'],
  jsx: /** @type {const} */ ('automatic'),
  jsxImportSource: 'preact',
  minify: true,
  legalComments: /** @type {const} */ ('none'),
  logLevel: /** @type {const} */ ('warning'),
}

/** @param {string} outdir */
export async function bundlePage(outdir) {
  copyInto(outdir, 'index.html')
  await build({ ...COMMON, entryPoints: [browser('main.tsx'), browser('page.css')], outdir })
}

/** The page of a gateway. What strangers get shares no file with the rest. @param {string} outdir */
export async function bundleFleetPage(outdir) {
  copyInto(outdir, 'fleet/index.html')
  const entries = [browser('fleet/main.tsx'), browser('fleet/page.css')]
  await Promise.all([
    build({ ...COMMON, entryPoints: entries, outdir }),
    build({ ...COMMON, entryPoints: [browser('fleet/sign-in.tsx')], external: ['./main.js'], outdir }),
  ])
}

/** @param {string} outdir @param {string} name */
function copyInto(outdir, name) {
  rmSync(outdir, { recursive: true, force: true })
  mkdirSync(outdir, { recursive: true })
  copyFileSync(browser(name), join(outdir, basename(name)))
}
