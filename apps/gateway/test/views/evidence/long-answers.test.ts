import type { Retrieved, VerifyAnswer } from '@svc/api/evidence'
import * as evidence from '@svc/api/evidence'
import type { EvidenceBundle, VerificationBundle } from '@svc/api/proofs'
import * as proofs from '@svc/api/proofs'
import { forAllTests } from '@svc/devnet/for-tests'
import { writable } from '@svc/devnet/writable'
import { toHex } from '@svc/protocol/bytes'
import { schemaCheck } from '@svc/service/http/validate'
import { readPinnedKeys } from '@svc/verifier/pinned-keys'
import { verifyBundle } from '@svc/verifier/verify-bundle'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Locker } from '../../../src/db/schema.ts'
import { openEvidenceGateway } from './evidence-gateway.ts'

/** The smallest number of files that is streamed. */
const FILES = 5001

describe('answers with many files', () => {
  const instance = forAllTests(() => openEvidenceGateway())
  let locker: Locker
  beforeAll(async () => {
    locker = await instance.listed(FILES)
    await instance.state(locker)
  })
  const url = (path: string) => `${instance.gateway.url}${path}?receipt_id=${locker.receipt_id}`

  it.each([
    ['verify', evidence.verify, (body: VerifyAnswer) => body.attestation?.files],
    ['retrieve', evidence.retrieve, (body: Retrieved) => body.manifest.files],
    ['verificationBundle', proofs.verificationBundle, (body: VerificationBundle) => body.content_proof?.files],
    ['evidenceBundle', proofs.evidenceBundle, (body: EvidenceBundle) => body.files],
    ['redactedBundle', proofs.redactedBundle, (body: { leaf_hashes: unknown[] }) => body.leaf_hashes],
    ['recomputeVerify', proofs.recomputeVerify, (body: { files: unknown[] }) => body.files],
  ] as const)(
    'ATT-16 VER-13 streams the complete list of files as declared: %s',
    { tags: ['nightly'] },
    async (_, endpoint, filesOf) => {
      const response = await fetch(url(endpoint.path))
      expect(response.status).toBe(200)
      expect(response.headers.get('content-length')).toBeNull()
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(response.headers.get('cache-control')).toBe('no-store')
      const body = await response.json()
      expect(schemaCheck(endpoint.responses[200])(body)).toBeNull()
      expect((filesOf as (body: unknown) => unknown[])(body)).toHaveLength(FILES)
    },
  )

  it('EVID-20 MERK-10 verifies a long evidence bundle offline', async () => {
    const bytes = new Uint8Array(await (await fetch(url('/v1/storage/evidence-bundle'))).arrayBuffer())
    const pinned = readPinnedKeys(toHex(instance.gateway.context.signers.statement.publicKey))
    if (!pinned.ok) throw new Error(pinned.problem)
    const verification = await verifyBundle([bytes], { pinnedKeys: pinned.keys })
    expect(verification).toMatchObject({
      failed: [],
      facts: { key_pinned: { value: 'passed' } },
      counted: { files: FILES },
    })
  })

  it('T-11 still serves after a client disconnects in the middle', async () => {
    for (const path of ['/v1/storage/verify', '/v1/storage/evidence-bundle']) {
      const left = new AbortController()
      const response = await fetch(url(path), { signal: left.signal })
      await response.body!.getReader().read()
      left.abort()
    }
    expect((await fetch(url('/v1/storage/verify'))).status).toBe(200)
  })

  it('VER-01 aborts the response when stored files are missing, rather than sending a short list', {
    tags: ['nightly'],
  }, async () => {
    const damaged = await instance.listed(FILES + 1)
    const { snapshotKey } = await instance.state(damaged)
    const { db } = instance.gateway.context.database
    await writable(db).deleteFrom('snapshots').where('snapshot_key', '=', snapshotKey).execute()
    const long = fetch(`${instance.gateway.url}/v1/storage/verify?receipt_id=${damaged.receipt_id}`)
    await expect(long.then((response) => response.text())).rejects.toThrow()
  })
})

it('T-10 the gateway counts long answers against the public rate limits, but not short ones', {
  tags: ['nightly'],
}, async () => {
  const instance = await openEvidenceGateway({ RATE_LIMITS: 'address=3/min' })
  const [long, short] = [await instance.listed(FILES), await instance.listed(1)]
  for (const locker of [long, short]) await instance.state(locker)
  const statuses = async ({ receipt_id }: Locker) => {
    const answers = []
    for (const path of ['verify', 'evidence-bundle', 'redacted-bundle', 'verification-bundle'])
      answers.push((await instance.read(`/v1/storage/${path}`, { receipt_id })).status)
    return answers
  }
  expect(await statuses(long)).toEqual([200, 200, 200, 429])
  expect(await statuses(short)).toEqual([200, 200, 200, 200])
  await instance.close()
})
