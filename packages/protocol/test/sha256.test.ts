import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../../vectors/protocol.json' with { type: 'json' }
import { fromHex, withPrefix } from '../src/bytes.ts'
import { hashContent } from '../src/sha256.ts'

describe('hashContent', () => {
  it.each(vectors.files)('MERK-01 returns the same hash of $filename as another implementation', async (file) => {
    const bytes = fromHex(file.content_hex)!
    const found = await hashContent([bytes], bytes.length)
    expect(found && { ...found, content_hash: withPrefix(found.content_hash) }).toEqual({
      size_bytes: file.size_bytes,
      content_hash: file.content_hash,
    })
  })

  it('returns the same hash for content in any chunks, and null for too many bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array()), async (pieces) => {
        const whole = Uint8Array.from(pieces.flatMap((piece) => [...piece]))
        expect(await hashContent(pieces, whole.length)).toEqual(await hashContent([whole], Number.POSITIVE_INFINITY))
        if (whole.length > 0) expect(await hashContent(pieces, whole.length - 1)).toBeNull()
      }),
    )
  })
})
