import { fromHex } from '@svc/protocol/bytes'
import { isConsistent, isIncluded } from '@svc/protocol/transparency/tree'
import type { TreeCase } from '../cases.ts'

export function treeProblem({ claim, proof, holds }: TreeCase): string | null {
  const path = proof.map(bytes)
  const found =
    'leaf' in claim
      ? isIncluded({ ...claim, leaf: bytes(claim.leaf), root: bytes(claim.root) }, path)
      : isConsistent(headOf(claim.earlier), headOf(claim.later), path)
  return holds === null || found === holds ? null : `the proof ${found ? 'holds' : 'does not hold'}`
}

function headOf({ size, root }: { size: number; root: string }) {
  return { size, root: bytes(root) }
}

function bytes(hex: string): Uint8Array {
  return fromHex(hex) as Uint8Array
}
