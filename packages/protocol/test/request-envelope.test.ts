import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toBase64Url, utf8 } from '../src/bytes.ts'
import { canonicalJson, type Json } from '../src/canonical.ts'
import { ed25519PublicKey, ed25519Signer } from '../src/keys.ts'
import {
  bodyBinding,
  decodeEnvelope,
  EMPTY_BODY_SHA256,
  encodeEnvelope,
  envelopeRejection,
  isSamePath,
  isSignedBy,
  type RequestEnvelope,
  signEnvelope,
} from '../src/request-envelope.ts'

const now = 1_781_222_400
const body = utf8('{"filename":"a"}')
const good: RequestEnvelope = {
  v: 1,
  locker_id: 'locker_14fa9d190572',
  receipt_id: 'rcpt_test_0001',
  nonce: 'a0'.repeat(16),
  iat: now,
  exp: now + 60,
  ops: ['locker:write'],
  method: 'POST',
  path: '/v1/lockers/locker_14fa9d190572/files',
  body_sha256: bodyBinding('POST', body),
  sig_alg: 'ed25519',
}
const request = { method: 'POST', target: good.path, body, requiredOps: ['locker:write'], now: now + 1 }
const header = (value: unknown) => toBase64Url(utf8(JSON.stringify(value)))

describe('decoding', () => {
  it('ENV-01 ENV-04 returns the encoded envelope', { tags: ['nightly'] }, () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 })
    fc.assert(
      fc.property(text, text, fc.array(text, { maxLength: 3 }), fc.nat(), (locker_id, path, ops, iat) => {
        const envelope = { ...good, locker_id, path, ops, iat }
        expect(decodeEnvelope(toBase64Url(encodeEnvelope(envelope)))).toMatchObject({ ok: true, envelope })
      }),
    )
  })

  it.each([
    ['padding', `${toBase64Url(utf8('{}'))}=`],
    ['not UTF-8', toBase64Url(Uint8Array.of(0xff, 0xfe))],
    ['not JSON', toBase64Url(utf8('{'))],
    ['a duplicate key', toBase64Url(utf8(canonicalJson(good as unknown as Json).replace('{', '{"v":1,')))],
    ['deep nesting', toBase64Url(utf8('['.repeat(33) + ']'.repeat(33)))],
    ['more than 4 KiB', header({ ...good, path: 'x'.repeat(4096) })],
    ['nothing', ''],
  ])('ENV-01 ENV-17 refuses %s as SIGNATURE_INVALID', (_, value) => {
    expect(decodeEnvelope(value)).toMatchObject({ ok: false, code: 'SIGNATURE_INVALID' })
  })

  it('T-129 returns a validation error for any field that cannot become text', () => {
    for (const field of Object.keys(good).filter((name) => name !== 'aud')) {
      for (const value of [{ toString: 1 }, { toString: null, valueOf: null }, [{ toString: 1 }]])
        expect(decodeEnvelope(header({ ...good, [field]: value })), field).toMatchObject({
          code: 'validation_error',
          field,
        })
    }
  })

  it.each<[field: keyof RequestEnvelope, wrong: unknown[]]>([
    ['v', [0, -1, 1.5, [1], null, '', '01', '1.0', 1e10]],
    ['locker_id', [5]],
    ['receipt_id', [null]],
    ['nonce', ['a0'.repeat(15), 'A0'.repeat(16), 'a0'.repeat(17), 'é'.repeat(32)]],
    ['iat', ['1781222400', 1.5]],
    ['exp', [-1]],
    ['ops', ['locker:write', [1]]],
    ['method', [null]],
    ['path', [{}]],
    ['body_sha256', ['E3'.repeat(32), 'short']],
    ['sig_alg', ['none', 'Ed25519', 'toString', '__proto__']],
  ])('ENV-16 LIM-05 returns a validation error for a wrong or missing %s', (field, wrong) => {
    for (const value of [...wrong, undefined])
      expect(decodeEnvelope(header({ ...good, [field]: value }))).toMatchObject({ code: 'validation_error', field })
    expect(decodeEnvelope(header([]))).toMatchObject({ code: 'validation_error', field: null })
  })

  it('ENV-04 accepts v as digits, and ignores unknown fields', () => {
    expect(decodeEnvelope(header({ ...good, v: '1', extra: true }))).toMatchObject({ ok: true })
  })
})

describe('signature', () => {
  it('ENV-02 ENV-23 is valid only for the exact bytes and the right key', () => {
    const signer = ed25519Signer(new Uint8Array(32).fill(1))
    const key = ed25519PublicKey(signer.publicKey)!
    const otherKey = ed25519PublicKey(ed25519Signer(new Uint8Array(32).fill(2)).publicKey)!
    const { envelope, signature } = signEnvelope(good, signer)
    const decoded = decodeEnvelope(envelope)
    if (!decoded.ok) throw new Error(decoded.message)
    expect(isSignedBy(key, decoded.bytes, signature)).toBe(true)
    expect(isSignedBy(otherKey, decoded.bytes, signature)).toBe(false)
    for (const bad of ['', signature.slice(1), `1${signature}`, '0x00', 'l'.repeat(88)]) {
      expect(isSignedBy(key, decoded.bytes, bad)).toBe(false)
    }
  })
})

describe('the request of an envelope', () => {
  const rejection = (envelope: Partial<RequestEnvelope>, facts: Partial<typeof request> = {}) =>
    envelopeRejection({ ...good, ...envelope }, { ...request, ...facts })

  it('ENV-05 ENV-08 matches its envelope, even with more ops than needed', () => {
    expect(rejection({})).toBeNull()
    expect(rejection({ ops: ['locker:read', 'locker:write'] })).toBeNull()
  })

  it.each([
    ['ENV-14', 'EXPIRED_ENVELOPE', { iat: now - 60, exp: now }],
    ['ENV-14', 'EXPIRED_ENVELOPE', { iat: now - 59, exp: now + 1 }],
    ['ENV-15', 'ENVELOPE_LIFETIME_INVALID', { iat: now, exp: now + 61 }],
    ['ENV-15', 'ENVELOPE_LIFETIME_INVALID', { iat: now + 20, exp: now + 10 }],
    ['ENV-15', 'ENVELOPE_NOT_YET_VALID', { iat: now + 32, exp: now + 60 }],
    ['ENV-05', 'METHOD_MISMATCH', { method: 'PUT' }],
    ['ENV-05', 'METHOD_MISMATCH', { method: 'post' }],
    ['ENV-06', 'PATH_MISMATCH', { path: '/v1/lockers/other/files' }],
    ['ENV-07', 'BODY_HASH_MISMATCH', { body_sha256: EMPTY_BODY_SHA256 }],
    ['ENV-07', 'BODY_HASH_MISMATCH', { body_sha256: '' }],
    ['ENV-09', 'MISSING_OPS', { ops: ['locker:read'] }],
    ['ENV-09', 'MISSING_OPS', { ops: [] }],
  ] as const)('%s gives %s for %j', (_, code, change) => {
    expect(rejection({ ...change, ops: [...((change as { ops?: string[] }).ops ?? good.ops)] })).toBe(code)
  })

  it('ENV-14 ENV-07 is rejected for the first mismatch', () => {
    expect(rejection({ exp: now, method: 'GET', ops: [] })).toBe('EXPIRED_ENVELOPE')
    expect(rejection({ method: 'GET', path: '/', ops: [] })).toBe('METHOD_MISMATCH')
    expect(rejection({ body_sha256: '', ops: [] })).toBe('BODY_HASH_MISMATCH')
  })

  it('ENV-08 binds the empty string and has no body if it is a GET or DELETE', () => {
    for (const method of ['GET', 'DELETE']) {
      const facts = { method, body: new Uint8Array() }
      expect(rejection({ method, body_sha256: '' }, facts)).toBeNull()
      expect(rejection({ method, body_sha256: EMPTY_BODY_SHA256 }, facts)).toBe('BODY_HASH_MISMATCH')
      expect(rejection({ method, body_sha256: '' }, { method, body })).toBe('BODY_HASH_MISMATCH')
    }
  })

  it('ENV-07 ENV-08 binds the hash of no bytes or the empty string if it is a POST without a body', () => {
    for (const body_sha256 of [EMPTY_BODY_SHA256, '']) {
      expect(rejection({ body_sha256 }, { body: new Uint8Array() })).toBeNull()
    }
  })

  it.each([
    ['/v1/a', '/v1/a?receipt_id=x', true],
    ['/v1/a?x=1', '/v1/a?x=1', true],
    ['/v1/a?x=1', '/v1/a?x=2', false],
    ['/v1/a?x=1', '/v1/a', false],
    ['/f/r%C3%A9sum%C3%A9.pdf', '/f/r%c3%a9sum%c3%a9.pdf', true],
    ['/f/résumé.pdf', '/f/r%C3%A9sum%C3%A9.pdf', true],
    ['/f/a%2Fb', '/f/a/b', false],
    ['/f/a%252Fb', '/f/a%2Fb', false],
    ['/f/%2e%2e/x', '/f/../x', true],
    ['/f//a', '/f/a', false],
    ['/f/a/', '/f/a', false],
    ['/f/%zz', '/f/%zy', false],
    ['/f/%ff', '/f/ÿ', false],
    ['/f/x/../a', '/f/a', false],
    ['/f/\u0430', '/f/a', false],
    ['/f/a?', '/f/a', false],
    ['', '/', false],
  ])('ENV-06 compares the path %s with the target %s: %s', (signed, target, same) => {
    expect(isSamePath(signed, target)).toBe(same)
  })
})
