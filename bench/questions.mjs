// The questions of this folder: each file that exports a function `bench`.

import { readdirSync, readFileSync } from 'node:fs'

const here = new URL('.', import.meta.url)

export const QUESTIONS = readdirSync(here)
  .filter((file) => file.endsWith('.mjs'))
  .filter((file) => /^export (?:async )?function bench\b/m.test(readFileSync(new URL(file, here), 'utf8')))
  .map((file) => file.replace('.mjs', ''))
