// Tokens of short URLs. An example is a token, or JSON that the gateway's own key signs.

import { problemWith } from '@svc/devnet/properties/made-up-input'
import { accepted, json, latin1, must, mustEqual } from '@svc/devnet/properties/rules'
import { expect, it } from 'vitest'
import { concat, toBase64Url } from '../src/bytes.ts'
import { CanonicalJsonError } from '../src/canonical.ts'
import { type Ed25519Verifier, ed25519PublicKey, ed25519Signer } from '../src/keys.ts'
import { mintToken, readToken } from '../src/short-url.ts'

const signer = ed25519Signer(new Uint8Array(32).fill(5))
const key = ed25519PublicKey(signer.publicKey) as Ed25519Verifier

it('T-129 T-52 no made-up input breaks the rules of short URLs', async () => {
  const fields = { expires: 1_800_000_000, lockerId: 'locker_0123456789ab', nonce: 'ab', provider: 1 }
  const tokens = [
    mintToken({ ...fields, method: 'GET', filename: 'a/é.txt' }, signer),
    mintToken({ ...fields, method: 'PUT', filename: 'b', minted: { by: 'cd', epoch: 7 } }, signer),
  ]
  const genuine = new Set(tokens)
  expect(
    await problemWith({
      examples: [
        ...tokens,
        '{"e":1800000000,"f":"a.txt","l":"locker_0123456789ab","m":"GET","n":"ab","p":1,"v":1}',
        '{"a":7,"e":1800000000,"h":"abcdef","k":"cd","l":"locker_0123456789ab","m":"DELETE","n":"ab","p":1,"v":1}',
      ],
      words: ['-', '_', '=', 'A', 'GET', 'PUT', 'DELETE', 'a', 'e', 'f', 'h', 'k', 'l', 'm', 'n', 'p', 'v'],
      isJson: true,
      maxBytes: 8192,
      rule(input) {
        const token = latin1(input)
        must((readToken(token, key) !== null) === genuine.has(token), 'accepts a token that was not made')
        const payload = json(input)
        if (payload === undefined) return
        const bytes = Buffer.from(JSON.stringify(payload))
        const read = readToken(toBase64Url(concat(bytes, signer.sign(bytes))), key)
        if (!read || !('filename' in read)) return
        const again = accepted(CanonicalJsonError, () => mintToken(read, signer))
        if (again !== null) mustEqual(readToken(again, key), read, 'a token differs when it is made again')
      },
    }),
  ).toBeNull()
})
