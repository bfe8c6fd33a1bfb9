import { getBase58Encoder } from '@solana/kit'
import { forAllTests } from '@svc/devnet/for-tests'
import { decodeRecord, encodeRecord } from '@svc/protocol/registry'
import { getCloseAttestationEventDecoder } from 'sas-lib'
import { describe, expect, it } from 'vitest'
import { close, create, memo, ownClose, ownCreate, subjectOf, unitLimit } from './instructions.ts'
import { feePaidBy, RENT_OF_ATTESTATION, startTestRegistry } from './registry.ts'

const EVENT_TAG_BYTES = 8

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

  it('SAS-06 can be closed by another authorised signer, and the rent goes to the named payer', async () => {
    const subject = await subjectOf(deployment, 'closed by another')
    await registry.run([create(deployment, subject)])
    const { attester } = registry
    const { err, changes } = await registry.run([close(deployment, subject, { authority: attester, payer: attester })])
    expect(err).toBeNull()
    expect(changes).toEqual({
      ...feePaidBy(registry.authority, 2),
      [attester.address]: RENT_OF_ATTESTATION,
      [subject.attestation]: -RENT_OF_ATTESTATION,
    })
    expect(await registry.exists(subject.attestation)).toBe(false)
  })

  it('is named by an event in the transaction that closes it', async () => {
    const subject = await subjectOf(deployment, 'named by the event')
    const { innerInstructions } = await registry.run([create(deployment, subject), close(deployment, subject)])
    const inner = innerInstructions!.find(({ index }) => index === 1)!.instructions[0]!
    const event = getCloseAttestationEventDecoder().decode(getBase58Encoder().encode(inner.data), EVENT_TAG_BYTES)
    expect(event).toEqual({
      discriminator: 0,
      schema: deployment.schema,
      attestationData: encodeRecord(subject.record),
    })
  })
})
