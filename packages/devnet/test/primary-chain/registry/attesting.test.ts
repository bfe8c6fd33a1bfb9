import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { forAllTests } from '@svc/devnet/for-tests'
import { decodeRecord, REGISTRY_PROGRAM, readRegistryAccount, registryAddresses } from '@svc/protocol/registry'
import { serializeAttestationData } from 'sas-lib'
import { describe, expect, it } from 'vitest'
import { create, ownClose, ownCreate, subjectOf } from './instructions.ts'
import { RENT_OF_ATTESTATION, startTestRegistry } from './registry.ts'

describe('the registry', () => {
  const registry = forAllTests(() => startTestRegistry())
  const deployment = forAllTests(() => registry.deploy())

  it('SAS-01 SAS-02 stores credentials and schemas in the real format, at the addresses that we derive', async () => {
    const { authority, attester, chain } = registry
    expect(registryAddresses(authority.address)).toMatchObject({
      credential: deployment.credential,
      schema: deployment.schema,
    })
    const credential = await registry.credential(deployment.credential)
    expect(credential.programAddress).toBe(REGISTRY_PROGRAM)
    expect(credential.lamports).toBe(chain.svm.minimumBalanceForRentExemption(credential.space))
    expect(credential.fields).toEqual({
      discriminator: 0,
      authority: authority.address,
      name: bytes('svc-content-attestations'),
      authorizedSigners: [authority.address, attester.address],
    })
    const schema = await registry.schema(deployment.schema)
    expect(schema.programAddress).toBe(REGISTRY_PROGRAM)
    expect(schema.lamports).toBe(chain.svm.minimumBalanceForRentExemption(schema.space))
    expect(schema.fields).toMatchObject({
      discriminator: 1,
      credential: deployment.credential,
      name: bytes('svc.content.v2'),
      description: bytes('What a locker holds'),
      layout: Uint8Array.of(13, 13, 13, 13, 2, 2, 8, 12),
      isPaused: false,
      version: 1,
    })
  })

  it('SAS-07 SAS-08 writes the 345 bytes of an attestation, for rent from the payer', async () => {
    const subject = await subjectOf(deployment, 'first')
    const { err, changes } = await registry.run([create(deployment, subject)])
    expect(err).toBeNull()
    expect(changes).toEqual({
      [registry.authority.address]: -RENT_OF_ATTESTATION - 5_000n,
      [subject.attestation]: RENT_OF_ATTESTATION,
    })
    const { fields, ...account } = await registry.attestation(subject.attestation)
    expect(account).toMatchObject({ programAddress: REGISTRY_PROGRAM, space: 345n, executable: false })
    const { fields: schema } = await registry.schema(deployment.schema)
    const { record } = subject
    const data = serializeAttestationData(schema, {
      ...record,
      proof_id: numbers(record.proof_id),
      snapshot_id: numbers(record.snapshot_id),
      statement_digest: numbers(record.statement_digest),
      merkle_root: numbers(record.merkle_root),
    })
    expect(fields).toEqual({
      discriminator: 2,
      nonce: subject.nonce,
      credential: deployment.credential,
      schema: deployment.schema,
      data: Uint8Array.from(data),
      signer: registry.authority.address,
      expiry: 0n,
      tokenAccount: SYSTEM_PROGRAM_ADDRESS,
    })
  })

  it('SAS-05 SAS-07 accepts the instructions of our own codec, and our reader reads the result', async () => {
    const { record, attestation, nonce } = await subjectOf(deployment, 'ours')
    const { authority } = registry
    expect((await registry.run([ownCreate(authority, record, 2_000_000_000)])).err).toBeNull()
    const { fields, data } = await registry.attestation(attestation)
    expect(decodeRecord(Uint8Array.from(fields.data))).toEqual(record)
    expect(readRegistryAccount(data)).toEqual({
      nonce,
      credential: deployment.credential,
      schema: deployment.schema,
      record,
      signer: authority.address,
      expiry: 2_000_000_000,
    })
    const { err, changes } = await registry.run([ownClose(authority, record)])
    expect(err).toBeNull()
    expect(changes).toEqual({
      [authority.address]: RENT_OF_ATTESTATION - 5_000n,
      [attestation]: -RENT_OF_ATTESTATION,
    })
    expect(await registry.exists(attestation)).toBe(false)
  })

  it('SAS-07 accepts an expiry at the current second', async () => {
    const subject = await subjectOf(deployment, 'expires now')
    const expiry = BigInt(registry.clock.time / 1_000)
    expect((await registry.run([create(deployment, subject, { expiry })])).err).toBeNull()
    expect((await registry.attestation(subject.attestation)).fields.expiry).toBe(expiry)
  })
})

const bytes = (text: string) => Uint8Array.from(Buffer.from(text))
const numbers = (hex: string) => [...Buffer.from(hex, 'hex')]
