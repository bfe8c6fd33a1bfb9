// Bytes as text: hex, base64, base64url and base58.

import { base58 } from '@scure/base'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { latin1, must, mustEqual, text } from '@svc/devnet/properties/rules'
import { expect, it } from 'vitest'
import { fromBase58, fromBase64, fromBase64Url, fromHex, toBase58, toBase64, toBase64Url, toHex } from '../src/bytes.ts'

const LENGTHS = [0, 1, 32, 33, 64]

it('T-129 no made-up input breaks the rules of byte encodings', async () => {
  const bytes = LENGTHS.map((length) => Uint8Array.from({ length }, (_, i) => i))
  expect(
    await problemWith({
      examples: [...bytes.map(toHex), ...bytes.map(toBase64), ...bytes.map(toBase64Url), ...bytes.map(toBase58)],
      words: ['=', '==', '+', '/', '-', '_', '1', 'z', '0', 'I', 'A', ' ', '\n', '\u017f', '\u212a'],
      maxBytes: 1024,
      rule(input) {
        for (const given of [latin1(input), text(input)]) {
          checkText(given, fromHex(given), toHex, 'hex')
          checkText(given, fromBase64(given), toBase64, 'base64')
          checkText(given, fromBase64Url(given), toBase64Url, 'base64url')
          for (const length of LENGTHS)
            mustEqual(fromBase58(given, length), general(given, length), 'base58 is read differently')
        }
        must(Buffer.from(fromBase64Url(toBase64Url(input))!).equals(input), 'base64url does not decode to its bytes')
      },
    }),
  ).toBeNull()
})

/** Bytes have exactly one text: the one that Node writes. */
function checkText(
  given: string,
  read: Uint8Array | null,
  write: (bytes: Uint8Array) => string,
  name: BufferEncoding,
): void {
  const bytes = Buffer.from(given, name)
  must((read !== null) === (bytes.toString(name) === given), `accepts text that is not ${name}, or refuses ${name}`)
  if (read) must(bytes.equals(read) && write(read) === given, `${name} is written differently than it was read`)
}

function general(given: string, length: number): Uint8Array | null {
  try {
    const bytes = base58.decode(given)
    return bytes.length === length ? bytes : null
  } catch {
    return null
  }
}
