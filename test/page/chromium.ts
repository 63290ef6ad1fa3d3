// Debian's Chromium, driven by playwright-core. Tests that need it are skipped, visibly, where it is missing.

import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

export const chromiumFile = PLACES.find((path) => existsSync(path))

/** The sandbox of Chromium refuses to run as root. */
const ARGS = process.getuid?.() === 0 ? ['--no-sandbox'] : []

export function startChromium(): Promise<Browser> {
  if (chromiumFile === undefined) throw new Error('Chromium is missing: apt install chromium')
  return chromium.launch({ executablePath: chromiumFile, args: ARGS })
}

export interface Tab {
  readonly context: BrowserContext
  readonly page: Page
  /** Errors that the browser reported, also those of the content security policy. */
  readonly errors: readonly string[]
}

interface TabOptions {
  readonly dark?: boolean
  readonly width?: number
  readonly height?: number
  /** Without motion, and in one time zone wherever it runs. */
  readonly calm?: boolean
}

export async function openTab(
  browser: Browser,
  { dark = true, width = 1280, height = 860, calm = false }: TabOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({
    colorScheme: dark ? 'dark' : 'light',
    viewport: { width, height },
    locale: 'en-GB',
    ...(calm && { timezoneId: 'UTC', reducedMotion: 'reduce' }),
  })
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  return { context, page, errors }
}
