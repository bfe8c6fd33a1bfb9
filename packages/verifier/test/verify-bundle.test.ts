import { utf8 } from '@svc/protocol/bytes'
import { describe, expect, it } from 'vitest'
import vectors from '../../../vectors/protocol.json' with { type: 'json' }
import { OFFLINE_FACTS, ONLINE_FACTS } from '../src/facts.ts'
import { type Given, type VerifiedBundle, verifyBundle } from '../src/verify-bundle.ts'
import { pinnedKeys, verified as verifiedChunks } from './pack.ts'

const v2 = vectors.evidence_bundle_v2_example
const v1 = vectors.evidence_bundle_v1_example
const statementKey = vectors.keys.statement_signing
const pinned = { pinnedKeys: pinnedKeys([statementKey.public_key_hex]) }

const verified = (bundle: object, given: Given = {}) => verifiedChunks([utf8(JSON.stringify(bundle))], given)

const values = ({ facts }: VerifiedBundle) =>
  Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, fact.value]))

/** Unlike the conformance pack, these bundles come from another implementation. */
describe('bundles of another implementation', () => {
  it('EVID-19 EVID-20 pass with their pinned key in version 2', async () => {
    const verification = await verified(v2, pinned)
    expect(values(verification)).toEqual({
      ...Object.fromEntries(OFFLINE_FACTS.map((name) => [name, 'passed'])),
      files_match: 'not_checked',
      ...Object.fromEntries(ONLINE_FACTS.map((name) => [name, 'not_checked'])),
    })
    expect(verification).toMatchObject({
      failed: [],
      key: { public_key_hex: statementKey.public_key_hex, key_id: statementKey.issuer_key_id, pinned: true },
      receiptId: v2.receipt_id,
      counted: { files: 3, totalBytes: 30n, merkleRoot: v2.commitment.merkle_root.slice('sha256:'.length) },
      envelope: v2.envelope,
      files: null,
    })
  })

  it('T-40 leave the key of a retired signer unchecked in version 1, which does not sign the time', async () => {
    const listed = (period: object) => {
      const { public_key_hex, issuer_key_id: key_id } = statementKey
      const key = { key_id, alg: 'ed25519', public_key_hex, use: 'attestation', status: 'active', ...period }
      return { pinnedKeys: pinnedKeys({ schema: 'svc/signing-keys/v1', keys: [key] }) }
    }
    const keyPinned = async (period: object, attested_at: string = v1.commitment.attested_at) =>
      (await verified({ ...v1, commitment: { ...v1.commitment, attested_at } }, listed(period))).facts.key_pinned
    const retired = { status: 'retired', valid_from: '2020-01-01T00:00:00Z', valid_to: '2099-01-01T00:00:00Z' }
    expect(await keyPinned(retired)).toMatchObject({ value: 'not_checked', why: expect.stringContaining('its time') })
    expect(await keyPinned(retired, '2099-06-01T00:00:00Z')).toMatchObject({ value: 'failed' })
    expect(await keyPinned({ valid_from: retired.valid_from })).toMatchObject({ value: 'passed' })
    expect(await keyPinned({})).toMatchObject({ value: 'passed' })
  })

  it('EVID-17 fail with a tag of another length', async () => {
    const { facts } = await verified(v2, { ...pinned, domainTag: 'SVC_CONTENT_ENVELOPE_V2' })
    expect(facts.signature_valid).toMatchObject({ value: 'failed', why: expect.stringContaining('25') })
  })

  it('make verifyBundle throw the error of their source', async () => {
    async function* broken() {
      yield utf8('{')
      throw new Error('the disk is gone')
    }
    await expect(verifyBundle(broken())).rejects.toThrow('the disk is gone')
  })
})
