import { describe, expect, it } from 'vitest'
import { proofStatus } from '../src/pages/view/proof-status.ts'
import { texts } from '../src/texts/en/view.ts'

const t = texts.proof
const HASH = 'a'.repeat(64)
const OTHER = 'b'.repeat(64)
const ENTRY = { filename: 'a.txt', size_bytes: 4, content_hash: `sha256:${HASH}` }
const ANCHOR = { block_time: 1_760_000_000 }

const title = (
  proof: unknown,
  { recorded = null, computed = null, size = 4 }: { recorded?: string | null; computed?: string | null; size?: number },
) => proofStatus({ proof }, { size, hash: recorded }, computed).title

describe('the proof in the viewer', () => {
  const proof = { file_entry: ENTRY, anchor: ANCHOR }

  it('T-09 passes only if the hash of the bytes equals the one in the proof', () => {
    expect(title(proof, { recorded: HASH })).toBe(t.proven)
    expect(title(proof, { computed: HASH })).toBe(t.proven)
    expect(title({ ...proof, anchor: null }, { computed: HASH })).toBe(t.signed)
    // Files of the same size may differ.
    expect(title(proof, {})).toBe(t.unknown)
    expect(title(proof, { computed: OTHER })).toBe(t.other)
    expect(title(proof, { recorded: OTHER })).toBe(t.other)
    expect(title(proof, { recorded: HASH, computed: OTHER })).toBe(t.other)
    expect(title(proof, { computed: HASH, size: 5 })).toBe(t.other)
    // The end of a hash does not suffice.
    expect(title({ ...proof, file_entry: { ...ENTRY, content_hash: `00${HASH}` } }, { recorded: HASH })).toBe(t.other)
  })

  it.each([
    null,
    'proven',
    17,
    [],
    {},
    { file_entry: null },
    { file_entry: { size_bytes: '4', content_hash: HASH } },
    { file_entry: { size_bytes: 4, content_hash: 4 } },
    { file_entry: { size_bytes: 4 }, anchor: ANCHOR },
  ])('T-09 fails for an answer that is not a proof: %j', (answer) => {
    expect(title(answer, { recorded: HASH, computed: HASH })).toBe(t.failed)
  })

  it.each([null, 0, 'yesterday', 1e30, Number.NaN])('T-09 shows no invalid time: %j', (block_time) => {
    const status = proofStatus({ proof: { file_entry: ENTRY, anchor: { block_time } } }, { size: 4, hash: HASH }, HASH)
    expect(status).toEqual({ tone: 'good', title: t.proven, text: t.published })
  })
})
