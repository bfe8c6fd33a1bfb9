import { forEachDatabase } from '@svc/devnet/databases'
import { concat, toBase58, toBase64Url, utf8 } from '@svc/protocol/bytes'
import { canonicalJson, type Json } from '@svc/protocol/canonical'
import { ed25519Signer } from '@svc/protocol/keys'
import type { RequestEnvelope } from '@svc/protocol/request-envelope'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { draft, type SignedPair } from './drafts.ts'
import { ed25519Identity, expectRefusal, type LockerHouse, openLockerHouse, type TestLocker } from './lockers.ts'
import { sendRaw } from './send-raw.ts'

const seed = new Uint8Array(32).fill(3)
const signer = ed25519Signer(seed)
const OTHER_TYPES = { null: null, boolean: true, number: 5, float: 1.5, text: 'x', array: [], object: {} }

/** Wrong values of each field. Leaving a field out is wrong too. */
type Field = Exclude<keyof RequestEnvelope, 'aud'>

const WRONG: Record<Field, unknown[]> = {
  v: [null, true, 0, -1, 1.5, '', '0', '01', ' 1', '1x', '1.0', 1e10, [1], {}],
  locker_id: wrongTypesBut('text'),
  receipt_id: wrongTypesBut('text'),
  nonce: [
    ...wrongTypesBut('text'),
    '',
    'a0'.repeat(15),
    'a0'.repeat(17),
    'A0'.repeat(16),
    `0x${'a0'.repeat(15)}`,
    'é'.repeat(32),
  ],
  iat: [...wrongTypesBut('number'), '1', -1, 2 ** 53],
  exp: [...wrongTypesBut('number'), '1', -1, 2 ** 53],
  ops: [...wrongTypesBut('array'), [1], [null], [['locker:read']]],
  method: wrongTypesBut('text'),
  path: wrongTypesBut('text'),
  body_sha256: [...wrongTypesBut('text'), 'e3', 'E3'.repeat(32), `sha256:${'e3'.repeat(32)}`],
  sig_alg: [...wrongTypesBut('text'), '', 'none', 'Ed25519', 'ed25519 ', 'HS256', 'toString', '__proto__'],
}

function wrongTypesBut(right: keyof typeof OTHER_TYPES): unknown[] {
  return Object.entries(OTHER_TYPES).flatMap(([type, value]) => (type === right ? [] : [value]))
}

let house: LockerHouse
let locker: TestLocker
async function open(variables: Record<string, string> = {}): Promise<void> {
  house = await openLockerHouse(variables)
  locker = await house.locker(ed25519Identity(seed))
}

const recordTarget = () => `/v1/lockers/${locker.lockerId}/record`
function envelopeOf(changes: Record<string, unknown> = {}, target = recordTarget()): Record<string, unknown> {
  const { envelope } = draft(house, locker, { method: 'GET', target, ops: ['locker:read'] })
  return { ...envelope, ...changes }
}
const jsonOf = (changes?: Record<string, unknown>) => canonicalJson(envelopeOf(changes) as Json)
const signed = (bytes: Uint8Array): SignedPair => ({
  'x-svc-envelope': toBase64Url(bytes),
  'x-svc-signature': toBase58(signer.sign(bytes)),
})
const send = (headers: Record<string, string | string[]>) =>
  sendRaw(house.gateway.url, { method: 'GET', target: recordTarget(), headers })
const sendBytes = (bytes: Uint8Array) => send({ ...signed(bytes) })
const sendText = (text: string) => sendBytes(utf8(text))

/**
 * The header contains an underscore, which three question marks give at any offset in base64url, and ends with a
 * character that has unused bits.
 */
function signedForSpoiling(): SignedPair {
  let text = jsonOf({ x: '???' })
  while (text.length % 3 !== 1) text += ' '
  return signed(utf8(text))
}

describe('hostile envelopes', () => {
  beforeAll(() => open())
  afterAll(() => house.close())

  describe('their JSON', () => {
    it.each<[string, (json: string) => string | Uint8Array]>([
      ['another order and white space', (json) => ` \r\n\t${JSON.stringify(reversed(json), null, 2)}\n `],
      ['numbers as 1.0 and 1e0', (json) => json.replace('"v":1', '"v":1.0').replace(/("iat":\d+)/, '$1.0e0')],
      ['escapes', (json) => json.replace('"GET"', '"\\u0047\\u0045T"').replace('"ops"', '"\\u006fps"')],
      ['fields of its own', (json) => json.replace('{', '{"é😀":[{}],"constructor":1,"__proto__":{"sig_alg":"none"},')],
      ['4096 bytes', (json) => json.replace('{', `{"x":"${'x'.repeat(4096 - json.length - 7)}",`)],
      ['32 levels', (json) => json.replace('{', `{"x":${'['.repeat(31)}${']'.repeat(31)},`)],
    ])('ENV-23 accepts envelopes with %s, because the exact bytes were signed', async (_, write) => {
      const written = write(jsonOf())
      const answer = await (typeof written === 'string' ? sendText(written) : sendBytes(written))
      expect([answer.status, answer.body]).toMatchObject([200, { locker_id: locker.lockerId }])
    })

    it.each<[string, (json: string) => string | Uint8Array]>([
      ['a key twice', (json) => json.replace('{', '{"v":1,')],
      ['a key twice, once escaped', (json) => json.replace('{', '{"\\u0076":1,')],
      ['an inner key twice', (json) => json.replace('{', '{"x":{"a":1,"a":1},')],
      ['33 levels', (json) => json.replace('{', `{"x":${'['.repeat(32)}${']'.repeat(32)},`)],
      ['4097 bytes', (json) => json.replace('{', `{"x":"${'x'.repeat(4096 - json.length - 6)}",`)],
      ['a byte order mark', (json) => `\ufeff${json}`],
      ['bytes that are not UTF-8', (json) => spliced(json, Uint8Array.of(0xff))],
      ['an overlong NUL', (json) => spliced(json, Uint8Array.of(0xc0, 0x80))],
      ['a surrogate in UTF-8', (json) => spliced(json, Uint8Array.of(0xed, 0xa0, 0x80))],
      ['a raw NUL', (json) => spliced(json, Uint8Array.of(0))],
      ['a raw line end in a string', (json) => json.replace('"GET"', '"GE\nT"')],
      ['a number beyond a double', (json) => json.replace('"v":1', '"v":1e999')],
      ['a number that is none', (json) => json.replace('"v":1', '"v":NaN')],
      ['a leading zero', (json) => json.replace('"v":1', '"v":01')],
      ['a trailing comma', (json) => json.replace(/}$/, ',}')],
      ['a comment', (json) => `${json}//`],
      ['two documents', (json) => json + json],
      ['UTF-16', (json) => Buffer.from(json, 'utf16le')],
      ['nothing but a brace', () => '{'],
    ])('ENV-01 ENV-17 ADD-05 refuses envelopes with %s', async (_, write) => {
      const written = write(jsonOf())
      const answer = await (typeof written === 'string' ? sendText(written) : sendBytes(written))
      expectRefusal(answer, 403, 'SIGNATURE_INVALID')
    })

    it.each(['null', '5', '"{}"', '[]', 'true'])(
      'ENV-04 GEN-08 answers 422 to %s in place of an envelope',
      async (text) => {
        const answer = await sendText(text)
        expectRefusal(answer, 422, 'validation_error')
        expect(answer.body).toMatchObject({ detail: [{ loc: ['header', 'X-Svc-Envelope'] }] })
      },
    )

    it.each(Object.keys(WRONG) as Field[])(
      'ENV-04 ENV-16 GEN-08 names the field %s when its value is wrong',
      async (field) => {
        const missing = envelopeOf()
        delete missing[field]
        const inherited = { ...missing, x: 1 }
        const texts = [
          JSON.stringify(missing),
          JSON.stringify(inherited).replace('{', `{"__proto__":${jsonOf()},`),
          ...WRONG[field].map((value) => JSON.stringify(envelopeOf({ [field]: value }))),
        ]
        for (const text of texts) {
          const answer = await sendText(text)
          expectRefusal(answer, 422, 'validation_error')
          expect(answer.body).toMatchObject({ detail: [{ loc: ['header', 'X-Svc-Envelope', field] }] })
        }
      },
    )

    it('ENV-14 accepts huge numbers as times, and refuses them by their value', async () => {
      const at = (iat: number, exp: number) => sendText(jsonOf({ iat, exp }))
      expectRefusal(await at(0, Number.MAX_SAFE_INTEGER), 403, 'ENVELOPE_LIFETIME_INVALID')
      expectRefusal(await at(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER), 403, 'ENVELOPE_NOT_YET_VALID')
      expectRefusal(await at(Number.MAX_SAFE_INTEGER, 0), 403, 'EXPIRED_ENVELOPE')
      expectRefusal(await sendText(jsonOf().replace(/"iat":\d+/, '"iat":-0')), 403, 'ENVELOPE_LIFETIME_INVALID')
    })
  })

  describe('their encoding', () => {
    it.each<[string, (header: string) => string]>([
      ['padding', (header) => `${header}==`],
      ['the other alphabet', (header) => header.replaceAll('-', '+').replaceAll('_', '/')],
      ['bits of no byte', nextCharacter],
      ['a space inside', (header) => `${header.slice(0, 8)} ${header.slice(8)}`],
      ['a percent sign', (header) => header.replace(/^./, '%65')],
      ['a character cut off', (header) => header.slice(0, -1)],
      ['another beside it', (header) => `${header},${header}`],
      ['quotes', (header) => `"${header}"`],
      ['a letter that is not ASCII', (header) => `${header}é`],
      ['10 kB', (header) => header.repeat(20).slice(0, 10_000)],
    ])('ENV-01 ERR-10 refuses envelopes with %s', async (_, spoil) => {
      expect((await send({ ...signedForSpoiling() })).status).toBe(200)
      const { 'x-svc-envelope': header, 'x-svc-signature': signature } = signedForSpoiling()
      const spoilt = spoil(header)
      expect(spoilt).not.toBe(header)
      expectRefusal(await send({ 'x-svc-envelope': spoilt, 'x-svc-signature': signature }), 403, 'SIGNATURE_INVALID')
    })

    it('ENV-01 ENV-17 accepts neither of two headers with the same name', async () => {
      const good = () => signed(utf8(jsonOf()))
      const { 'x-svc-envelope': envelope, 'x-svc-signature': signature } = good()
      const other = good()
      for (const headers of [
        { 'x-svc-envelope': [envelope, envelope], 'x-svc-signature': signature },
        { 'x-svc-envelope': envelope, 'x-svc-signature': [signature, signature] },
        { 'x-svc-envelope': [envelope, other['x-svc-envelope']], 'x-svc-signature': signature },
        { 'x-svc-envelope': envelope, 'x-svc-signature': ['1', signature] },
      ]) {
        expectRefusal(await send(headers), 403, 'SIGNATURE_INVALID')
      }
      expect((await send({ ...good() })).status).toBe(200)
    })

    it('T-11 refuses 100 kB of headers with 431', async () => {
      expectRefusal(
        await send({ 'x-svc-envelope': 'A'.repeat(100_000), 'x-svc-signature': '1' }),
        431,
        'headers_too_large',
      )
    })
  })
})

forEachDatabase('envelopes with text that a database cannot store', (database) => {
  beforeAll(() => open({ DATABASE_URL: database.url }))
  afterAll(() => house.close())

  it.each(['\\u0000', 'locker\\u0000', '\\ud800', 'a\\udfff'])(
    'ENV-04 GEN-08 answers 422 to %s in every field',
    async (text) => {
      for (const field of ['locker_id', 'receipt_id', 'method', 'path']) {
        const json = jsonOf({ locker_id: '', [field]: 'HERE' }).replace('HERE', text)
        const headers = signed(utf8(json))
        const answer = await sendRaw(house.gateway.url, {
          method: 'POST',
          target: '/v1/storage/refresh',
          headers: { ...headers },
        })
        expectRefusal(answer, 422, 'validation_error')
        expect(answer.body).toMatchObject({ detail: [{ loc: ['header', 'X-Svc-Envelope', field] }] })
        const provision = { method: 'POST', target: '/v1/storage/signed_provision', headers: { ...headers } }
        expectRefusal(await sendRaw(house.gateway.url, provision), 422, 'validation_error')
      }
      expectRefusal(await sendText(jsonOf({ ops: ['HERE'] }).replace('HERE', text)), 422, 'validation_error')
    },
  )

  it('T-04 a bad id does not affect requests that are looked up in the same batch', async () => {
    const bad = utf8(jsonOf({ locker_id: 'HERE', receipt_id: '' }).replace('HERE', '\\u0000'))
    const attack = { method: 'POST', target: '/v1/storage/refresh', headers: { ...signed(bad) } }
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? sendText(jsonOf()) : sendRaw(house.gateway.url, attack))),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map((_, i) => (i % 2 ? 200 : 422)))
  })
})

function reversed(json: string): unknown {
  return Object.fromEntries(Object.entries(JSON.parse(json)).reverse())
}

/** With these bytes inside a string. */
function spliced(json: string, bytes: Uint8Array): Uint8Array {
  const at = json.indexOf('GET')
  return concat(utf8(json.slice(0, at)), bytes, utf8(json.slice(at)))
}

function nextCharacter(header: string): string {
  return header.slice(0, -1) + String.fromCharCode(header.charCodeAt(header.length - 1) + 1)
}
