// Ed25519 and SHA-256 on servers and in browsers. An example is a public key, a signature and the message.

import { problemWith } from '@svc/devnet/properties/made-up-input'
import { must, text } from '@svc/devnet/properties/rules'
import { expect, it } from 'vitest'
import * as noble from '../src/crypto-noble.ts'
import * as node from '../src/crypto-node.ts'
import { ed25519PublicKey, isEd25519SignedBy } from '../src/keys.ts'

const signer = node.ed25519Signer(new Uint8Array(32).fill(4))
const MESSAGE = Buffer.from('message')
const signed = (message: Uint8Array) => Buffer.concat([signer.publicKey, signer.sign(message), message])

it('T-129 T-52 no made-up input breaks the rules of Ed25519', async () => {
  /** The neutral point and the field's prime, which are encodings on which libraries disagree. */
  const small = Buffer.from(`01${'00'.repeat(31)}`, 'hex')
  const prime = Buffer.from(`ed${'ff'.repeat(30)}7f`, 'hex')
  expect(
    await problemWith({
      examples: [
        signed(MESSAGE),
        signed(Buffer.alloc(0)),
        Buffer.concat([small, small, Buffer.alloc(32), MESSAGE]),
        Buffer.concat([prime, prime, Buffer.alloc(32), MESSAGE]),
      ],
      words: ['\u0000', '\u0001', '\u007f', 'message'],
      maxBytes: 512,
      rule(input) {
        const [publicKey, signature, message] = [input.subarray(0, 32), input.subarray(32, 96), input.subarray(96)]
        const key = ed25519PublicKey(publicKey)
        const onServer = key?.verify(message, signature) ?? false
        const inBrowser = key !== null && noble.ed25519Verifier(publicKey).verify(message, signature)
        must(onServer === inBrowser, 'browser and server disagree on a signature')
        must(
          isEd25519SignedBy(publicKey, message, signature) === onServer,
          'the first check of a key gives another result',
        )
        if (onServer && Buffer.from(signer.publicKey).equals(publicKey)) {
          must(signed(message).equals(input), 'accepts a signature that was not made')
        }
        must(node.sha256Hex(input) === noble.sha256Hex(input), 'browser and server hash bytes differently')
        must(node.sha256Hex(text(input)) === noble.sha256Hex(text(input)), 'browser and server hash text differently')
      },
    }),
  ).toBeNull()
})
