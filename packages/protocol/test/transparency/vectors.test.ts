import { describe, expect, it } from 'vitest'
import checkpoints from '../../../../vectors/transparency/checkpoints.json' with { type: 'json' }
import notes from '../../../../vectors/transparency/notes.json' with { type: 'json' }
import policies from '../../../../vectors/transparency/policies.json' with { type: 'json' }
import proofs from '../../../../vectors/transparency/proofs.json' with { type: 'json' }
import published from '../../../../vectors/transparency/published.json' with { type: 'json' }
import trees from '../../../../vectors/transparency/trees.json' with { type: 'json' }
import { fromHex, toHex } from '../../src/bytes.ts'
import { readCheckpoint } from '../../src/transparency/checkpoint.ts'
import { EMPTY_FRONTIER, grow, rootOf } from '../../src/transparency/frontier.ts'
import { formatKey, formatNote, isSignedBy, type NoteKey, readKey, readNote } from '../../src/transparency/note.ts'
import { judge, readPolicy } from '../../src/transparency/policy.ts'
import { isProvenEntry, readProof } from '../../src/transparency/proof.ts'
import { isConsistent, isIncluded, leafHash } from '../../src/transparency/tree.ts'
import { readable } from './keys.ts'

const bytes = (hex: string) => fromHex(hex)!

/** Our vectors, made by another implementation, and vectors published by third parties. */
describe.each([
  ['LOG-36 our', trees, notes.notes, policies.verdicts],
  ['LOG-37 published', published.trees, published.notes, published.verdicts],
] as const)('%s vectors', (title, { entries, roots, inclusion, consistency }, signedNotes, verdicts) => {
  it(`${title} trees have the expected roots and proofs`, () => {
    for (const [size, root] of roots.entries()) {
      const { frontier } = grow(
        EMPTY_FRONTIER,
        entries.slice(0, size).map((entry) => leafHash(bytes(entry))),
      )
      expect(toHex(rootOf(frontier))).toBe(root)
    }
    for (const { what, index, size, entry, root, proof, holds } of inclusion) {
      const claim = { index, size, leaf: leafHash(bytes(entry)), root: bytes(root) }
      expect(isIncluded(claim, proof.map(bytes)), what).toBe(holds)
    }
    const headOf = ({ size, root }: { size: number; root: string }) => ({ size, root: bytes(root) })
    for (const { what, earlier, later, proof, holds } of consistency)
      expect(isConsistent(headOf(earlier), headOf(later), proof.map(bytes)), what).toBe(holds)
  })

  it(`${title} notes are read, written and verified as expected`, () => {
    for (const { what, note, key, signed } of signedNotes) {
      const [read, by] = [readable(readNote(note)), readable(readKey(key))]
      expect(isSignedBy(read, by), what).toBe(signed)
      expect(formatNote(read), what).toBe(note)
      expect(formatKey(by), what).toBe(key)
      const altered = { ...read, text: `${read.text}more\n` }
      expect(isSignedBy(altered, by), what).toBe(false)
    }
  })

  it(`${title} checkpoints satisfy policies as expected`, () => {
    for (const { what, policy, checkpoint, log, cosigned, quorum } of verdicts) {
      const judged = judge(readable(readPolicy(policy)), readable(readCheckpoint(checkpoint)))
      const found = judged.cosignatures.map(({ key, time }) => ({ name: key.name, time }))
      expect({ log: judged.log?.name ?? null, found, quorum: judged.isQuorum }, what).toEqual({
        log,
        found: cosigned,
        quorum,
      })
    }
  })
})

it('LOG-36 keys, notes, checkpoints, proofs and policies of our vectors are read or refused as expected', () => {
  for (const { what, key, type } of notes.keys) {
    const read = readKey(key)
    expect(typeof read === 'string' ? null : (read as NoteKey).type, what).toBe(type)
  }
  for (const { what, note } of notes.refused) expect(readNote(note), what).toBeTypeOf('string')
  for (const { what, checkpoint, head } of checkpoints) {
    const read = readCheckpoint(checkpoint)
    const found = typeof read === 'string' ? null : { origin: read.origin, size: read.size, root: toHex(read.root) }
    expect(found, what).toEqual(head)
  }
  for (const { what, proof, entry, outcome } of proofs) {
    const read = readProof(proof)
    const found = typeof read === 'string' ? 'refused' : isProvenEntry(read, bytes(entry)) ? 'proven' : 'not_proven'
    expect(found, what).toBe(outcome)
  }
  for (const { what, policy } of policies.refused) expect(readPolicy(policy), what).toBeTypeOf('string')
})
