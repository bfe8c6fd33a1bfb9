// @module-tag nightly

// Statements about a locker: signed, chained and published, then verified by a third party who trusts only pinned keys.

import { readFile } from 'node:fs/promises'
import { DEMO_PAYERS, PUBLICATION } from '@svc/devnet/primary-chain/dev-accounts'
import { call as ask } from '@svc/devnet/primary-chain/dev-client'
import { ed25519Identity } from '@svc/devnet/services/signing'
import { readCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { judge, readPolicy } from '@svc/protocol/transparency/policy'
import { type PinnedKey, readPinnedKeys } from '@svc/verifier/pinned-keys'
import { verifyBundle } from '@svc/verifier/verify-bundle'
import { beforeAll, describe, expect, it } from 'vitest'
import { gatewayRequests } from './gateway-requests.ts'
import { useNpmStart } from './npm-start.ts'

const service = useNpmStart()

interface Anchor {
  tx: string
  signer: string
}

interface Bundle {
  envelope: { statement_digest: string; body: { proof_id: string } }
  anchor: Anchor
  files: object[]
}

const PASSED = { value: 'passed' }
const OFFLINE_PASSED = {
  merkle_root_matches: PASSED,
  statement_digest_matches: PASSED,
  envelope_binds_commitment: PASSED,
  signature_valid: PASSED,
  key_pinned: PASSED,
}
/** The result before finality, which takes some seconds more. */
const PUBLISHED = {
  anchor_tx_succeeded: PASSED,
  anchor_signer_matches: PASSED,
  anchor_payload_matches: PASSED,
  anchor_slot_matches: PASSED,
}

const owner = ed25519Identity(DEMO_PAYERS[1]!.privateKeyBytes)
const { send, call, buyLocker, putFile, confirmFile } = gatewayRequests(service)
const rpc = async (method: string, params: readonly unknown[]) =>
  (await ask(service.primaryChain, method, params)).result
const online = { rpc, pinnedSigners: [PUBLICATION.address] }

let ids: Awaited<ReturnType<typeof buyLocker>>
let about: string
let pinnedKeys: PinnedKey[]
beforeAll(async () => {
  ids = await buyLocker(owner, 'SOL', 'primary-mainnet', 1)
  about = `receipt_id=${ids.receiptId}`
  const pinned = readPinnedKeys(await (await fetch(`${service.gateway}/v1/keys`)).text())
  if (!pinned.ok) throw new Error(pinned.problem)
  pinnedKeys = pinned.keys
})

async function put(filename: string) {
  await putFile(owner, ids, { filename, content_type: 'text/plain' }, Buffer.from(`bytes of ${filename}`))
  expect((await confirmFile(ids, filename)).status).toBe(200)
}

async function attest() {
  const path = `/v1/storage/attest?${about}&sync=true`
  const answer = await call(owner, { ...ids, method: 'POST', path, ops: ['locker:attest'] })
  return { ...answer, anchor: (answer.push_result as { anchor: Anchor }).anchor }
}

async function factsOf(bundle: unknown, given = {}) {
  const verified = await verifyBundle([Buffer.from(JSON.stringify(bundle))], { pinnedKeys, ...given })
  if (verified.refused) throw new Error(verified.refused.why)
  return verified.facts
}

async function readBundle() {
  return (await (await fetch(`${service.gateway}/v1/storage/evidence-bundle?${about}`)).json()) as Bundle
}

describe('a locker', { shuffle: false }, () => {
  let first: Bundle

  it('ATT-10 ANCH-05 is attested and published once', async () => {
    await put('a.txt')
    await put('b/c.txt')
    const made = await attest()
    expect(made).toMatchObject({ attestation: { file_count: 2, evidence_seq: 1 }, unchanged: false })
    expect(made).toMatchObject({ attestation_status: 'complete', push_result: { status: 'pushed' } })
    expect(made.anchor.signer).toBe(PUBLICATION.address)
    expect(await attest()).toMatchObject({ unchanged: true, push_result: { status: 'already_anchored' } })
    const body = { receipt_id: ids.receiptId }
    const pushed = await call(owner, { ...ids, method: 'POST', path: '/v1/attest/push', body, ops: ['locker:attest'] })
    expect(pushed).toMatchObject({ status: 'already_anchored', anchor: { tx: made.anchor.tx } })
    first = await readBundle()
    expect(first.anchor.tx).toBe(made.anchor.tx)
  })

  it('VER-12 MERK-17 is verified as a whole, and by one file', async () => {
    expect(await factsOf(first)).toMatchObject(OFFLINE_PASSED)
    expect(await factsOf(first, online)).toMatchObject(PUBLISHED)
    const shown = await fetch(`${service.gateway}/v1/storage/redacted-bundle?${about}&filename=a.txt`)
    const redacted = await shown.text()
    expect(redacted).not.toContain(ids.receiptId)
    const ofOneFile = { inclusion_proven: PASSED, merkle_root_matches: { value: 'not_checked' } }
    expect(await factsOf(JSON.parse(redacted), online)).toMatchObject({ ...PUBLISHED, ...ofOneFile })
    const proof = await send('GET', `/v1/storage/merkle-proof?${about}&filename=b%2Fc.txt`)
    const position = { leaf_index: 1, file_count: 2, anchor: { tx: first.anchor.tx } }
    expect(proof).toMatchObject({ status: 200, body: position })
  })

  it('EVID-11 VER-01 is attested again after a restart, in a chain that rejects borrowed statements', async () => {
    await service.restart()
    await put('d.txt')
    const { tx } = (await attest()).anchor
    expect(tx).not.toBe(first.anchor.tx)
    const second = await readBundle()
    expect(await factsOf(second, online)).toMatchObject({ ...OFFLINE_PASSED, ...PUBLISHED })
    const { statement_digest, body } = first.envelope
    const following = { sequence: 2, prev_statement_digest: statement_digest, proof_id: body.proof_id }
    expect(second.envelope.body).toMatchObject(following)
    const facts = { commitment_computed: 'passed', signature_valid: 'passed', anchor_confirmed: 'passed' }
    const observed = await send('GET', `/v1/storage/verify?${about}`)
    expect(observed.body).toMatchObject({ verified: true, verification: facts, anchor: { tx } })
    const past = await send('GET', `/v1/storage/verify?${about}&sequence=1`)
    expect(past.body).toMatchObject({ verification: facts, anchor: { tx: first.anchor.tx } })
    const changed = { ...second, files: second.files.map((file) => ({ ...file, size_bytes: 1 })) }
    expect(await factsOf(changed)).toMatchObject({ merkle_root_matches: { value: 'failed' } })
    const borrowed = { ...second, anchor: first.anchor }
    expect(await factsOf(borrowed, online)).toMatchObject({ anchor_payload_matches: { value: 'failed' } })
  })

  it('WIT-09 is in the log that the witness of npm start cosigns', async () => {
    const policy = readPolicy(await readFile(`${service.dataFolder}/witness/policy.txt`, 'utf8'))
    if (typeof policy === 'string') throw new Error(policy)
    const isCosigned = async () => {
      const checkpoint = readCheckpoint(await (await fetch(`${service.gateway}/log/checkpoint`)).text())
      return typeof checkpoint !== 'string' && checkpoint.size === 2 && judge(policy, checkpoint).isQuorum
    }
    await expect.poll(isCosigned, { interval: 500 }).toBe(true)
  })
})
