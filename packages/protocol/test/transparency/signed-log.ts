// A log of eleven entries with a cosigned checkpoint, and proofs about it.

import { toBase64 } from '../../src/bytes.ts'
import { cosign, readCheckpoint, signCheckpoint } from '../../src/transparency/checkpoint.ts'
import { formatSignature } from '../../src/transparency/note.ts'
import { formatProof } from '../../src/transparency/proof.ts'
import { proveConsistency, proveInclusion } from '../../src/transparency/prove.ts'
import { testKey } from './keys.ts'
import { memoryLog, slowRoot } from './trees.ts'

const SIZE = 11
export const OLD_SIZE = 7
/** The index of the proved entry. */
export const INDEX = 5

/** Logs of 9 to 16 entries have paths of the same form. Only the signature over size and root shows the true size. */
export const hasSameForm = (size: number) => size > 8 && size <= 16

const log = testKey('log.example/a', 'log')
export const witness = testKey('w.example', 'cosigner')
const { leaves, readTile } = memoryLog([OLD_SIZE, SIZE - OLD_SIZE])
export const root = slowRoot(leaves)
export const oldRoot = slowRoot(leaves.slice(0, OLD_SIZE))
const signed = await signCheckpoint(log.key, { size: SIZE, root }, log.sign)
const read = readCheckpoint(signed)
if (typeof read === 'string') throw new Error(read)
export const head = read
export const checkpoint = signed + formatSignature(await cosign(witness.key, head, 1_800_000_000, witness.sign))
export const proof = formatProof(INDEX, await proveInclusion(INDEX, SIZE, readTile), checkpoint)
const growth = (await proveConsistency(OLD_SIZE, SIZE, readTile)).map((hash) => `${toBase64(hash)}\n`).join('')
/** A request to a witness. */
export const growthRequest = `old ${OLD_SIZE}\n${growth}\n${checkpoint}`
