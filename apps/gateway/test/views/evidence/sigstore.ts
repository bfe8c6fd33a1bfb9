// Verifies a bundle as an independent program does that has only Sigstore's library and one public key.
// docs/transparency.md contains the same lines.

import { createHash, createPublicKey } from 'node:crypto'
import { bundleFromJSON, isBundleWithDsseEnvelope } from '@sigstore/bundle'
import { toSignedEntity, Verifier } from '@sigstore/verify'

interface Expected {
  /** The hint of the bundle's key. */
  keyId: string
  publicKeyHex: string
  predicateType: string
  file: Uint8Array | string
}

/** Returns the name and predicate that the bundle has for a file; throws unless everything matches. */
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
