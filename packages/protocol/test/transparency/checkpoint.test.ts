import { expect, it } from 'vitest'
import { toBase64 } from '../../src/bytes.ts'
import { cosign, cosignaturesOf, readCheckpoint, signCheckpoint } from '../../src/transparency/checkpoint.ts'
import { rootOf } from '../../src/transparency/frontier.ts'
import { formatKey, formatSignature, isSignedBy, readKey, readSignatures } from '../../src/transparency/note.ts'
import { formatProof, isProvenEntry, readProof } from '../../src/transparency/proof.ts'
import { proveInclusion } from '../../src/transparency/prove.ts'
import { leafHash } from '../../src/transparency/tree.ts'
import { readable, testKey } from './keys.ts'
import { entry, memoryLog } from './trees.ts'

const LOG = testKey('gateway.example/log', 'log')
const WITNESS = testKey('witness.example/w1', 'cosigner')
const HEAD = { size: 7, root: rootOf(memoryLog([7]).frontier) }

async function checkpoint() {
  const text = await signCheckpoint(LOG.key, HEAD, LOG.sign)
  return { text, read: readable(readCheckpoint(text)) }
}

it('LOG-04 keys with inconsistent parts are refused', () => {
  const vkey = formatKey(LOG.key)
  expect(readKey(vkey)).toEqual(LOG.key)
  const [name, id, encoded] = [LOG.key.name, vkey.slice(LOG.key.name.length + 1, -45), vkey.slice(-44)]
  const small = `${name}+${id}+${toBase64(Uint8Array.of(1, ...new Uint8Array(32)))}`
  for (const bad of ['', name, `${name}+${id}`, `other+${id}+${encoded}`, `${name}+00000000+${encoded}`, small])
    expect(readKey(bad), bad).toBeTypeOf('string')
  expect(readKey(`a b+${id}+${encoded}`)).toBeTypeOf('string')
})

it('LOG-04 a checkpoint is text that the log signs with its own name', async () => {
  const { text, read } = await checkpoint()
  expect(text.split('\n').slice(0, 4)).toEqual(['gateway.example/log', '7', toBase64(HEAD.root), ''])
  expect(read).toMatchObject({ origin: 'gateway.example/log', size: 7 })
  expect(isSignedBy(read.note, LOG.key)).toBe(true)
  expect(isSignedBy(read.note, testKey('gateway.example/log', 'cosigner').key)).toBe(false)
})

it('LOG-04 text that is not a checkpoint is refused with a reason', async () => {
  const { text } = await checkpoint()
  const bad: Record<string, string> = {
    'no signatures': text.slice(0, text.indexOf('\n\n') + 1),
    'no newline at the end': text.slice(0, -1),
    'a size with a zero before it': text.replace('\n7\n', '\n07\n'),
    'a size beyond numbers': text.replace('\n7\n', '\n99999999999999999\n'),
    'a root that is too short': text.replace(toBase64(HEAD.root), toBase64(HEAD.root.subarray(1))),
    'an empty origin': text.slice(text.indexOf('\n')),
    'a control character': text.replace('gateway', 'gate\tway'),
    'no dash': text.replace('—', '-'),
    'a signature that is no base64': text.replace(/.=*\n$/, '!\n'),
  }
  for (const [what, note] of Object.entries(bad)) expect(readCheckpoint(note), what).toBeTypeOf('string')
})

it('LOG-05 a cosignature includes its time, and is valid only for its text', async () => {
  const { text, read } = await checkpoint()
  const line = formatSignature(await cosign(WITNESS.key, read, 1_679_315_147, WITNESS.sign))
  const both = readable(readCheckpoint(text + line))
  expect(cosignaturesOf(both, [WITNESS.key])).toEqual([{ key: WITNESS.key, time: 1_679_315_147 }])
  expect(cosignaturesOf(both, [testKey('witness.example/w2', 'cosigner').key])).toEqual([])
  expect(isSignedBy(both.note, LOG.key)).toBe(true)
  const other = readable(readCheckpoint((text + line).replace('\n7\n', '\n8\n')))
  expect(cosignaturesOf(other, [WITNESS.key])).toEqual([])
  expect(readSignatures(line)).toHaveLength(1)
})

it('LOG-06 a proof is one text with an index, its hashes and a cosigned checkpoint', async () => {
  const { text } = await checkpoint()
  const { readTile } = memoryLog([7])
  const proof = formatProof(3, await proveInclusion(3, 7, readTile), text)
  expect(proof.startsWith('c2sp.org/tlog-proof@v1\nindex 3\n')).toBe(true)
  const read = readable(readProof(proof))
  expect(isProvenEntry(read, entry(3))).toBe(true)
  expect(isProvenEntry(read, entry(4))).toBe(false)
  const withExtra = readProof(proof.replace('\nindex', '\nextra AAAA\nindex'))
  expect(withExtra).toEqual(read)
  const tooMany = proof.replace('index 3\n', `index 3\n${`${toBase64(leafHash(entry(0)))}\n`.repeat(63)}`)
  for (const bad of ['', 'index 3', proof.replace('@v1', '@v2'), proof.replace('index 3', 'index 03'), tooMany])
    expect(readProof(bad)).toBeTypeOf('string')
})
