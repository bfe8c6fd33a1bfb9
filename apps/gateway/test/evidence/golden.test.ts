import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { ed25519Identity, type TestGateway, type TestLocker, testGatewayOf } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { fromHex } from '@svc/protocol/bytes'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Variables } from '@svc/service/program/config'
import { describe, expect, it, onTestFinished } from 'vitest'
import vectors from '../../../../vectors/protocol.json' with { type: 'json' }
import { insertPayRequest, insertReceipt } from '../../src/purchases/store.ts'
import { askToAttest, objectPath } from './attest.ts'

const { keys, evidence_envelope, merkle, receipt_signature_proposal } = vectors
const owner = ed25519Identity(fromHex(keys.owner_ed25519.seed_hex, 32)!)
const receipt = receipt_signature_proposal.receipt as SignedReceipt

/** Opens gateways with the keys of the vectors, in sequence on one database and storage. */
async function openFixture() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-golden-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const first = evidence_envelope.statements[0]!.envelope.body.issued_at_unix
  const fixture = { time: first * 1000, draws: 0, nextDraws: [] as string[] }
  const randomBytes = (length: number) => {
    const next = fixture.nextDraws.shift()
    return next ? fromHex(next, length)! : fromHex((++fixture.draws).toString(16).padStart(2 * length, '0'), length)!
  }

  async function open(variables: Variables = {}): Promise<TestGateway> {
    const gateway = await startTestGateway(
      {
        DATA_DIR: folder,
        BASE_URL: 'https://gateway.example',
        RUN_JOBS: 'true',
        STATEMENT_KEY: keys.statement_signing.seed_hex,
        PUBLICATION_KEY: keys.publication.seed_hex,
        SHORT_URL_KEY: keys.short_url.seed_hex,
        ...variables,
      },
      { now: () => fixture.time, randomBytes },
    )
    return testGatewayOf(gateway, { now: () => fixture.time, advance: () => {} })
  }
  return { fixture, open }
}

async function openLocker(instance: TestGateway): Promise<TestLocker> {
  const { config, database } = instance.gateway.context
  const { receipt_id, pay_req_id, units } = receipt
  const quote = JSON.stringify({ extensions: { svc: { terms: config.payments.terms.gcs } } })
  await insertPayRequest(writable(database.db), {
    pay_req_id,
    provider: 'gcs',
    units,
    quote,
    created_at: 1,
    expires_at: 2,
  })
  await insertReceipt(writable(database.db), receipt)
  return instance.locker(owner, { receiptId: receipt_id })
}

async function put(locker: TestLocker, filename: string): Promise<void> {
  const file = vectors.files.find((candidate) => candidate.filename === filename)!
  await locker.put(filename, Buffer.from(file.content_hex, 'hex'), { contentType: file.content_type })
}

describe('a gateway with a fixed clock and counting randomness', () => {
  it('EVID-01 EVID-12 makes the same statements as a second implementation, byte for byte', async () => {
    const { fixture, open } = await openFixture()
    const [first, second] = evidence_envelope.statements
    const instance = await open()
    const locker = await openLocker(instance)
    const [set, larger] = [3, 4].map((count) => merkle.sets.find(({ file_count }) => file_count === count)!)
    for (const filename of set!.input_order_filenames) await put(locker, filename)
    fixture.nextDraws = [first!.envelope.body.proof_id, first!.envelope.body.nonce]
    const one = await askToAttest(instance, locker)
    expect(one.body.attestation.envelope).toEqual(first!.envelope)
    expect(one.body.attestation).toMatchObject({
      locker_id: merkle.locker_id,
      merkle_root: set!.merkle_root,
      result_hash: set!.result_hash.result_hash,
      manifest_signature: set!.manifest_signature.signature_hex,
    })
    expect(one.body.att_code).toBe(set!.result_hash.att_code)

    // Add one more file, a file without bytes and a file whose bytes are lost.
    await put(locker, larger!.input_order_filenames.find((name) => !set!.input_order_filenames.includes(name))!)
    await locker.call(['locker:write'], 'POST', '/files', { filename: 'awaited' })
    await locker.put('lost', 'lost')
    await rm(await objectPath(instance, locker, 'lost'))
    await instance.close()

    const hashing = await open({ ATTEST_CHECK_MODE: 'bytes_hashed' })
    fixture.time = second!.envelope.body.issued_at_unix * 1000
    fixture.nextDraws = [second!.envelope.body.nonce]
    const two = await askToAttest(hashing, locker)
    expect(two.body.attestation.envelope).toEqual(second!.envelope)
    expect(two.body.attestation).toMatchObject({ files_skipped: second!.files_skipped, evidence_seq: 2 })
    await hashing.close()
  })

  it('ATT-02 ATT-08 answers with the same bytes every time', async () => {
    const { open } = await openFixture()
    const instance = await open()
    const locker = await openLocker(instance)
    for (const { filename } of vectors.files) await put(locker, filename)
    const path = `/v1/storage/attest?receipt_id=${locker.receiptId}&sync=true`
    const call = { method: 'POST', path, ops: ['locker:attest'], receiptId: locker.receiptId }
    const answer = await fetch(instance.gateway.url + path, {
      method: 'POST',
      headers: instance.sign(owner, call).headers,
    })
    const golden = JSON.parse(await readFile(new URL('./golden.json', import.meta.url), 'utf8'))
    expect(await answer.text()).toBe(JSON.stringify(golden))
    await instance.close()
  })
})
