import type { Attestation } from '@svc/api/attestations'
import type { VerificationBundle } from '@svc/api/proofs'
import { forAllTests } from '@svc/devnet/for-tests'
import { writable } from '@svc/devnet/writable'
import { isManifestSignedBy } from '@svc/protocol/attestation'
import { ed25519PublicKey } from '@svc/protocol/keys'
import { leafHash, merkleRoot } from '@svc/protocol/merkle'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { expect, it } from 'vitest'
import { chainOfThree, openEvidenceGateway } from './evidence-gateway.ts'

const BUNDLE = '/v1/storage/verification-bundle'

const instance = forAllTests(() => openEvidenceGateway())
const bundleOf = (receipt_id: string) => instance.get<VerificationBundle>(BUNDLE, { receipt_id })

it('VER-11 MERK-14 the verification bundle holds payment, content, algorithm and steps', async () => {
  const { receipt_id, locker_id } = await chainOfThree(instance)
  const { steps, content_proof, payment_proof, ...rest } = await bundleOf(receipt_id)
  expect(rest).toEqual({
    schema_version: '1.0',
    receipt_id,
    algorithm: {
      name: 'svc-merkle-v1',
      hash: 'sha256',
      leaf: '{filename}:{size_bytes}:{content_hash}',
      parent: 'sha256_hex(left_hex + right_hex)',
      sort: 'code point order of filename',
      odd: 'duplicate last',
    },
  })
  const verified = await instance.get<{ receipt: SignedReceipt; attestation: Attestation }>('/v1/storage/verify', {
    receipt_id,
  })
  const { confirmed_at, tx_hash, payer_pubkey } = verified.receipt
  expect(payment_proof).toEqual({
    paid_amount: '1',
    pay_asset: 'USDC',
    paid_raw: '1',
    confirmed_at,
    network: 'primary-mainnet',
    tx_hash,
    payer_pubkey,
    amount_sol: null,
    amount_lamports: null,
  })
  const { merkle_root, result_hash, manifest_signature, attested_at, files } = verified.attestation
  expect(content_proof).toEqual({
    locker_id,
    merkle_root,
    result_hash,
    file_count: 3,
    total_bytes: 11,
    files,
    manifest_signature,
    attestation_status: 'computed',
    attested_at,
    anchor: null,
  })
  const key = ed25519PublicKey(instance.gateway.context.signers.statement.publicKey)!
  expect(isManifestSignedBy(key, merkle_root, manifest_signature)).toBe(true)
  expect(`sha256:${merkleRoot(files.map(leafHash))}`).toBe(merkle_root)
  const checked = ['tx_hash', 'content_hash', 'algorithm.sort', 'merkle_root', 'manifest_signature']
  expect(steps).toEqual(checked.map((field) => expect.stringContaining(field)))
})

it('VER-11 the verification bundle states lamports only for payments in SOL', async () => {
  const { receipt_id } = await instance.listed(1)
  const { db } = instance.gateway.context.database
  const { receipt } = await db
    .selectFrom('receipts')
    .select('receipt')
    .where('receipt_id', '=', receipt_id)
    .executeTakeFirstOrThrow()
  const paid = { ...JSON.parse(receipt), pay_asset: 'SOL', paid_amount: '0.001663894', paid_raw: '1663894' }
  await writable(db)
    .updateTable('receipts')
    .set({ receipt: JSON.stringify(paid) })
    .where('receipt_id', '=', receipt_id)
    .execute()
  const { payment_proof, content_proof } = await bundleOf(receipt_id)
  expect(payment_proof).toMatchObject({ amount_sol: '0.001663894', amount_lamports: 1_663_894 })
  expect(content_proof).toBeNull()
})
