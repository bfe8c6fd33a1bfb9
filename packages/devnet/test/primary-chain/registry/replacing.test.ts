import { forAllTests } from '@svc/devnet/for-tests'
import { decodeRecord } from '@svc/protocol/registry'
import { describe, expect, it } from 'vitest'
import { close, create, memo, ownClose, ownCreate, subjectOf, unitLimit } from './instructions.ts'
import { feePaidBy, RENT_OF_ATTESTATION, startTestRegistry } from './registry.ts'

describe('an attestation of the registry', () => {
  const registry = forAllTests(() => startTestRegistry())
  const deployment = forAllTests(() => registry.deploy())

  it('SAS-06 can be closed and created again in one transaction, beside memos and a compute budget', async () => {
    const subject = await subjectOf(deployment, 'replaced')
    await registry.run([create(deployment, subject)])
    const next = { ...subject, record: { ...subject.record, sequence: 2, snapshot_id: 'd4'.repeat(32) } }
    const result = await registry.run([
      unitLimit(50_000),
      memo('before'),
      close(deployment, subject),
      create(deployment, next),
      memo('after'),
    ])
    expect(result.err).toBeNull()
    expect(result.changes).toEqual(feePaidBy(registry.authority))
    expect(result.logMessages).toEqual(expect.arrayContaining(['Program log: before', 'Program log: after']))
    const { fields } = await registry.attestation(subject.attestation)
    expect(decodeRecord(Uint8Array.from(fields.data))).toEqual(next.record)
  })

  it('SAS-06 can be replaced by one with longer data', async () => {
    const subject = await subjectOf(deployment, 'longer')
    const { authority } = registry
    await registry.run([ownCreate(authority, subject.record, 0)])
    const longer = { ...subject.record, issuer_key_id: 'ed25519:'.padEnd(100, 'f') }
    const { err, changes } = await registry.run([ownClose(authority, subject.record), ownCreate(authority, longer, 0)])
    expect(err).toBeNull()
    const { fields, lamports, space } = await registry.attestation(subject.attestation)
    expect(decodeRecord(Uint8Array.from(fields.data))).toEqual(longer)
    expect(lamports).toBe(registry.chain.svm.minimumBalanceForRentExemption(space))
    expect(changes[subject.attestation]).toBe(lamports - RENT_OF_ATTESTATION)
  })
})
