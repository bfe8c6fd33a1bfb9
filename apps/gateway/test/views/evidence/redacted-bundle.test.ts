import { type EvidenceBundle, MAX_CHOSEN_FILES, type RedactedBundle, redactedBundle } from '@svc/api/proofs'
import { forEachDatabase } from '@svc/devnet/databases'
import { expectRefusal } from '@svc/devnet/services/test-gateway'
import { toHex, utf8 } from '@svc/protocol/bytes'
import { schemaCheck } from '@svc/service/http/validate'
import { readPinnedKeys } from '@svc/verifier/pinned-keys'
import { redactBundle } from '@svc/verifier/redact-bundle'
import { verifyBundle } from '@svc/verifier/verify-bundle'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  chainOfThree,
  type EvidenceGateway,
  type FilledLocker,
  memoAnchor,
  openEvidenceGateway,
} from './evidence-gateway.ts'

const PATH = '/v1/storage/redacted-bundle'
const TAG = 'ANOTHER_TAG_OF_25_LETTERS'

let instance: EvidenceGateway

/** The response with its text as sent. */
async function read(receiptId: string, filenames: readonly string[] = [], more: Record<string, string> = {}) {
  const query = new URLSearchParams([
    ['receipt_id', receiptId],
    ...filenames.map((name) => ['filename', name]),
    ...Object.entries(more),
  ])
  const response = await fetch(`${instance.gateway.url}${PATH}?${query}`)
  return { response, text: await response.text() }
}

async function redacted(receiptId: string, filenames: readonly string[] = []) {
  const { response, text } = await read(receiptId, filenames)
  expect(response.status, text).toBe(200)
  return text
}

async function verify(text: string) {
  const pinned = readPinnedKeys(toHex(instance.gateway.context.signers.statement.publicKey))
  if (!pinned.ok) throw new Error(pinned.problem)
  const verification = await verifyBundle([utf8(text)], { pinnedKeys: pinned.keys, domainTag: TAG })
  if (verification.refused) throw new Error(verification.refused.why)
  return verification
}

forEachDatabase('the redacted bundle', (database) => {
  let locker: FilledLocker
  beforeAll(async () => {
    instance = await openEvidenceGateway({ DATABASE_URL: database.url, ENVELOPE_DOMAIN_TAG: TAG })
    locker = await chainOfThree(instance)
    await instance.state(locker, { anchor: (envelope) => memoAnchor(envelope) })
  })
  afterAll(() => instance.close())

  it('ADD-18 T-33 proves the requested files, and names neither the receipt nor other files', async () => {
    const text = await redacted(locker.receipt_id, ['c.txt', 'a.txt', 'c.txt'])
    for (const hidden of [locker.receipt_id, locker.locker_id, 'b.txt', '/v1/r/']) expect(text).not.toContain(hidden)
    const bundle: RedactedBundle = JSON.parse(text)
    expect(schemaCheck(redactedBundle.responses[200])(bundle)).toBeNull()
    expect(bundle.files?.map(({ filename, leaf_index }) => [filename, leaf_index])).toEqual([
      ['a.txt', 0],
      ['c.txt', 2],
    ])
    expect(bundle.how_to_verify[2]).toContain(TAG)
    for (const step of bundle.how_to_verify) expect(step).toMatch(/^[A-Z].*[^.]\.$/)
    const { failed, facts, redacted: report } = await verify(text)
    expect(failed).toEqual([])
    expect(facts).toMatchObject({ inclusion_proven: { value: 'passed' }, key_pinned: { value: 'passed' } })
    expect(report?.leftOut[0]).toContain('1 of 3 files')
  })

  it('ADD-18 T-33 shows the leaves of all files and no name when no file is requested', async () => {
    const text = await redacted(locker.receipt_id)
    for (const hidden of [locker.receipt_id, locker.locker_id, '.txt', '/v1/r/']) expect(text).not.toContain(hidden)
    expect(schemaCheck(redactedBundle.responses[200])(JSON.parse(text))).toBeNull()
    const { failed, facts } = await verify(text)
    expect(failed).toEqual([])
    expect(facts.merkle_root_matches.value).toBe('passed')
  })

  it('ADD-18 equals the bundle that a client redacts offline from the whole one', async () => {
    const whole = await instance.get<EvidenceBundle>('/v1/storage/evidence-bundle', { receipt_id: locker.receipt_id })
    expect(whole.anchor).not.toBeNull()
    for (const filenames of [undefined, ['b.txt']]) {
      const pieces: string[] = []
      const options = { domainTag: TAG, ...(filenames && { filenames }) }
      await redactBundle([utf8(JSON.stringify(whole))], (piece) => void pieces.push(piece), options)
      expect(JSON.parse(pieces.join(''))).toEqual(JSON.parse(await redacted(locker.receipt_id, filenames)))
    }
  })

  const refused = async (
    status: number,
    code: string,
    ...[receiptId, filenames, more]: Parameters<typeof read>
  ): Promise<{ hint?: string; details?: object }> => {
    const { response, text } = await read(receiptId, filenames, more)
    const body = JSON.parse(text)
    expectRefusal({ status: response.status, headers: response.headers, body }, status, code)
    expect(response.headers.get('cache-control')).toBe('no-store')
    return body
  }

  it('ADD-18 T-33 names the requested file that is not in the statement, and reveals nothing about others', async () => {
    const { details } = await refused(404, 'FILE_NOT_ATTESTED', locker.receipt_id, ['a.txt', 'z.txt'])
    expect(details).toEqual({ filename: 'z.txt' })
    await refused(404, 'FILE_NOT_ATTESTED', locker.receipt_id, ['b.txt'], { sequence: '1' })
  })

  it('ADD-18 T-33 refuses a file whose name contains the receipt or its locker', async () => {
    const locker = await instance.filled({ 'a.txt': 'a' })
    for (const id of [locker.receipt_id, locker.locker_id]) await locker.put(`of-${id}.txt`, 'x')
    await instance.state(locker)
    for (const id of [locker.receipt_id, locker.locker_id])
      await refused(422, 'validation_error', locker.receipt_id, ['a.txt', `of-${id}.txt`])
    expect(await redacted(locker.receipt_id)).not.toContain(locker.receipt_id)
  })

  it('ADD-18 accepts at most a hundred names, none of them empty', async () => {
    const { receipt_id } = await chainOfThree(instance)
    const names = Array.from({ length: MAX_CHOSEN_FILES + 1 }, (_, i) => `${i}`)
    await refused(422, 'validation_error', receipt_id, names)
    await refused(422, 'validation_error', receipt_id, ['a.txt', ''])
    await refused(422, 'validation_error', receipt_id, ['x'.repeat(513)])
  })
})
