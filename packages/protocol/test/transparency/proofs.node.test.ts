import { problemWith } from '@svc/devnet/properties/made-up-input'
import { must, text } from '@svc/devnet/properties/rules'
import { expect, it } from 'vitest'
import { equalBytes, toBase64 } from '../../src/bytes.ts'
import { cosignaturesOf, readCheckpoint } from '../../src/transparency/checkpoint.ts'
import { formatNote } from '../../src/transparency/note.ts'
import { formatProof, isProvenEntry, readProof } from '../../src/transparency/proof.ts'
import { checkpoint, hasSameForm, head, INDEX, proof, root, witness } from './signed-log.ts'
import { entry } from './trees.ts'
import { textsIn } from './vector-texts.ts'

it('T-129 T-52 no made-up input breaks the rules of checkpoints and proofs', async () => {
  expect(
    await problemWith({
      examples: [checkpoint, proof, ...textsIn('checkpoints.json', 'checkpoint'), ...textsIn('proofs.json', 'proof')],
      words: ['index ', 'extra ', '\n\n', '\n', '\u2014 ', 'c2sp.org/tlog-proof@v1\n', 'AAAA', '=', '9007199254740992'],
      maxBytes: 70_000,
      rule(input) {
        checkCheckpoint(input)
        checkProof(text(input))
      },
    }),
  ).toBeNull()
})

function checkCheckpoint(input: Uint8Array): void {
  const found = readCheckpoint(input)
  if (typeof found === 'string') return
  const { origin, size, root, note } = found
  must(
    note.text.startsWith(`${origin}\n${size}\n${toBase64(root)}\n`),
    'reads a checkpoint differently than it was written',
  )
  const isCosigned = cosignaturesOf(found, [witness.key]).length > 0
  if (isCosigned) must(note.text === head.note.text, 'accepts a checkpoint that was not cosigned')
}

function checkProof(given: string): void {
  const read = readProof(given)
  if (typeof read === 'string') return
  const { index, hashes, checkpoint } = read
  const written = formatProof(index, hashes, formatNote(checkpoint.note))
  must(written === given || /^[^\n]*\nextra /.test(given), 'a proof is written differently than it was read')
  if (!equalBytes(checkpoint.root, root)) return
  must(
    !isProvenEntry(read, entry(INDEX)) || (index === INDEX && hasSameForm(checkpoint.size)),
    'proves an entry at another index',
  )
}
