import { describe, expect, it } from 'vitest'
import { toHex } from '../src/bytes.ts'
import { isoSeconds } from '../src/evidence.ts'
import { type FollowedBefore, followKeys } from '../src/follow-keys.ts'
import { endorsementMessage, namedKey, revocationMessage, signedChange } from '../src/key-changes.ts'
import { type Ed25519Signer, ed25519Signer, isTrustedKey } from '../src/keys.ts'

const [OLD, NEW, THIEF, RECOVERY] = [1, 2, 3, 4].map((byte) => ed25519Signer(new Uint8Array(32).fill(byte))) as [
  Ed25519Signer,
  Ed25519Signer,
  Ed25519Signer,
  Ed25519Signer,
]
const hex = ({ publicKey }: Ed25519Signer) => toHex(publicKey)
const DAY = 86_400
const THEFT = 1_780_000_000
const common = { purpose: 'statement', audience: 'https://gateway.example' } as const

function endorsed(by: Ed25519Signer, key: Ed25519Signer, at: number) {
  const times = { valid_from: isoSeconds(at), issued_at: isoSeconds(at) }
  const keys = { endorser: namedKey(hex(by)), endorsed: namedKey(hex(key)) }
  const body = { schema: 'svc/key-endorsement/v1', ...common, ...keys, ...times } as const
  return signedChange(body, by.sign(endorsementMessage(body)))
}

function revoked(by: Ed25519Signer, key: Ed25519Signer, since: number) {
  const keys = { revoked: namedKey(hex(key)), revoked_by: namedKey(hex(by)) }
  const times = { since: isoSeconds(since), issued_at: isoSeconds(THEFT + 9 * DAY) }
  const body = { schema: 'svc/key-revocation/v1', ...common, ...keys, ...times } as const
  return signedChange(body, by.sign(revocationMessage(body)))
}

/** As a client keeps it that followed from the old key at this time. */
function followedAt(key: Ed25519Signer, at: number): FollowedBefore {
  const endorsements = [endorsed(OLD, key, at)]
  const changes = { endorsements: endorsements, revocations: [] }
  const { keys, paths } = followKeys({ pinned: [pin(OLD)], changes })
  return { at, keys: keys.filter(({ publicKeyHex }) => paths.has(publicKeyHex)), endorsements }
}

function pin(key: Ed25519Signer) {
  return { publicKeyHex: hex(key), use: null, validFrom: null, validTo: null }
}

const trusts = (keys: ReturnType<typeof followKeys>['keys'], key: Ed25519Signer) =>
  isTrustedKey(hex(key), keys, { use: 'receipt', at: THEFT + 2 * DAY })

describe('keys that were followed', () => {
  const recovery = [hex(RECOVERY)]
  const theft = { endorsements: [], revocations: [revoked(RECOVERY, OLD, THEFT)] }

  it('T-40 ADD-39 stay trusted when the key that led to them is stolen later, and not if it was stolen before', () => {
    const legitimate = followKeys({
      pinned: [pin(OLD)],
      before: [followedAt(NEW, THEFT - DAY)],
      recovery,
      changes: theft,
    })
    expect([trusts(legitimate.keys, NEW), legitimate.revoked.get(hex(OLD))]).toEqual([true, THEFT])
    const ofThief = followKeys({
      pinned: [pin(OLD)],
      before: [followedAt(THIEF, THEFT + DAY)],
      recovery,
      changes: theft,
    })
    expect(trusts(ofThief.keys, THIEF)).toBe(false)
  })

  it('T-40 ADD-39 revoke the keys that led to them, also pinned ones without a period', () => {
    const { revoked: found } = followKeys({
      pinned: [pin(OLD)],
      before: [followedAt(NEW, THEFT - DAY)],
      changes: { endorsements: [], revocations: [revoked(NEW, OLD, THEFT)] },
    })
    expect(found).toEqual(new Map([[hex(OLD), THEFT]]))
  })

  it('T-40 a thief whom a client followed to cannot revoke the word of the recovery key, nor earlier keys once found out', () => {
    const before = [followedAt(THIEF, THEFT + DAY)]
    const revocations = [
      ...theft.revocations,
      revoked(THIEF, NEW, 0),
      revoked(THIEF, RECOVERY, 0),
      revoked(THIEF, OLD, 0),
    ]
    const endorsements = [endorsed(RECOVERY, NEW, THEFT)]
    const found = followKeys({ pinned: [pin(OLD)], before, recovery, changes: { endorsements, revocations } })
    expect([trusts(found.keys, NEW), trusts(found.keys, THIEF)]).toEqual([true, false])
    expect([...found.revoked]).toEqual([[hex(OLD), THEFT]])
  })
})

describe('revocations among junk', () => {
  const recovery = [hex(RECOVERY)]
  const real = revoked(RECOVERY, OLD, THEFT)
  const strangers = Array.from({ length: 70 }, (_, i) => ed25519Signer(new Uint8Array(32).fill(100 + i)))
  const forged = strangers.map((stranger) => ({ ...real, signature: toHex(stranger.sign(new Uint8Array(1))) }))
  const junk = [
    ...strangers.map((stranger) => revoked(stranger, stranger, 0)),
    ...strangers.map((stranger) => revoked(stranger, OLD, 0)),
    ...forged,
    ...[null, 1, 'text', {}, { body: null }, { body: { revoked_by: { public_key_hex: { toString: 1 } } } }],
  ]

  it('T-40 ADD-39 finds the real revocation behind any number of others, also when it comes later', () => {
    const given = { pinned: [pin(OLD)], recovery }
    const found = followKeys({ ...given, changes: { endorsements: [], revocations: [...junk, real] } })
    expect(found.revoked.get(hex(OLD))).toBe(THEFT)
    const { revocations: kept } = followKeys({ ...given, changes: { endorsements: [], revocations: junk } })
    const later = followKeys({ ...given, changes: { endorsements: [], revocations: [...kept, real] } })
    expect(later.revoked.get(hex(OLD))).toBe(THEFT)
  })

  it('T-40 ADD-39 keeps valid ones only, each once, the recovery key first', { tags: ['nightly'] }, () => {
    const [earlier, later] = [revoked(OLD, OLD, THEFT - DAY), revoked(OLD, OLD, THEFT)]
    const revocations = [...forged, ...strangers.map((one) => revoked(one, one, 0)), later, earlier, later, real, real]
    const given = { pinned: [pin(OLD)], recovery, changes: { endorsements: [], revocations } }
    const found = followKeys({ ...given, audience: common.audience })
    expect(found.revocations.slice(0, 2)).toEqual([real, earlier])
    expect(found.revocations).toHaveLength(2 + 64)
    expect(followKeys({ ...given, audience: 'https://other.example' }).revocations).toEqual([])
  })
})

describe('a key that endorsed its successor', () => {
  const ROTATION = THEFT
  const rotation = endorsed(OLD, NEW, ROTATION)
  const isOldTrusted = (keys: ReturnType<typeof followKeys>['keys'], at: number) =>
    isTrustedKey(hex(OLD), keys, { use: 'receipt', at })

  it('ADD-37 T-40 signs until that one begins, also if it was pinned without an end', () => {
    const ways = [
      { pinned: [pin(OLD)], changes: { endorsements: [rotation], revocations: [] } },
      { pinned: [pin(OLD), pin(NEW)], changes: { endorsements: [rotation], revocations: [] } },
      { pinned: [{ ...pin(OLD), validTo: ROTATION + 9 * DAY }, pin(NEW)], before: [followedAt(NEW, ROTATION)] },
      { pinned: [pin(OLD)], before: [followedAt(NEW, ROTATION)] },
    ]
    for (const way of ways) {
      const { keys } = followKeys({ changes: { endorsements: [], revocations: [] }, ...way })
      const periods = [ROTATION - DAY, ROTATION + 2 * DAY].map((at) => isOldTrusted(keys, at))
      expect([...periods, trusts(keys, NEW)]).toEqual([true, false, true])
    }
    const ended = { ...pin(OLD), validTo: ROTATION - 9 * DAY }
    const { keys } = followKeys({ pinned: [ended], changes: { endorsements: [rotation], revocations: [] } })
    expect(isOldTrusted(keys, ROTATION - DAY)).toBe(false)
  })

  it('ADD-37 T-40 endorses no other one later, where a list leaves out the successor that was followed', () => {
    const endorsements = [endorsed(OLD, THIEF, ROTATION - DAY)]
    const ways = [
      { pinned: [pin(OLD)], before: [followedAt(NEW, ROTATION)] },
      {
        pinned: [
          { ...pin(OLD), validTo: ROTATION },
          { ...pin(NEW), validFrom: ROTATION },
        ],
      },
    ]
    for (const way of ways) {
      const { keys } = followKeys({ ...way, changes: { endorsements, revocations: [] } })
      const trusted = [trusts(keys, NEW), trusts(keys, THIEF), isOldTrusted(keys, ROTATION + 2 * DAY)]
      expect(trusted).toEqual([true, false, false])
    }
  })
})
