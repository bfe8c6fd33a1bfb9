import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { makePack } from '../../../vectors/make-bundles.ts'
import { filesOf, bundleOf as packBundle } from '../../../vectors/pack/bundles.ts'
import { sasOf } from '../../../vectors/pack/registry-accounts.ts'
import vectors from '../../../vectors/protocol.json' with { type: 'json' }

const FOLDER = new URL('../../../vectors/bundles/', import.meta.url)
const committed = readdirSync(FOLDER)

describe('the files of the conformance pack', () => {
  it('equal the output of make-bundles.ts byte for byte', () => {
    const pack = makePack()
    expect(committed.toSorted()).toEqual([...pack.keys()].toSorted())
    for (const [name, bytes] of pack) expect(readFileSync(new URL(name, FOLDER)).equals(bytes), name).toBe(true)
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
