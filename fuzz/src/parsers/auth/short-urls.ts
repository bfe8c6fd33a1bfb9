// Tokens of short URLs. An example is a token, or JSON that the gateway's own key signs.

import { concat, toBase64Url } from '@svc/protocol/bytes'
import { CanonicalJsonError } from '@svc/protocol/canonical'
import { type Ed25519Verifier, ed25519PublicKey, ed25519Signer } from '@svc/protocol/keys'
import { mintToken, readToken } from '@svc/protocol/short-url'
import { accepted, json, latin1, must, mustEqual, type Parser } from '../engine/parser.ts'

const signer = ed25519Signer(new Uint8Array(32).fill(5))
const key = ed25519PublicKey(signer.publicKey) as Ed25519Verifier

export function open(): Parser {
  const fields = { expires: 1_800_000_000, lockerId: 'locker_0123456789ab', nonce: 'ab', provider: 1 }
  const tokens = [
    mintToken({ ...fields, method: 'GET', filename: 'a/é.txt' }, signer),
    mintToken({ ...fields, method: 'PUT', filename: 'b', minted: { by: 'cd', epoch: 7 } }, signer),
  ]
  const genuine = new Set(tokens)
  return {
    seeds: [
      ...tokens,
      '{"e":1800000000,"f":"a.txt","l":"locker_0123456789ab","m":"GET","n":"ab","p":1,"v":1}',
      '{"a":7,"e":1800000000,"h":"abcdef","k":"cd","l":"locker_0123456789ab","m":"DELETE","n":"ab","p":1,"v":1}',
    ],
    words: ['-', '_', '=', 'A', 'GET', 'PUT', 'DELETE', 'a', 'e', 'f', 'h', 'k', 'l', 'm', 'n', 'p', 'v'],
    isJson: true,
    maxBytes: 8192,
    check(input) {
      const token = latin1(input)
      must(readToken(token, key) === null || genuine.has(token), 'a token that was never made opens something')
      const payload = json(input)
      if (payload === undefined) return
      const bytes = Buffer.from(JSON.stringify(payload))
      const read = readToken(toBase64Url(concat(bytes, signer.sign(bytes))), key)
      if (!read || !('filename' in read)) return
      const again = accepted(CanonicalJsonError, () => mintToken(read, signer))
      if (again !== null) mustEqual(readToken(again, key), read, 'a token is another one when it is made again')
    },
  }
}
