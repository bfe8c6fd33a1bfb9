import { forEachDatabase } from '@svc/devnet/databases'
import {
  ed25519Identity,
  expectRefusal,
  openTestGateway,
  type TestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { toBase58, toBase64Url, utf8 } from '@svc/protocol/bytes'
import { canonicalJson, type Json } from '@svc/protocol/canonical'
import { ed25519Signer } from '@svc/protocol/keys'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { draft, type SignedPair } from './drafts.ts'
import { sendRaw } from './send-raw.ts'

const seed = new Uint8Array(32).fill(3)
const signer = ed25519Signer(seed)

let instance: TestGateway
let locker: TestLocker
async function open(variables: Record<string, string> = {}): Promise<void> {
  instance = await openTestGateway(variables)
  locker = await instance.locker(ed25519Identity(seed))
}

const recordTarget = () => `/v1/lockers/${locker.lockerId}/record`
function envelopeOf(changes: Record<string, unknown> = {}, target = recordTarget()): Record<string, unknown> {
  const { envelope } = draft(instance, locker, { method: 'GET', target, ops: ['locker:read'] })
  return { ...envelope, ...changes }
}
const jsonOf = (changes?: Record<string, unknown>) => canonicalJson(envelopeOf(changes) as Json)
const signed = (bytes: Uint8Array): SignedPair => ({
  'x-svc-envelope': toBase64Url(bytes),
  'x-svc-signature': toBase58(signer.sign(bytes)),
})
const send = (headers: Record<string, string | string[]>) =>
  sendRaw(instance.gateway.url, { method: 'GET', target: recordTarget(), headers })
const sendText = (text: string) => send({ ...signed(utf8(text)) })

describe('hostile envelopes', () => {
  beforeAll(() => open())
  afterAll(() => instance.close())

  it.each<[string, (json: string) => string]>([
    ['another order and white space', (json) => ` \r\n\t${JSON.stringify(reversed(json), null, 2)}\n `],
    ['unknown fields', (json) => json.replace('{', '{"é😀":[{}],"constructor":1,"__proto__":{"sig_alg":"none"},')],
    ['4096 bytes', (json) => json.replace('{', `{"x":"${'x'.repeat(4096 - json.length - 7)}",`)],
  ])('ENV-23 accepts envelopes with %s, because the exact bytes were signed', async (_, write) => {
    const answer = await sendText(write(jsonOf()))
    expect([answer.status, answer.body]).toMatchObject([200, { locker_id: locker.lockerId }])
  })

  it('ADD-05 ERR-10 refuses anything but the JSON of an envelope in base64url', async () => {
    expectRefusal(await sendText(jsonOf().replace('{', '{"v":1,')), 403, 'SIGNATURE_INVALID')
    const { 'x-svc-envelope': header, ...signature } = signed(utf8(jsonOf()))
    expectRefusal(await send({ 'x-svc-envelope': `${header}=`, ...signature }), 403, 'SIGNATURE_INVALID')
  })

  it('ENV-04 ENV-16 names the field whose value is wrong', async () => {
    for (const [text, field] of [
      ['[]', []],
      [jsonOf({ nonce: 'a0' }), ['nonce']],
    ] as const) {
      const answer = await sendText(text)
      expectRefusal(answer, 422, 'validation_error')
      expect(answer.body).toMatchObject({ detail: [{ loc: ['header', 'X-Svc-Envelope', ...field] }] })
    }
  })

  it('ENV-14 accepts huge numbers as times, and refuses them by their value', async () => {
    const at = (iat: number, exp: number) => sendText(jsonOf({ iat, exp }))
    expectRefusal(await at(0, Number.MAX_SAFE_INTEGER), 403, 'ENVELOPE_LIFETIME_INVALID')
    expectRefusal(await at(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER), 403, 'ENVELOPE_NOT_YET_VALID')
    expectRefusal(await at(Number.MAX_SAFE_INTEGER, 0), 403, 'EXPIRED_ENVELOPE')
  })

  it('ENV-01 ENV-17 accepts neither of two headers with the same name', async () => {
    const { 'x-svc-envelope': envelope, 'x-svc-signature': signature } = signed(utf8(jsonOf()))
    for (const headers of [
      { 'x-svc-envelope': [envelope, envelope], 'x-svc-signature': signature },
      { 'x-svc-envelope': envelope, 'x-svc-signature': ['1', signature] },
    ]) {
      expectRefusal(await send(headers), 403, 'SIGNATURE_INVALID')
    }
  })

  it('T-11 refuses 100 kB of headers with 431', async () => {
    const headers = { 'x-svc-envelope': 'A'.repeat(100_000), 'x-svc-signature': '1' }
    expectRefusal(await send(headers), 431, 'headers_too_large')
  })
})

forEachDatabase('envelopes with text that a database cannot store', (database) => {
  beforeAll(() => open({ DATABASE_URL: database.url }))
  afterAll(() => instance.close())

  it.each(['\\u0000', 'a\\udfff'])('ENV-04 GEN-08 answers 422 to %s in every field', async (text) => {
    for (const field of ['locker_id', 'receipt_id', 'method', 'path']) {
      const json = jsonOf({ locker_id: '', [field]: 'HERE' }).replace('HERE', text)
      const headers = signed(utf8(json))
      const answer = await sendRaw(instance.gateway.url, {
        method: 'POST',
        target: '/v1/storage/refresh',
        headers: { ...headers },
      })
      expectRefusal(answer, 422, 'validation_error')
      expect(answer.body).toMatchObject({ detail: [{ loc: ['header', 'X-Svc-Envelope', field] }] })
      const provision = { method: 'POST', target: '/v1/storage/signed_provision', headers: { ...headers } }
      expectRefusal(await sendRaw(instance.gateway.url, provision), 422, 'validation_error')
    }
    expectRefusal(await sendText(jsonOf({ ops: ['HERE'] }).replace('HERE', text)), 422, 'validation_error')
  })

  it('T-04 a bad id does not affect requests that are looked up in the same batch', async () => {
    const bad = utf8(jsonOf({ locker_id: 'HERE', receipt_id: '' }).replace('HERE', '\\u0000'))
    const attack = { method: 'POST', target: '/v1/storage/refresh', headers: { ...signed(bad) } }
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? sendText(jsonOf()) : sendRaw(instance.gateway.url, attack))),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map((_, i) => (i % 2 ? 200 : 422)))
  })
})

function reversed(json: string): unknown {
  return Object.fromEntries(Object.entries(JSON.parse(json)).reverse())
}
