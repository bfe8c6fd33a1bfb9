import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { digestsOf, makePack } from '../../../vectors/make-bundles.ts'
import { filesOf, bundleOf as packBundle } from '../../../vectors/pack/bundles.ts'
import { sasOf } from '../../../vectors/pack/registry-accounts.ts'
import vectors from '../../../vectors/protocol.json' with { type: 'json' }

const VECTORS = new URL('../../../vectors/', import.meta.url)

describe('the files of the conformance pack', () => {
  it('always have the digests in the repository', () => {
    const digests = readFileSync(new URL('SHA256SUMS', VECTORS), 'utf8')
    expect(digestsOf(makePack())).toBe(digests)
    const folder = readdirSync(new URL('bundles/', VECTORS))
    const onDisk = new Map(folder.map((name) => [name, readFileSync(new URL(`bundles/${name}`, VECTORS))]))
    expect(digestsOf(onDisk), 'run `npm run vectors`').toBe(digests)
  })

  it('agree with the vectors of another implementation', () => {
    const contents = Object.fromEntries(
      vectors.evidence_bundle_v2_example.files.map(({ filename }) => {
        const { content_hex } = vectors.files.find((file) => file.filename === filename)!
        return [filename, Buffer.from(content_hex, 'hex')]
      }),
    )
    const { envelope, files } = packBundle({ files: filesOf(contents) })
    expect({ envelope, files }).toEqual({
      envelope: vectors.evidence_bundle_v2_example.envelope,
      files: vectors.evidence_bundle_v2_example.files,
    })
    const { sas } = vectors.evidence_bundle_v2_example.anchor
    expect(sasOf('latest')).toEqual(sas)
  })
})
