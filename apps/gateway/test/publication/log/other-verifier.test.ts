import { createRequire } from 'node:module'
import { fromHex } from '@svc/protocol/bytes'
import { expect, it } from 'vitest'
import trees from '../../../../../vectors/transparency/trees.json' with { type: 'json' }

/** Sigstore's verifier, which its package does not export by name. It throws for an invalid proof. */
type VerifyInclusion = (
  entry: { canonicalizedBody: Uint8Array; inclusionProof: { logIndex: string; hashes: Uint8Array[] } },
  checkpoint: { logSize: bigint; logHash: Uint8Array },
) => void
const { verifyMerkleInclusion }: { verifyMerkleInclusion: VerifyInclusion } = createRequire(import.meta.url)(
  '@sigstore/verify/dist/tlog/merkle.js',
)

it('LOG-37 the verifier of Sigstore accepts and refuses the same proofs', () => {
  const bytes = (hex: string) => Buffer.from(fromHex(hex)!)
  for (const { what, index, size, entry, root, proof, holds } of trees.inclusion) {
    const inclusionProof = { logIndex: String(index), hashes: proof.map(bytes) }
    const verify = () =>
      verifyMerkleInclusion(
        { canonicalizedBody: bytes(entry), inclusionProof },
        { logSize: BigInt(size), logHash: bytes(root) },
      )
    if (holds) expect(verify, what).not.toThrow()
    else expect(verify, what).toThrow()
  }
})
