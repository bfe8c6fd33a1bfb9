// Whose signatures count. Keys that came from the service itself prove only that it keeps to them.

import type { Context } from '../context.ts'
import { UntrueAnswer } from '../errors.ts'
import { journalEntry } from '../journal-entry.ts'

/** Those that were pinned; else those that this service showed when it was first asked, and never others. */
async function trustedKeys(context: Context): Promise<readonly string[]> {
  const { pinnedKeys, journal, baseUrl, warn } = context
  if (pinnedKeys.length > 0) return pinnedKeys
  const entry = journalEntry<string[]>(journal, `keys ${baseUrl}`)
  const known = await entry.read()
  if (known) return known
  const seen = [...new Set(await context.service.readKeys(context))]
  if (!(await entry.write(seen))) return trustedKeys(context)
  warn(`Trusting the keys that ${baseUrl} shows of itself: ${seen.join(', ')}. Pin them to be sure.`)
  return seen
}

export async function requireTrusted(context: Context, publicKeyHex: string | null, what: string): Promise<void> {
  if (publicKeyHex !== null && (await trustedKeys(context)).includes(publicKeyHex)) return
  throw new UntrueAnswer(`${what} is signed by ${publicKeyHex ?? 'nobody'}, which is no key that is trusted`)
}
