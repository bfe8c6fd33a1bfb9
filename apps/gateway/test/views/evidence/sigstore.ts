// For tests: what a program does that knows Sigstore and one public key, and nothing of ours. docs/transparency.md has
// the same lines.

import { createHash, createPublicKey } from 'node:crypto'
import { bundleFromJSON, isBundleWithDsseEnvelope } from '@sigstore/bundle'
import { toSignedEntity, Verifier } from '@sigstore/verify'

interface Expected {
  /** As the bundle's hint has it. */
  keyId: string
  publicKeyHex: string
  predicateType: string
  file: Uint8Array | string
}

/** The name and predicate that the bundle has of a file; throws unless all of it is as expected. */
export function verifyAsSigstore(bundleJson: unknown, { keyId, publicKeyHex, predicateType, file }: Expected) {
  const x = Buffer.from(publicKeyHex, 'hex').toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const trust = {
    certificateAuthorities: [],
    timestampAuthorities: [],
    tlogs: [],
    ctlogs: [],
    publicKey: (hint: string) => {
      if (hint !== keyId) throw new Error(`not the key: ${hint}`)
      return { publicKey, validFor: () => true }
    },
  }
  const bundle = bundleFromJSON(bundleJson)
  const thresholds = { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 }
  new Verifier(trust, thresholds).verify(toSignedEntity(bundle))

  if (!isBundleWithDsseEnvelope(bundle)) throw new Error('no DSSE envelope')
  const { payload, payloadType } = bundle.content.dsseEnvelope
  if (payloadType !== 'application/vnd.in-toto+json') throw new Error(`not an in-toto statement: ${payloadType}`)
  const statement = JSON.parse(payload.toString())
  if (statement.predicateType !== predicateType) throw new Error(`another predicate: ${statement.predicateType}`)
  const sha256 = createHash('sha256').update(file).digest('hex')
  const subject = statement.subject.find(({ digest }: { digest: { sha256: string } }) => digest.sha256 === sha256)
  if (!subject) throw new Error('not about this file')
  return { name: subject.name as string, predicate: statement.predicate }
}
