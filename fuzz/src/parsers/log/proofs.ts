// Checkpoints, cosignatures and proofs, and the requests of those who want cosignatures.

import { equalBytes, toBase64 } from '@svc/protocol/bytes'
import { testKey } from '@svc/protocol/test/transparency/keys'
import { entry, memoryLog, slowRoot } from '@svc/protocol/test/transparency/trees'
import { cosign, cosignaturesOf, readCheckpoint, signCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { formatNote, formatSignature } from '@svc/protocol/transparency/note'
import { formatProof, proves, readProof } from '@svc/protocol/transparency/proof'
import { proveConsistency, proveInclusion } from '@svc/protocol/transparency/prove'
import { isConsistent } from '@svc/protocol/transparency/tree'
import { readRequest } from '@svc/witness/witness/read-request'
import { must, type Parser, text } from '../engine/parser.ts'
import { textsIn } from './vectors.ts'

const SIZE = 11
const INDEX = 5

export async function open(): Promise<Parser> {
  const log = testKey('log.example/a', 'log')
  const witness = testKey('w.example', 'cosigner')
  const { leaves, readTile } = memoryLog([7, SIZE - 7])
  const root = slowRoot(leaves)
  const signed = await signCheckpoint(log.key, { size: SIZE, root }, log.sign)
  const head = readCheckpoint(signed)
  if (typeof head === 'string') throw new Error(head)
  const checkpoint = signed + formatSignature(await cosign(witness.key, head, 1_800_000_000, witness.sign))
  const proof = formatProof(INDEX, await proveInclusion(INDEX, SIZE, readTile), checkpoint)
  const growth = (await proveConsistency(7, SIZE, readTile)).map((hash) => `${toBase64(hash)}\n`).join('')
  const earlier = { size: 7, root: slowRoot(leaves.slice(0, 7)) }
  return {
    seeds: [
      checkpoint,
      proof,
      `old 7\n${growth}\n${checkpoint}`,
      ...textsIn('checkpoints.json', 'checkpoint'),
      ...textsIn('proofs.json', 'proof'),
    ],
    words: [
      'index ',
      'extra ',
      'old ',
      'old 0\n\n',
      '\n\n',
      '\n',
      '\u2014 ',
      'c2sp.org/tlog-proof@v1\n',
      'AAAA',
      '=',
      '9007199254740992',
    ],
    maxBytes: 70_000,
    check(input) {
      const found = readCheckpoint(input)
      if (typeof found !== 'string') {
        must(
          found.note.text.startsWith(`${found.origin}\n${found.size}\n${toBase64(found.root)}\n`),
          'reads another checkpoint',
        )
        const cosigned = cosignaturesOf(found, [witness.key]).length > 0
        if (cosigned) must(found.note.text === head.note.text, 'believes a checkpoint that was not cosigned')
      }
      checkProof(text(input))
      const request = readRequest(input)
      if (typeof request === 'string' || request.oldSize !== 7 || !equalBytes(request.checkpoint.root, root)) return
      const isGrown = isConsistent(earlier, request.checkpoint, request.proof)
      must(!isGrown || request.checkpoint.size === SIZE, 'a proof shows that a log has another size')
    },
  }

  function checkProof(given: string): void {
    const read = readProof(given)
    if (typeof read === 'string') return
    const { index, hashes, checkpoint } = read
    const written = formatProof(index, hashes, formatNote(checkpoint.note))
    must(written === given || /^[^\n]*\nextra /.test(given), 'a proof is another one when it is written')
    if (!equalBytes(checkpoint.root, root)) return
    must(
      !proves(read, entry(INDEX)) || (index === INDEX && checkpoint.size === SIZE),
      'proves an entry at another place',
    )
  }
}
