// Follows endorsements from pinned keys to the keys that are trusted because of them: a trusted key endorses its
// successor, and revocations end trust (ADD-37, ADD-39). Everything except the pinned keys is untrusted input.
//
// Precedence if documents contradict each other:
// - The recovery key overrides all others: its revocations replace other revocations of a key, and nothing revokes it.
// - A key can be revoked by itself and by later keys, never by an earlier key. Endorsements show which one is later, or
//   else the periods of the pinned keys.
// - The endorsements and revocations of a revoked key do not count, whatever time they claim.
// - If a key endorses two successors, neither counts: one of them belongs to a thief.
// - A key that endorsed a successor is valid until the successor begins, even if it was pinned without an end. A key
//   that has ended can endorse nothing, because its successor is already known.
// - Endorsements that were followed before the theft of a key in their path remain valid. Later ones do not.

import { type Endorsement, type Revocation, readEndorsement, readRevocation, timeOf } from './key-changes.ts'
import { isKeyOfTime, type TrustedKey } from './keys.ts'
import { KEY_PURPOSES } from './names.ts'

/** Untrusted documents as they were received, without any check. */
export interface KeyChanges {
  endorsements: readonly unknown[]
  revocations: readonly unknown[]
}

/** Endorsed keys that were trusted at an earlier time, and the endorsements that led to them. */
export interface FollowedBefore {
  /** Unix seconds. */
  at: number
  keys: readonly TrustedKey[]
  endorsements: readonly Endorsement[]
}

export interface KeysToFollow {
  pinned: readonly TrustedKey[]
  before?: readonly FollowedBefore[]
  /** The pinned recovery keys, in hex. */
  recovery?: readonly string[]
  changes: KeyChanges
  /** The gateway's address. Absent if it is unknown. */
  audience?: string | undefined
}

export interface FollowedKeys {
  /** The pinned keys, and the endorsed keys with the period and use of their endorsements. */
  keys: TrustedKey[]
  /** The endorsements that led to each endorsed key, by its hex. They begin at a pinned or recovery key. */
  paths: Map<string, Endorsement[]>
  /** The revocation time of each revoked key in Unix seconds, by its hex. */
  revoked: Map<string, number>
  /** The revocations to store: the valid ones without duplicates, those that count first. */
  revocations: Revocation[]
  /** Why the endorsement of a key was refused, by the hex of the endorsed key. */
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
    recordRefusal(refused, keyIn(value, 'endorsed'), problem)
    return []
  })
  // A revocation may be signed by a key that is trusted only by endorsement, so endorsements are followed first.
  const walkFrom = (known: readonly FollowedBefore[]) => {
    const all = [...pinned, ...known.flatMap(({ keys }) => keys)]
    const followed = known.flatMap((step) => step.endorsements)
    return { pinned: all, followed, recovery, endorsements, revoked: new Map<string, number>(), refused: new Map() }
  }
  const everything = walk(walkFrom(before))
  const revocations = validRevocations(changes.revocations, everything, { recovery, ofGateway })
  const suspects = revokedKeys(revocations, everything, {
    recovery,
    followed: before.flatMap((step) => step.endorsements),
  })
  const trusted = walkFrom(before.filter((step) => !hasFollowedStolenKey(step, suspects)))
  const revoked = revokedKeys(revocations, walk(trusted), trusted)
  const { keys, paths } = walk({ ...trusted, revoked, refused })
  return { keys, paths, revoked, revocations, refused }
}

/** Whether the step was followed after a key in its path had been stolen. */
function hasFollowedStolenKey({ at, endorsements }: FollowedBefore, revoked: ReadonlyMap<string, number>): boolean {
  return endorsements.some(({ body }) => (revoked.get(body.endorser.public_key_hex) ?? Number.POSITIVE_INFINITY) <= at)
}

const OTHER_GATEWAY = 'it is for another gateway'

interface Walk {
  pinned: readonly TrustedKey[]
  /** The endorsements that were followed at an earlier time. */
  followed: readonly Endorsement[]
  recovery: readonly string[]
  endorsements: readonly Endorsement[]
  revoked: ReadonlyMap<string, number>
  refused: Map<string, string>
}

interface Reached extends Pick<FollowedKeys, 'keys' | 'paths'> {
  /** The endorsements that count, also those of keys that were trusted before. */
  counted: Endorsement[]
}

function walk({ pinned, followed, recovery, endorsements, revoked, refused }: Walk): Reached {
  let keys = followed.reduce(endedBy, pinned)
  const paths = new Map<string, Endorsement[]>()
  const counted: Endorsement[] = []
  const queue = [...new Set([...recovery, ...pinned.map(({ publicKeyHex }) => publicKeyHex)])]
  const visited = new Set(queue)
  for (const endorser of queue) {
    const isRecovery = recovery.includes(endorser)
    const made = endorsements.filter(({ body }) => body.endorser.public_key_hex === endorser)
    for (const endorsement of made) {
      const { purpose, endorsed, valid_from } = endorsement.body
      const hex = endorsed.public_key_hex
      const own = keysOf(endorser, keys)
      const problem = endorsementProblem(endorsement, { made, own, keys, isRecovery, isRevoked: revoked.has(endorser) })
      if (problem !== null) {
        recordRefusal(refused, hex, problem)
        continue
      }
      keys = endedBy(keys, endorsement)
      counted.push(endorsement)
      if (visited.has(hex)) continue
      visited.add(hex)
      queue.push(hex)
      paths.set(hex, [...(paths.get(endorser) ?? []), endorsement])
      const uses = KEY_PURPOSES[purpose].filter(
        (use) => isRecovery || own.some((key) => key.use === null || key.use === use),
      )
      const begun = uses.map((use) => ({ publicKeyHex: hex, use, validFrom: timeOf(valid_from), validTo: null }))
      keys = [...keys, ...begun]
    }
  }
  return { keys: [...keys], paths, counted }
}

/** Ends the period of the endorser when the endorsed key begins. */
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

function endorsementProblem(
  { body }: Endorsement,
  { made, own, keys, isRecovery, isRevoked }: Endorser,
): string | null {
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
  return usable.some((key) => isKeyOfTime(key, keys, at)) ? null : 'it was made outside the period of its key'
}

/** As many as two lists of a mebibyte can contain. */
const MAX_CHECKED = 4096

/**
 * The revocations with valid signatures: one for each pair of keys, with its earliest time. Revocations by recovery
 * keys and between known keys are read first, so that a flood of others cannot hide them.
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
  const revoke = ({ body }: Revocation) => {
    const [hex, since] = [body.revoked.public_key_hex, timeOf(body.since)]
    revoked.set(hex, Math.min(since, revoked.get(hex) ?? since))
  }
  const byRecovery = revocations.filter(({ body }) => recovery.includes(body.revoked_by.public_key_hex))
  byRecovery.forEach(revoke)
  const settled = new Set(revoked.keys())
  const steps = [...followed, ...reached.counted]
  const others = revocations
    .filter(({ body }) => !settled.has(body.revoked.public_key_hex) && !recovery.includes(body.revoked.public_key_hex))
    .filter((revocation) => mayRevoke(revocation, reached, steps))
    // Newest keys first, so that a key's own revocation is known before its revocations of others are applied.
    .map((revocation) => ({ revocation, ...ageOf(revocation.body.revoked_by.public_key_hex, reached, steps) }))
    .toSorted((a, b) => b.begin - a.begin || b.step - a.step)
    .map(({ revocation }) => revocation)
  const isOwn = ({ body }: Revocation) => body.revoked.public_key_hex === body.revoked_by.public_key_hex
  others.filter(isOwn).forEach(revoke)
  for (const revocation of others) {
    if (isOwn(revocation) || revoked.has(revocation.body.revoked_by.public_key_hex)) continue
    revoke(revocation)
  }
  return revoked
}

/** Orders keys by their last endorsement, which comes before those that they make, or else by their earliest begin. */
function ageOf(hex: string, reached: Reached, steps: readonly Endorsement[]): { begin: number; step: number } {
  const step = steps.findLastIndex(({ body }) => body.endorsed.public_key_hex === hex)
  const endorsement = steps[step]
  return { begin: endorsement ? timeOf(endorsement.body.valid_from) : (beginOf(hex, reached) ?? 0), step }
}

function mayRevoke({ body }: Revocation, reached: Reached, steps: readonly Endorsement[]): boolean {
  const [revoked, by] = [body.revoked.public_key_hex, body.revoked_by.public_key_hex]
  if (revoked === by) return true
  if (endorsersOf(by, steps).has(revoked)) return true
  const [begin, ofRevoked] = [beginOf(by, reached), beginOf(revoked, reached)]
  return begin !== null && ofRevoked !== null && begin > ofRevoked
}

/** The keys from which endorsements lead to a key. */
function endorsersOf(hex: string, steps: readonly Endorsement[]): Set<string> {
  const found = new Set<string>()
  const queue = [hex]
  for (const key of queue) {
    for (const { body } of steps) {
      const endorser = body.endorser.public_key_hex
      if (body.endorsed.public_key_hex !== key || found.has(endorser)) continue
      found.add(endorser)
      queue.push(endorser)
    }
  }
  return found
}

/**
 * The earliest begin of the entries of a key that have one. Null for a key without a period, which is neither earlier
 * nor later than others.
 */
function beginOf(hex: string, { keys }: Reached): number | null {
  const begins = keysOf(hex, keys).map(({ validFrom }) => validFrom)
  return begins.reduce((first, begin) => (first === null || (begin !== null && begin < first) ? begin : first), null)
}

function recordRefusal(refused: Map<string, string>, hex: string, problem: string): void {
  if (hex !== '' && !refused.has(hex)) refused.set(hex, problem)
}

/** The key that an unchecked document names. Empty if it names none. */
function keyIn(value: unknown, field: 'endorsed' | 'revoked' | 'revoked_by'): string {
  const { body } = (value ?? {}) as { body?: Record<string, { public_key_hex?: unknown } | null> | null }
  const hex = body?.[field]?.public_key_hex
  return typeof hex === 'string' ? hex : ''
}
