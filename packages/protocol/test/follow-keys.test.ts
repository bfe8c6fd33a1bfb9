import { describe, expect, it } from 'vitest'
import { toHex } from '../src/bytes.ts'
import { isoSeconds } from '../src/evidence.ts'
import { type FollowedBefore, followKeys } from '../src/follow-keys.ts'
import { endorsementMessage, namedKey, revocationMessage, signedChange } from '../src/key-changes.ts'
import { type Ed25519Signer, ed25519Signer, isTrustedKey } from '../src/keys.ts'

const signerOf = (byte: number) => ed25519Signer(new Uint8Array(32).fill(byte))
const [OLD, NEW, THIEF, RECOVERY] = [signerOf(1), signerOf(2), signerOf(3), signerOf(4)]
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

/** The stored record of a client that followed an endorsement by the old key at this time. */
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

  it('T-40 ADD-39 stay trusted only if the key that led to them was stolen later', () => {
    const common = { pinned: [pin(OLD)], recovery, changes: theft }
    const legitimate = followKeys({ ...common, before: [followedAt(NEW, THEFT - DAY)] })
    expect([trusts(legitimate.keys, NEW), legitimate.revoked.get(hex(OLD))]).toEqual([true, THEFT])
    const ofThief = followKeys({ ...common, before: [followedAt(THIEF, THEFT + DAY)] })
    expect(trusts(ofThief.keys, THIEF)).toBe(false)
  })

  it('T-40 ADD-39 revoke the keys that led to them, including pinned keys without a period', () => {
    const { revoked: found } = followKeys({
      pinned: [pin(OLD)],
      before: [followedAt(NEW, THEFT - DAY)],
      changes: { endorsements: [], revocations: [revoked(NEW, OLD, THEFT)] },
    })
    expect(found).toEqual(new Map([[hex(OLD), THEFT]]))
  })

  it('T-40 cannot revoke the recovery key, its successor or earlier keys if they belong to a thief', () => {
    const before = [followedAt(THIEF, THEFT + DAY)]
    const byThief = [NEW, RECOVERY, OLD].map((key) => revoked(THIEF, key, 0))
    const revocations = [...theft.revocations, ...byThief]
    const endorsements = [endorsed(RECOVERY, NEW, THEFT)]
    const found = followKeys({ pinned: [pin(OLD)], before, recovery, changes: { endorsements, revocations } })
    expect([trusts(found.keys, NEW), trusts(found.keys, THIEF)]).toEqual([true, false])
    expect([...found.revoked]).toEqual([[hex(OLD), THEFT]])
  })
})

describe('followKeys with many invalid revocations', () => {
  const recovery = [hex(RECOVERY)]
  const real = revoked(RECOVERY, OLD, THEFT)
  const unknownKeys = Array.from({ length: 70 }, (_, i) => signerOf(100 + i))
  const forged = unknownKeys.map((key) => ({ ...real, signature: toHex(key.sign(new Uint8Array(1))) }))
  const junk = [
    ...unknownKeys.map((key) => revoked(key, key, 0)),
    ...unknownKeys.map((key) => revoked(key, OLD, 0)),
    ...forged,
    ...[null, 1, 'text', {}, { body: null }, { body: { revoked_by: { public_key_hex: { toString: 1 } } } }],
  ]

  it('T-40 ADD-39 finds the real revocation among any number of others, even if it comes later', () => {
    const given = { pinned: [pin(OLD)], recovery }
    const found = followKeys({ ...given, changes: { endorsements: [], revocations: [...junk, real] } })
    expect(found.revoked.get(hex(OLD))).toBe(THEFT)
    const { revocations: stored } = followKeys({ ...given, changes: { endorsements: [], revocations: junk } })
    const later = followKeys({ ...given, changes: { endorsements: [], revocations: [...stored, real] } })
    expect(later.revoked.get(hex(OLD))).toBe(THEFT)
  })

  it('T-40 ADD-39 returns only valid revocations, without duplicates, those by the recovery key first', {
    tags: ['nightly'],
  }, () => {
    const [earlier, later] = [revoked(OLD, OLD, THEFT - DAY), revoked(OLD, OLD, THEFT)]
    const revocations = [
      ...forged,
      ...unknownKeys.map((one) => revoked(one, one, 0)),
      later,
      earlier,
      later,
      real,
      real,
    ]
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

  it('ADD-37 T-40 is valid until the successor begins, even if it was pinned without an end', () => {
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

  it('ADD-37 T-40 cannot endorse another key later, even if a list omits the known successor', () => {
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
