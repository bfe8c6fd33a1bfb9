// The two headers of a signed request. An example is JSON: the envelope, which is then signed, and the request.

import { problemWith } from '@svc/devnet/properties/made-up-input'
import { accepted, json, latin1, must, mustEqual } from '@svc/devnet/properties/rules'
import { toBase58, toBase64Url, utf8 } from '@svc/protocol/bytes'
import { CanonicalJsonError } from '@svc/protocol/canonical'
import { type Ed25519Verifier, ed25519PublicKey, ed25519Signer } from '@svc/protocol/keys'
import { decodeEnvelope, encodeEnvelope, isPersonallySignedBy, isSignedBy } from '@svc/protocol/request-envelope'
import { expect, it } from 'vitest'
import { readEnvelope, requireEnvelopeHeaders, requireMatchingEnvelope } from '../../src/http/envelope.ts'
import type { WireRequest } from '../../src/http/wire-request.ts'
import { ServiceError } from '../../src/service-error.ts'

const NOW = 1_800_000_000
const signer = ed25519Signer(new Uint8Array(32).fill(3))
const key = ed25519PublicKey(signer.publicKey) as Ed25519Verifier

const ENVELOPE = {
  v: 1,
  locker_id: 'locker_0123456789ab',
  receipt_id: `rcpt_${'0'.repeat(32)}`,
  nonce: '00112233445566778899aabbccddeeff',
  iat: NOW,
  exp: NOW + 60,
  ops: ['locker:read'],
  method: 'GET',
  path: '/v1/lockers/locker_0123456789ab/files/a%C3%A9.txt',
  body_sha256: '',
  sig_alg: 'ed25519',
}
const REQUEST = { method: 'GET', target: `${ENVELOPE.path}?x=1`, body: '' }
const ADDRESS = '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf'

it('T-129 T-52 no made-up input breaks the rules of request envelopes', async () => {
  expect(
    await problemWith({
      examples: [
        JSON.stringify({ envelope: ENVELOPE, request: REQUEST }),
        JSON.stringify({
          envelope: { ...ENVELOPE, v: '1', method: 'POST', sig_alg: 'secp256k1', aud: 'https://gateway.example' },
          request: { ...REQUEST, method: 'POST', body: '{}' },
        }),
        toBase64Url(utf8(JSON.stringify(ENVELOPE))),
      ],
      words: [...'locker:write locker:admin POST %2F % ? // /../ secp256k1 0x'.split(' '), ...Object.keys(ENVELOPE)],
      isJson: true,
      rule(input) {
        checkHeader(latin1(input), latin1(input))
        const example = json(input) as { envelope?: unknown; request?: Partial<typeof REQUEST> } | undefined
        if (typeof example !== 'object' || example === null) return
        const bytes = Buffer.from(JSON.stringify(example.envelope) ?? '')
        const header = toBase64Url(bytes)
        checkHeader(header, toBase58(signer.sign(bytes)))
        const { method = 'GET', target = '/', body = '' } = { ...example.request }
        if (![method, target, body].every((part) => typeof part === 'string')) return
        checkRequest({ ...wire(header, 'x'), method, target, body: Buffer.from(body), hasBody: body !== '' })
      },
    }),
  ).toBeNull()
})

function wire(envelope: string, signature: string): WireRequest {
  const headers = { 'x-svc-envelope': envelope, 'x-svc-signature': signature }
  const request = { id: '1', method: 'GET', target: '/', headers, body: new Uint8Array(), hasBody: false }
  return { ...request, clientAddress: '127.0.0.1' } as unknown as WireRequest // nothing here reads the stream
}

function checkHeader(header: string, signature: string): void {
  const decoded = decodeEnvelope(header)
  if (!decoded.ok) return
  const { envelope, bytes } = decoded
  must(toBase64Url(bytes) === header, 'two headers have the same bytes')
  must(Number.isSafeInteger(envelope.exp) && envelope.ops.every((op) => typeof op === 'string'), 'has other types')
  isPersonallySignedBy(ADDRESS, bytes, signature)
  const isSigned = signature === toBase58(signer.sign(bytes))
  must(isSignedBy(key, bytes, signature) === isSigned, "a signature is not the key's signature")
  const written = accepted(CanonicalJsonError, () => encodeEnvelope(envelope))
  if (!written) return
  const again = decodeEnvelope(toBase64Url(written))
  must(again.ok, 'an envelope is rejected when it is written again')
  mustEqual(again.ok && encodeEnvelope(again.envelope), written, 'an envelope changes when it is read again')
}

function checkRequest(request: WireRequest): void {
  try {
    requireEnvelopeHeaders(request)
    const { envelope } = readEnvelope(request)
    requireMatchingEnvelope(envelope, request, ['locker:read', ['locker:write', 'locker:admin']], NOW)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    must(error.status >= 400 && error.status < 500, `a bad envelope is answered with ${error.status}`)
    JSON.stringify(error.body('1'))
  }
}
