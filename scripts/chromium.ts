import { execFileSync } from 'node:child_process'

const candidates = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The browser that `scripts/prepare.mjs --for-tests` found or installed. */
export function chromiumPath(): string {
  if (process.env.CHROMIUM_PATH) return process.env.CHROMIUM_PATH
  for (const name of candidates) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim()
    } catch {
      // try the next candidate
    }
  }
  throw new Error('no Chromium found: install one, or set CHROMIUM_PATH')
}
