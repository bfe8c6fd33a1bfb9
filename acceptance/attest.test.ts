// What is in the locker, said once, signed, chained; and checked by somebody who trusts nothing but the key he pinned.

import { DEMO_PAYERS } from '@svc/testbed/primary-chain/dev-accounts'
import { ed25519Identity } from '@svc/testbed/signing'
import { readBundle } from '@svc/verifier/read-bundle'
import { verifyBundle } from '@svc/verifier/verify-bundle'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPlace, npmStart, type Place, type Started } from './npm-start.ts'
import { visitor } from './owner.ts'

let place: Place
let started: Started
beforeAll(async () => {
  place = await findPlace()
  started = await npmStart(place)
})
afterAll(async () => {
  await started.interrupt()
  await place.leave()
})

describe('attestation', () => {
  it('GEN-09, ATT-06, VER-01, VER-12, EVID-11, MERK-17 attest, read, verify offline, attest again, after a restart', async () => {
    const owner = ed25519Identity(DEMO_PAYERS[1]!.privateKeyBytes)
    const { send, call, buyLocker, putFile, confirmFile } = visitor(place)
    const ids = await buyLocker(owner, 'SOL', 'primary-mainnet', 1)
    const about = `receipt_id=${ids.receiptId}`
    const put = async (filename: string) => {
      await putFile(owner, ids, { filename, content_type: 'text/plain' }, Buffer.from(`bytes of ${filename}`))
      expect((await confirmFile(ids, filename)).status).toBe(200)
    }
    const attest = () => {
      const path = `/v1/storage/attest?${about}&sync=true`
      return call(owner, { ...ids, method: 'POST', path, ops: ['locker:attest'] })
    }
    const { keys } = (await send('GET', '/v1/keys')).body as { keys: { public_key_hex: string }[] }
    const pinnedKeys = [keys[0]!.public_key_hex]
    const verifyOffline = async () => {
      const text = await (await fetch(`${place.gateway}/v1/storage/evidence-bundle?${about}`)).text()
      const read = readBundle(Buffer.from(text))
      if (!read.ok) throw new Error(read.problem)
      return { facts: verifyBundle(read.bundle, { pinnedKeys }), bundle: read.bundle }
    }
    const ALL_PASSED = {
      merkle_root_matches: 'passed',
      statement_digest_matches: 'passed',
      envelope_binds_commitment: 'passed',
      signature_valid: 'passed',
      key_pinned: 'passed',
    }

    await put('a.txt')
    await put('b/c.txt')
    expect(await attest()).toMatchObject({ attestation: { file_count: 2, evidence_seq: 1 }, unchanged: false })
    expect(await attest()).toMatchObject({ unchanged: true })
    const first = await verifyOffline()
    expect(first.facts).toMatchObject(ALL_PASSED)
    const proof = await send('GET', `/v1/storage/merkle-proof?${about}&filename=b%2Fc.txt`)
    expect(proof).toMatchObject({ status: 200, body: { leaf_index: 1, file_count: 2 } })

    await started.interrupt()
    started = await npmStart(place)
    await put('d.txt')
    await attest()
    const second = await verifyOffline()
    expect(second.facts).toMatchObject(ALL_PASSED)
    expect(second.bundle.envelope?.body).toMatchObject({
      sequence: 2,
      prev_statement_digest: first.bundle.envelope?.statement_digest,
      proof_id: first.bundle.envelope?.body.proof_id,
    })
    const seen = await send('GET', `/v1/storage/verify?${about}`)
    expect(seen.body).toMatchObject({
      verified: true,
      verification: { commitment_computed: 'passed', signature_valid: 'passed', anchor_submitted: 'not_checked' },
    })
    const changed = { ...second.bundle, files: second.bundle.files.map((file) => ({ ...file, size_bytes: 1 })) }
    expect(verifyBundle(changed, { pinnedKeys })).toMatchObject({ merkle_root_matches: 'failed' })
  })
})
