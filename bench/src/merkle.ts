import { hash } from 'node:crypto'
import { merkleRoot } from '@svc/protocol/merkle'
import { compareSeconds, type Row } from './row.ts'
import { countText, scaled } from './scale.ts'

const LEAVES = scaled(1_000_000, 100_000)

export function merkleRows(): Row[] {
  const leaves = Array.from({ length: LEAVES }, (_, i) => hash('sha256', `leaf ${i}`))
  const bareLoop = () => {
    // The tree has this many parents; the hashed texts have the same size.
    for (let i = 0; i < LEAVES; i++) hash('sha256', (leaves[i] as string) + (leaves[LEAVES - 1 - i] as string))
  }
  const { ours, theirs } = compareSeconds(5, () => void merkleRoot(leaves), bareLoop)
  return [
    {
      what: `Merkle root, ${countText(LEAVES)} leaves`,
      measured: `${ours.toFixed(2)} s`,
      against: `as many bare crypto.hash calls: ${theirs.toFixed(2)} s`,
      ratio: theirs / ours,
      goal: { atLeast: 0.8 },
    },
  ]
}
