import { type RedactedBundle, redactedBundle } from '@svc/api/proofs'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { toHex, utf8 } from '@svc/protocol/bytes'
import { schemaCheck } from '@svc/service/http/validate'
import { readPinnedKeys } from '@svc/verifier/pinned-keys'
import { verifyBundle } from '@svc/verifier/verify-bundle'
import { expect, it } from 'vitest'
import { share } from '../../adapters/http/shares/shares.ts'
import { sha256 } from '../../adapters/http/transfers.ts'
import { attest } from '../../evidence/attest.ts'

const instance = forAllTests(openTestGateway)
const locker = forEachTest(async () => {
  const made = await instance.locker(ed25519Identity())
  await made.put('photos/a.txt', 'one')
  await made.put('photos/b.txt', 'two')
  await made.put('other.txt', 'three')
  return made
})

const ask = (id: string, filename: string) => instance.send<RedactedBundle>('GET', `/v1/shares/${id}/proof/${filename}`)

async function expectNotProven(id: string, status: number, code: string): Promise<void> {
  const refused = await ask(id, 'a.txt')
  expectRefusal(refused, status, code)
  expect(JSON.stringify(refused.body)).not.toMatch(/rcpt_|locker_|photos/)
}

it.each(['photos/', 'photos/a.txt'])(
  'ADD-61 ADD-18 the proof of a file of %s verifies, and names nothing else',
  async (path) => {
    await attest(instance, locker)
    const { id } = await share(locker, path)
    const { status, body, headers } = await ask(id, 'a.txt')
    expect(status, JSON.stringify(body)).toBe(200)
    expect(headers.get('cache-control')).toBe('private, no-store')
    expect(schemaCheck(redactedBundle.responses[200])(body)).toBeNull()
    expect(body.files).toMatchObject([{ filename: 'photos/a.txt', content_hash: sha256('one') }])
    const text = JSON.stringify(body)
    for (const hidden of [locker.receiptId, locker.lockerId, 'b.txt', 'other.txt', '/v1/r/'])
      expect(text).not.toContain(hidden)
    const { config, signers } = instance.gateway.context
    const pinned = readPinnedKeys(toHex(signers.statement.publicKey))
    if (!pinned.ok) throw new Error(pinned.problem)
    const options = { pinnedKeys: pinned.keys, domainTag: config.evidence.domainTag }
    const verification = await verifyBundle([utf8(text)], options)
    if (verification.refused) throw new Error(verification.refused.why)
    expect(verification.failed).toEqual([])
    expect(verification.facts).toMatchObject({ inclusion_proven: { value: 'passed' }, key_pinned: { value: 'passed' } })
  },
)

it('ADD-61 there is no proof before a statement, of a newer file, and of earlier bytes', async () => {
  const { id } = await share(locker, 'photos/')
  await expectNotProven(id, 409, 'attestation_not_available')
  await attest(instance, locker)
  expect((await ask(id, 'a.txt')).status).toBe(200)
  await locker.put('photos/a.txt', 'one, changed')
  await expectNotProven(id, 404, 'FILE_NOT_ATTESTED')
  await locker.put('photos/c.txt', 'new')
  expectRefusal(await ask(id, 'c.txt'), 404, 'FILE_NOT_ATTESTED')
  expectRefusal(await ask(id, 'none.txt'), 404, 'FILE_NOT_FOUND')
  expectRefusal(await ask(id, 'other.txt'), 404, 'FILE_NOT_FOUND')
})
