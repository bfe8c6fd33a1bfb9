// From pinned keys to those that are trusted because of them: a trusted key endorses its successor, and revocations end
// trust (ADD-37, ADD-39). Everything but the pins may come from anybody.
//
// Who wins when documents contradict each other:
// - The recovery key stands above all: its revocations replace others of the same key, and nobody revokes it.
// - A key may be revoked by itself and by later keys; an earlier key says nothing about a later one.
// - A revoked key vouches for nothing, whatever time it claims: its endorsements and revocations do not count.
// - A key that endorses two successors endorses none: one of them is of a thief.
// - A key that endorsed a successor signs until that one begins, also if it was pinned without an end. A key that has ended
//   endorses nobody: its successor is known.
// - What was followed before the theft of a key that led there stays; what was followed since then does not.

import { type Endorsement, type Revocation, readEndorsement, readRevocation, timeOf } from './key-changes.ts'
import { isKeyOfTime, type TrustedKey } from './keys.ts'
import { KEY_PURPOSES } from './names.ts'

/** As they came: nothing in them is checked. */
export interface KeyChanges {
  endorsements: readonly unknown[]
  revocations: readonly unknown[]
}

/** Endorsed keys that were followed at an earlier time, and how. */
export interface FollowedBefore {
  /** Unix seconds. */
  at: number
  keys: readonly TrustedKey[]
  endorsements: readonly Endorsement[]
}

export interface KeysToFollow {
  pinned: readonly TrustedKey[]
  before?: readonly FollowedBefore[]
  /** Recovery keys that were pinned with them, in hex. */
  recovery?: readonly string[]
  changes: KeyChanges
  /** The gateway's address; absent where it is not known. */
  audience?: string | undefined
}

export interface FollowedKeys {
  /** The pinned keys, and the endorsed ones with the period and use that the endorsements give them. */
  keys: TrustedKey[]
  /** How each endorsed key came to be trusted, by its hex: the pinned or recovery key first. */
  paths: Map<string, Endorsement[]>
  /** Since when revoked keys are revoked, in Unix seconds, by their hex. */
  revoked: Map<string, number>
  /** What to remember of the given revocations: valid ones, each once, those that count first. */
  revocations: Revocation[]
  /** Why endorsements of a key were refused, by the hex of the endorsed key. */
  refused: Map<string, string>
}

/** Limits the work that a document can cause. */
const MAX_CHANGES = 64

export function followKeys(given: KeysToFollow): FollowedKeys {
  const { pinned, before = [], recovery = [], changes, audience } = given
  const refused = new Map<string, string>()
  const ofGateway = (change: { body: { audience: string } }) =>
    audience === undefined || change.body.audience === audience
  const endorsements = changes.endorsements.slice(0, MAX_CHANGES).flatMap((value) => {
    const endorsement = readEndorsement(value)
    const problem = typeof endorsement === 'string' ? endorsement : ofGateway(endorsement) ? null : OTHER_GATEWAY
    if (problem === null) return [endorsement as Endorsement]
    noteRefusal(refused, keyIn(value, 'endorsed'), problem)
    return []
  })
  // Revocations may come from keys that are trusted by endorsements only, so these are followed first.
  const reachedFrom = (known: readonly FollowedBefore[]) => {
    const all = [...pinned, ...known.flatMap(({ keys }) => keys)]
    const followed = known.flatMap((step) => step.endorsements)
    return { pinned: all, followed, recovery, endorsements, revoked: new Map<string, number>(), refused: new Map() }
  }
  const everything = walk(reachedFrom(before))
  const revocations = validRevocations(changes.revocations, everything, { recovery, ofGateway })
  const suspects = revokedKeys(revocations, everything, {
    recovery,
    followed: before.flatMap((step) => step.endorsements),
  })
  const trusted = reachedFrom(before.filter((step) => !isOfThief(step, suspects)))
  const revoked = revokedKeys(revocations, walk(trusted), trusted)
  return { ...walk({ ...trusted, revoked, refused }), revoked, revocations, refused }
}

/** Whether it was followed when a key on the way was with a thief already. */
function isOfThief({ at, endorsements }: FollowedBefore, revoked: ReadonlyMap<string, number>): boolean {
  return endorsements.some(({ body }) => (revoked.get(body.endorser.public_key_hex) ?? Number.POSITIVE_INFINITY) <= at)
}

const OTHER_GATEWAY = 'it is of another gateway'

interface Walk {
  pinned: readonly TrustedKey[]
  /** How those of them that are endorsed came to be trusted. */
  followed: readonly Endorsement[]
  recovery: readonly string[]
  endorsements: readonly Endorsement[]
  revoked: ReadonlyMap<string, number>
  refused: Map<string, string>
}

type Reached = Pick<FollowedKeys, 'keys' | 'paths'>

function walk({ pinned, followed, recovery, endorsements, revoked, refused }: Walk): Reached {
  let keys = followed.reduce(endedBy, pinned)
  const paths = new Map<string, Endorsement[]>()
  const queue = [...new Set([...recovery, ...pinned.map(({ publicKeyHex }) => publicKeyHex)])]
  const seen = new Set(queue)
  for (const endorser of queue) {
    const isRecovery = recovery.includes(endorser)
    const made = endorsements.filter(({ body }) => body.endorser.public_key_hex === endorser)
    for (const endorsement of made) {
      const { purpose, endorsed, valid_from } = endorsement.body
      const hex = endorsed.public_key_hex
      const own = keysOf(endorser, keys)
      const problem = objection(endorsement, { made, own, keys, isRecovery, isRevoked: revoked.has(endorser) })
      if (problem !== null) {
        noteRefusal(refused, hex, problem)
        continue
      }
      keys = endedBy(keys, endorsement)
      if (seen.has(hex)) continue
      seen.add(hex)
      queue.push(hex)
      paths.set(hex, [...(paths.get(endorser) ?? []), endorsement])
      const uses = KEY_PURPOSES[purpose].filter(
        (use) => isRecovery || own.some((key) => key.use === null || key.use === use),
      )
      const begun = uses.map((use) => ({ publicKeyHex: hex, use, validFrom: timeOf(valid_from), validTo: null }))
      keys = [...keys, ...begun]
    }
  }
  return { keys: [...keys], paths }
}

/** The endorser signs until the endorsed key begins. */
function endedBy(keys: readonly TrustedKey[], { body }: Endorsement): readonly TrustedKey[] {
  const end = timeOf(body.valid_from)
  return keys.map((key) => {
    const isEndorser = key.publicKeyHex === body.endorser.public_key_hex
    return isEndorser ? { ...key, validTo: Math.min(end, key.validTo ?? end) } : key
  })
}

function keysOf(hex: string, keys: readonly TrustedKey[]): TrustedKey[] {
  return keys.filter(({ publicKeyHex }) => publicKeyHex === hex)
}

function haveEnded(keys: readonly TrustedKey[]): boolean {
  return keys.length > 0 && keys.every(({ validTo }) => validTo !== null)
}

interface Endorser {
  /** All endorsements of this endorser. */
  made: readonly Endorsement[]
  /** Its entries among the trusted keys. */
  own: readonly TrustedKey[]
  keys: readonly TrustedKey[]
  isRecovery: boolean
  isRevoked: boolean
}

function objection({ body }: Endorsement, { made, own, keys, isRecovery, isRevoked }: Endorser): string | null {
  if (isRevoked) return 'the key that made it is revoked'
  if (isRecovery) return null
  if (timeOf(body.valid_from) < timeOf(body.issued_at)) return 'it endorses a time before it was made'
  const isForked = made.some((other) => {
    return other.body.purpose === body.purpose && other.body.endorsed.public_key_hex !== body.endorsed.public_key_hex
  })
  if (isForked) return 'the key that made it endorses another key too'
  const uses: readonly string[] = KEY_PURPOSES[body.purpose]
  const usable = own.filter(({ use }) => use === null || uses.includes(use))
  if (usable.length === 0) return 'the key that made it is trusted for another purpose'
  if (haveEnded(usable)) return 'the key that made it has ended'
  if (haveEnded(keysOf(body.endorsed.public_key_hex, keys))) return 'the key that it endorses has ended'
  const at = timeOf(body.issued_at)
  return usable.some((key) => isKeyOfTime(key, keys, at)) ? null : 'it was made outside of the period of its key'
}

/** As many as two lists of a mebibyte hold. */
const MAX_CHECKED = 4096

/**
 * Revocations that are signed, each pair of keys once with its earliest time. Those by recovery keys and those among known
 * keys are read first, so that no number of others hides one.
 */
function validRevocations(
  given: readonly unknown[],
  { keys }: Reached,
  { recovery, ofGateway }: { recovery: readonly string[]; ofGateway: (revocation: Revocation) => boolean },
): Revocation[] {
  const known = new Set([...recovery, ...keys.map(({ publicKeyHex }) => publicKeyHex)])
  const ranks: [unknown[], unknown[], unknown[]] = [[], [], []]
  for (const value of given) {
    const [by, revoked] = [keyIn(value, 'revoked_by'), keyIn(value, 'revoked')]
    const rank = recovery.includes(by) ? 0 : known.has(by) && known.has(revoked) ? 1 : 2
    ranks[rank].push(value)
  }
  const [byRecovery, amongKnown, others] = ranks
  const valid = new Map<string, Revocation>()
  for (const value of [...[...byRecovery, ...amongKnown].slice(0, MAX_CHECKED), ...others.slice(0, MAX_CHANGES)]) {
    const revocation = readRevocation(value)
    if (typeof revocation === 'string' || !ofGateway(revocation)) continue
    const { revoked_by, revoked, since } = revocation.body
    const pair = `${revoked_by.public_key_hex} ${revoked.public_key_hex}`
    const before = valid.get(pair)
    if (!before || timeOf(since) < timeOf(before.body.since)) valid.set(pair, revocation)
  }
  return [...valid.values()]
}

function revokedKeys(
  revocations: readonly Revocation[],
  reached: Reached,
  { recovery, followed }: Pick<Walk, 'recovery' | 'followed'>,
): Map<string, number> {
  const revoked = new Map<string, number>()
  const note = ({ body }: Revocation) => {
    const [hex, since] = [body.revoked.public_key_hex, timeOf(body.since)]
    revoked.set(hex, Math.min(since, revoked.get(hex) ?? since))
  }
  const byRecovery = revocations.filter(({ body }) => recovery.includes(body.revoked_by.public_key_hex))
  byRecovery.forEach(note)
  const settled = new Set(revoked.keys())
  const others = revocations
    .filter(({ body }) => !settled.has(body.revoked.public_key_hex) && !recovery.includes(body.revoked.public_key_hex))
    .filter((revocation) => mayRevoke(revocation, reached, followed))
    // The newest keys first: whether one is revoked is known before what it revokes is asked.
    .map((revocation) => ({ revocation, begin: beginOf(revocation.body.revoked_by.public_key_hex, reached) ?? 0 }))
    .toSorted((a, b) => b.begin - a.begin)
    .map(({ revocation }) => revocation)
  const isOwn = ({ body }: Revocation) => body.revoked.public_key_hex === body.revoked_by.public_key_hex
  others.filter(isOwn).forEach(note)
  for (const revocation of others) {
    if (isOwn(revocation) || revoked.has(revocation.body.revoked_by.public_key_hex)) continue
    note(revocation)
  }
  return revoked
}

function mayRevoke({ body }: Revocation, reached: Reached, followed: readonly Endorsement[]): boolean {
  const [revoked, by] = [body.revoked.public_key_hex, body.revoked_by.public_key_hex]
  if (revoked === by) return true
  const steps = [...[...reached.paths.values()].flat(), ...followed]
  if (endorsersOf(by, steps).includes(revoked)) return true
  const [begin, ofRevoked] = [beginOf(by, reached), beginOf(revoked, reached)]
  return begin !== null && ofRevoked !== null && begin > ofRevoked
}

/** The keys that led to a key, each endorsed by the next. */
function endorsersOf(hex: string, steps: readonly Endorsement[]): string[] {
  const endorsers: string[] = []
  for (;;) {
    const last = endorsers.at(-1) ?? hex
    const endorser = steps.find(({ body }) => body.endorsed.public_key_hex === last)?.body.endorser.public_key_hex
    if (endorser === undefined || endorsers.includes(endorser)) return endorsers
    endorsers.push(endorser)
  }
}

/** Keys without a period are neither before nor after others. */
function beginOf(hex: string, { keys }: Reached): number | null {
  const begins = keysOf(hex, keys).map(({ validFrom }) => validFrom)
  return begins.reduce((first, begin) => (first === null || (begin !== null && begin < first) ? begin : first), null)
}

function noteRefusal(refused: Map<string, string>, hex: string, problem: string): void {
  if (hex !== '' && !refused.has(hex)) refused.set(hex, problem)
}

/** A key that a document names, which is not checked; empty where it names none. */
function keyIn(value: unknown, field: 'endorsed' | 'revoked' | 'revoked_by'): string {
  const { body } = (value ?? {}) as { body?: Record<string, { public_key_hex?: unknown } | null> | null }
  const hex = body?.[field]?.public_key_hex
  return typeof hex === 'string' ? hex : ''
}
