// The keys that a client trusts: the pinned keys or those that the service showed first, and the keys that they endorse
// (ADD-37). The journal stores endorsements that were followed.

import { isoSeconds } from '@svc/protocol/evidence'
import { type FollowedBefore, type FollowedKeys, followKeys, type KeyChanges } from '@svc/protocol/follow-keys'
import type { Endorsement } from '@svc/protocol/key-changes'
import { isTrustedKey, type TrustedKey } from '@svc/protocol/keys'
import { type Context, trustedKey } from '../context.ts'
import { UntrueAnswer } from '../errors.ts'
import { journalEntry } from '../journal.ts'

/** What a client learned about a service's keys after it had pinned them. */
interface Trail {
  followed: readonly FollowedBefore[]
  recovery: readonly string[]
  revocations: KeyChanges['revocations']
}

const NO_TRAIL: Trail = { followed: [], recovery: [], revocations: [] }

/** `signed`: the use and time of the signature, which must fit the key. Absent: any use at any time. */
export async function requireTrusted(
  context: Context,
  publicKeyHex: string | null,
  what: string,
  signed?: { use: string; at: number | null },
): Promise<void> {
  const isListed = ({ keys }: FollowedKeys) => keys.some((key) => key.publicKeyHex === publicKeyHex)
  let known = await knownKeys(context)
  if (publicKeyHex !== null && !isListed(known)) known = await followTo(context, publicKeyHex)
  if (publicKeyHex === null || !isListed(known)) {
    const refusal = known.refused.get(publicKeyHex ?? '')
    const endorsement = refusal === undefined ? '' : `; its endorsement was refused: ${refusal}`
    throw new UntrueAnswer(`${what} is signed by ${publicKeyHex ?? 'nobody'}, which is not a trusted key${endorsement}`)
  }
  const since = known.revoked.get(publicKeyHex)
  if (since !== undefined)
    throw new UntrueAnswer(`${what} is signed by ${publicKeyHex}, which was revoked as of ${isoSeconds(since)}`)
  if (signed && !isTrustedKey(publicKeyHex, known.keys, signed))
    throw new UntrueAnswer(`${what} is signed by ${publicKeyHex}, which is not valid for that time and use`)
}

async function knownKeys(context: Context): Promise<FollowedKeys> {
  const pinned = await firstKeys(context)
  return follow(context, pinned, (await trailEntry(context).read()) ?? NO_TRAIL, [])
}

/** The pinned keys, or else the keys that this service showed first. Older clients recorded only their hex. */
async function firstKeys(context: Context): Promise<readonly TrustedKey[]> {
  const { pinnedKeys, journal, baseUrl, warn } = context
  if (pinnedKeys.length > 0) return pinnedKeys
  const entry = journalEntry<(string | TrustedKey)[]>(journal, `keys ${baseUrl}`)
  const known = await entry.read()
  if (known) return known.map(trustedKey)
  const { keys, changes, recovery } = await context.service.readKeys(context)
  if (!(await entry.write(keys))) return firstKeys(context)
  const trail = trailEntry(context)
  if ((await trail.read()) === null) {
    const shown = { ...NO_TRAIL, recovery, revocations: changes.revocations }
    const { revocations } = follow(context, keys, shown, changes.endorsements)
    await trail.write({ ...shown, revocations })
  }
  const hexes = [...new Set(keys.map(({ publicKeyHex }) => publicKeyHex))]
  warn(`Trusting the keys that ${baseUrl} itself shows: ${hexes.join(', ')}. Pin them to be sure.`)
  return keys
}

/** Requests the endorsements that lead to a key. Only signatures of known keys are trusted. */
async function followTo(context: Context, publicKeyHex: string): Promise<FollowedKeys> {
  const pinned = await firstKeys(context)
  const entry = trailEntry(context)
  const before = (await entry.read()) ?? NO_TRAIL
  const { changes } = await context.service.readKeys(context)
  const shown = { ...before, revocations: [...before.revocations, ...changes.revocations] }
  const followed = follow(context, pinned, shown, changes.endorsements)
  const { revocations } = followed
  const path = followed.paths.get(publicKeyHex)
  if (!path) return followed
  const steps = new Set(path.map(({ body }) => body.endorsed.public_key_hex))
  const step = {
    at: Math.floor(context.now() / 1000),
    keys: followed.keys.filter((key) => steps.has(key.publicKeyHex)),
    endorsements: path,
  }
  // If two processes do this at the same time, the second reads what the first wrote.
  if (!(await entry.write({ ...before, followed: [...before.followed, step], revocations }))) return knownKeys(context)
  context.warn(followedText(context, path))
  return followed
}

function followedText({ baseUrl }: Context, path: readonly Endorsement[]): string {
  const [first, ...rest] = path.map(({ body }) => body)
  const steps = [first?.endorser.public_key_hex, first?.endorsed.public_key_hex]
  const all = [...steps, ...rest.map(({ endorsed }) => endorsed.public_key_hex)]
  return `${baseUrl} HAS A NEW KEY. The key that you trusted has endorsed it with its signature, so it is now trusted: ${all.join(' → ')}`
}

function follow(
  { baseUrl, recoveryKeys }: Context,
  pinned: readonly TrustedKey[],
  { followed, recovery, revocations }: Trail,
  endorsements: KeyChanges['endorsements'],
): FollowedKeys {
  return followKeys({
    pinned,
    before: followed,
    recovery: [...recoveryKeys, ...recovery],
    changes: { endorsements, revocations },
    audience: baseUrl,
  })
}

function trailEntry({ journal, baseUrl }: Context) {
  return journalEntry<Trail>(journal, `key changes ${baseUrl}`)
}
