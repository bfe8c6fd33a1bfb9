// A proof that an entry is in a log, as one text with the checkpoint and its cosignatures (C2SP tlog-proof).

import { fromBase64, toBase64 } from '../bytes.ts'
import { type Checkpoint, readCheckpoint } from './checkpoint.ts'
import { HASH_BYTES, type Hash, isIncluded, leafHash } from './tree.ts'

const HEADER = 'c2sp.org/tlog-proof@v1'
/** No tree of up to 2⁵³ entries is deeper. */
const MAX_HASHES = 63

export interface LogProof {
  index: number
  hashes: Hash[]
  checkpoint: Checkpoint
}

/** Uses `checkpoint` unchanged, with all its signatures. */
export function formatProof(index: number, hashes: readonly Hash[], checkpoint: string): string {
  return [HEADER, `index ${index}`, ...hashes.map(toBase64), '', checkpoint].join('\n')
}

/** The proof, or its problem. It is not verified. */
export function readProof(text: string): LogProof | string {
  const gap = text.indexOf('\n\n')
  if (gap < 0) return 'the proof has no blank line before its checkpoint'
  const [header, ...lines] = text.slice(0, gap).split('\n')
  if (header !== HEADER) return `the proof does not begin with ${HEADER}`
  if (lines[0]?.startsWith('extra ')) {
    if (!fromBase64(lines[0].slice('extra '.length))) return 'the extra data of the proof is not base64'
    lines.shift()
  }
  const index = /^index (0|[1-9]\d{0,15})$/.exec(lines.shift() ?? '')?.[1]
  if (index === undefined || !Number.isSafeInteger(Number(index))) return 'the proof has no valid index'
  const hashes = readHashes(lines)
  if (typeof hashes === 'string') return hashes
  const checkpoint = readCheckpoint(text.slice(gap + 2))
  return typeof checkpoint === 'string' ? checkpoint : { index: Number(index), hashes, checkpoint }
}

/** The hashes of a proof, one on each line, or their problem. */
export function readHashes(lines: readonly string[]): Hash[] | string {
  if (lines.length > MAX_HASHES) return `the proof has more than ${MAX_HASHES} hashes`
  const hashes = lines.map(fromBase64)
  const isProof = hashes.every((hash): hash is Hash => hash?.length === HASH_BYTES)
  return isProof ? hashes : 'a hash of the proof is malformed'
}

/** Whether the entry is in the tree of the checkpoint. Signatures are not verified. */
export function isProvenEntry({ index, hashes, checkpoint: { size, root } }: LogProof, entry: Uint8Array): boolean {
  return isIncluded({ index, size, root, leaf: leafHash(entry) }, hashes)
}
