// Statements in the formats of third-party verifiers. An example is a DSSE envelope, a Sigstore bundle, or an in-toto
// statement that the test signs.

import { problemWith } from '@svc/devnet/properties/made-up-input'
import { json, must, text } from '@svc/devnet/properties/rules'
import { dsseEnvelope, IN_TOTO_PAYLOAD_TYPE, inTotoPayload, preAuthEncoding, sigstoreBundle } from '@svc/protocol/dsse'
import { issuerKeyId } from '@svc/protocol/ids'
import { leafHash, merkleLevels, merkleProof } from '@svc/protocol/merkle'
import { expect, it } from 'vitest'
import { openDsse } from '../src/dsse.ts'
import { followedKeys } from '../src/pinned-keys.ts'
import { verifyBundle } from '../src/verify-bundle.ts'
import { bundleOf, listedFiles, SIGNER } from './bundles.ts'

const publicKeyHex = Buffer.from(SIGNER.publicKey).toString('hex')
const given = { pinnedKeys: [{ publicKeyHex, use: null, validFrom: null, validTo: null }] }
const followed = followedKeys(given, null)

function signed(payload: Uint8Array) {
  const sig = SIGNER.sign(preAuthEncoding(IN_TOTO_PAYLOAD_TYPE, payload))
  return dsseEnvelope(payload, { keyid: issuerKeyId(publicKeyHex), sig })
}

it('T-129 T-52 no made-up input breaks the rules of DSSE envelopes', async () => {
  const { envelope, files } = bundleOf(listedFiles(3))
  const proof = merkleProof(merkleLevels(files.map(leafHash)), 1)
  const payloads = [
    inTotoPayload({ envelope, anchor: null, files }),
    inTotoPayload({ envelope, anchor: null, files: [{ ...files[1]!, leaf_index: 1, proof }] }),
  ]
  const genuine = new Set(payloads.map((payload) => signed(payload).payload))
  expect(
    await problemWith({
      examples: [
        ...payloads,
        ...payloads.map((payload) => JSON.stringify(signed(payload))),
        JSON.stringify(sigstoreBundle(signed(payloads[0]!))),
      ],
      words:
        'payload payloadType signatures dsseEnvelope predicate files proof leaf_index filename = \ud800 subject'.split(
          ' ',
        ),
      isJson: true,
      maxBytes: 65_536,
      async rule(input) {
        await checkDocument(input, (payload) => genuine.has(payload))
        if (json(input) !== undefined)
          await checkDocument(Buffer.from(JSON.stringify(signed(Buffer.from(input)))), () => true)
      },
    }),
  ).toBeNull()
})

async function checkDocument(document: Uint8Array, isGenuine: (payload: string) => boolean): Promise<void> {
  const opened = openDsse(document)
  if (!opened || 'refused' in opened) return
  const verification = await verifyBundle([opened.bundle], given)
  const facts = opened.facts(followed)
  const { dsseEnvelope: inside, ...envelope } = JSON.parse(text(document))
  const { payload } = inside ?? envelope
  if (facts.dsse_signed.value === 'passed') must(isGenuine(payload), 'accepts an envelope that was not signed')
  if (verification.refused) must(/^.{5,300}$/u.test(verification.refused.why), 'a refusal is not one line')
}
