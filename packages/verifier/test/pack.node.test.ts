import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { makePack } from '../../../vectors/make-bundles.ts'
import { filesOf, bundleOf as packBundle, redactedOf } from '../../../vectors/pack/bundles.ts'
import { sasOf } from '../../../vectors/pack/registry-accounts.ts'
import vectors from '../../../vectors/protocol.json' with { type: 'json' }
import { redactBundle } from '../src/redact-bundle.ts'
import { CASES, CHAINS } from './pack.ts'

const FOLDER = new URL('../../../vectors/bundles/', import.meta.url)
const committed = readdirSync(FOLDER)

describe('the files of the conformance pack', () => {
  it('equal the output of make-bundles.ts byte for byte', () => {
    const pack = makePack()
    expect(committed.toSorted()).toEqual([...pack.keys()].toSorted())
    for (const [name, bytes] of pack) expect(readFileSync(new URL(name, FOLDER)).equals(bytes), name).toBe(true)
  })

  it('are all in the index and small', () => {
    const named = [...CASES, ...CHAINS.flatMap(({ files }) => files.map((file) => ({ file, given: {} })))]
    const files = named.flatMap(({ file, given }) => ('rpc' in given && given.rpc ? [file, given.rpc] : [file]))
    expect([...new Set(files), 'index.json'].toSorted()).toEqual(committed.toSorted())
    const size = committed.reduce((sum, name) => sum + readFileSync(new URL(name, FOLDER)).length, 0)
    expect(size).toBeLessThan(1_800_000)
  })

  it('ADD-18 have the redacted bundles that redactBundle makes of the whole ones', async () => {
    const redacted = async (filenames?: string[]) => {
      const pieces: string[] = []
      const whole = [Buffer.from(JSON.stringify(packBundle()))]
      await redactBundle(whole, (piece) => void pieces.push(piece), filenames ? { filenames } : {})
      const { how_to_verify, ...rest } = JSON.parse(pieces.join(''))
      expect(how_to_verify).toHaveLength(5)
      return rest
    }
    const { how_to_verify: _, ...chosen } = redactedOf(['readme.txt'])
    expect(await redacted(['readme.txt'])).toEqual(chosen)
    const { how_to_verify: __, ...unnamed } = redactedOf(null)
    expect(await redacted()).toEqual(unnamed)
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
