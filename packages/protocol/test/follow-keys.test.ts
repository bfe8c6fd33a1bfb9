import { describe, expect, it } from 'vitest'
import { toHex } from '../src/bytes.ts'
import type { Json } from '../src/canonical.ts'
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
  return signedChange(body, by.sign(revocationMessage(body))) as unknown as Json
}

/** As a client keeps it that followed from the old key at this time. */
function followedAt(key: Ed25519Signer, at: number): FollowedBefore {
  const endorsements = [endorsed(OLD, key, at)]
  const changes = { endorsements: endorsements as unknown as Json[], revocations: [] }
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

  it('T-40 a thief whom a client followed to cannot revoke the word of the recovery key, nor earlier keys once found out', () => {
    const before = [followedAt(THIEF, THEFT + DAY)]
    const revocations = [
      ...theft.revocations,
      revoked(THIEF, NEW, 0),
      revoked(THIEF, RECOVERY, 0),
      revoked(THIEF, OLD, 0),
    ]
    const endorsements = [endorsed(RECOVERY, NEW, THEFT) as unknown as Json]
    const found = followKeys({ pinned: [pin(OLD)], before, recovery, changes: { endorsements, revocations } })
    expect([trusts(found.keys, NEW), trusts(found.keys, THIEF)]).toEqual([true, false])
    expect([...found.revoked]).toEqual([[hex(OLD), THEFT]])
  })
})
