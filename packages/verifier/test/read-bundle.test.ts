import { utf8 } from '@svc/protocol/bytes'
import type { FileEntry } from '@svc/protocol/merkle'
import { sortedByFilename } from '@svc/protocol/order'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readBundle } from '../src/read-bundle.ts'
import { bundleOf, inChunks, listedFiles } from './bundles.ts'

const anyFiles = fc.uniqueArray(
  fc.record({
    filename: fc
      .string({
        unit: fc.constantFrom('a', '"', '\\', ',', '}', ']', '{', '[', '\n', 'é', '😀', '\ue000', '/'),
        minLength: 1,
      })
      .map((name) => name.replaceAll(':', '')),
    size_bytes: fc.maxSafeNat(),
    content_hash: fc.constant('ab'.repeat(32)),
  }),
  { minLength: 1, maxLength: 12, selector: ({ filename }) => filename },
)
const chunkSizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })
const spaces = fc.constantFrom(undefined, 1, '\t')

async function read(chunks: Iterable<Uint8Array>) {
  const files: FileEntry[] = []
  const parts = await readBundle(chunks, async (some) => {
    files.push(...some)
  })
  if (parts.redaction !== null) throw new Error('the bundle is redacted')
  return { files, parts }
}

describe('reading a bundle', () => {
  it('MERK-11 CLI-05 refuses a filename with a colon, even if root and signature are valid', async () => {
    const [file] = listedFiles(1)
    const bundle = bundleOf([{ ...file!, filename: 'a:1:b' }])
    const refused = await read([utf8(JSON.stringify(bundle))]).catch((error) => error)
    expect(refused).toMatchObject({ name: 'RefusedBundle', code: 'colon_in_filename' })
  })

  it('MERK-04 returns the same files and parts for any chunks, order of keys and files, and white space', async () => {
    await fc.assert(
      fc.asyncProperty(anyFiles, chunkSizes, spaces, fc.nat({ max: 10 }), async (listed, sizes, space, turn) => {
        const bundle = bundleOf(listed)
        const members = Object.entries(bundle)
        const turned = Object.fromEntries([...members.slice(turn), ...members.slice(0, turn)])
        const { files, parts } = await read(inChunks(JSON.stringify(turned, null, space), sizes))
        expect(files).toEqual(sortedByFilename(listed))
        expect(parts).toMatchObject({
          commitment: bundle.commitment,
          envelope: bundle.envelope,
          files: {
            count: listed.length,
            merkleRoot: bundle.commitment.merkle_root.slice('sha256:'.length),
            manifestDigest: bundle.envelope.body.manifest_digest,
          },
        })
      }),
      { numRuns: 40 },
    )
  })

  it('reads characters that are split across chunks', { tags: ['nightly'] }, async () => {
    const listed = listedFiles(3000).map((file, i) => ({
      ...file,
      filename: `${file.filename}-${'é😀'.repeat(i % 20)}`,
    }))
    const { parts } = await read([utf8(JSON.stringify(bundleOf(listed)))])
    expect(parts.files.count).toBe(3000)
    expect(parts.files.manifestDigest).toBe(parts.envelope && Object(parts.envelope.body).manifest_digest)
  })

  it('T-129 accepts 32 levels in the whole document, including those within a file entry', async () => {
    const text = JSON.stringify(bundleOf(listedFiles(2)))
    const nested = (levels: number) => `"x":${'['.repeat(levels)}${']'.repeat(levels)},`
    const [inDocument, inEntry] = ['{', '{"filename"'].map((place) => text.indexOf(place) + 1) as [number, number]
    for (const [at, around] of [
      [inDocument, 1],
      [inEntry, 3],
    ] as const) {
      const withLevels = (levels: number) => [utf8(text.slice(0, at) + nested(levels - around) + text.slice(at))]
      expect((await read(withLevels(32))).files).toHaveLength(2)
      await expect(read(withLevels(33))).rejects.toMatchObject({ code: 'not_strict_json' })
    }
  })

  it('ignores `files` in nested objects', async () => {
    const bundle = { x: { files: [1] }, y: [{ files: [{}] }], z: 'files', ...bundleOf(listedFiles(2)) }
    expect((await read([utf8(JSON.stringify(bundle))])).parts.files.count).toBe(2)
  })

  it.each([
    ['64 kB of one file', `{"files":[{"filename":"${'a'.repeat(70_000)}"`],
    ['a row that never ends', `{"files":[{"x":${'['.repeat(200_000)}`],
    ['a megabyte beside the files', `{"x":"${'a'.repeat(1_200_000)}"}`],
  ])('ADD-05 refuses more than fits its memory limits: %s', async (_, text) => {
    await expect(read([utf8(text)])).rejects.toMatchObject({ code: 'too_large' })
  })
})
