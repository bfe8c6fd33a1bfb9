import { fromUtf8, toHex, utf8 } from '@svc/protocol/bytes'
import { lockerId } from '@svc/protocol/ids'
import type { FileEntry } from '@svc/protocol/merkle'
import { sortedByFilename } from '@svc/protocol/order'
import { hashContent } from '@svc/protocol/sha256'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type RedactionOptions, redactBundle } from '../src/redact-bundle.ts'
import { type Given, verifyBundle } from '../src/verify-bundle.ts'
import { bundleOf, inChunks, listedFiles, SIGNER } from './bundles.ts'
import { packBytes, pinnedKeys, verified } from './pack.ts'

const RECEIPT = 'rcpt_0123456789abcdef0123456789abcdef'
const given: Given = { pinnedKeys: pinnedKeys([toHex(SIGNER.publicKey)]) }

const bundle = (files: readonly FileEntry[]) => ({ ...bundleOf(files), receipt_id: RECEIPT })
const bytesOf = (document: object) => [utf8(JSON.stringify(document))]

async function redact(document: object, options: RedactionOptions = {}) {
  let text = ''
  const write = (piece: string) => {
    text += piece
  }
  const outcome = await redactBundle(inChunks(JSON.stringify(document), [1000]), write, options)
  return { outcome, text }
}

async function redacted(document: object, options: RedactionOptions = {}): Promise<string> {
  const { outcome, text } = await redact(document, options)
  if (outcome.refused) throw new Error(outcome.refused.why)
  return text
}

const refusal = async (document: object, options: RedactionOptions = {}) =>
  (await redact(document, options)).outcome.refused?.code

const anyFiles = fc.uniqueArray(
  fc.record({
    filename: fc.string({ unit: fc.constantFrom('a', '"', '\\', ',', ']', 'é', '😀', '\ue000', '/'), minLength: 1 }),
    size_bytes: fc.nat(),
    content_hash: fc.constantFrom('ab'.repeat(32), 'cd'.repeat(32)),
  }),
  { minLength: 1, maxLength: 20, selector: ({ filename }) => filename },
)

describe('a redacted bundle', () => {
  it('ADD-18 verifies for any files and any choice of them, and reports how many are not shown', {
    tags: ['nightly'],
  }, async () => {
    await fc.assert(
      fc.asyncProperty(anyFiles, fc.nat(), async (files, choice) => {
        const chosen = files.filter((_, i) => (choice >>> (i % 31)) % 2 === 1 || i === 0)
        const text = await redacted(bundle(files), { filenames: chosen.map(({ filename }) => filename) })
        const { failed, facts, redacted: report, counted } = await verified(inChunks(text, [7, 64]), given)
        expect(failed).toEqual([])
        expect(facts).toMatchObject({ inclusion_proven: { value: 'passed' }, key_pinned: { value: 'passed' } })
        const isComplete = chosen.length === files.length
        expect(facts.merkle_root_matches.value).toBe(isComplete ? 'passed' : 'not_checked')
        expect(facts.envelope_binds_commitment.value).toBe(isComplete ? 'passed' : 'not_checked')
        expect(report).toMatchObject({ redaction: 'chosen_files', shown: chosen.length, total: files.length })
        expect(counted.files).toBe(chosen.length)
        const shown = JSON.parse(text).files.map(({ filename }: FileEntry) => filename)
        expect(shown).toEqual(sortedByFilename(chosen).map(({ filename }) => filename))
        const missing = `${files.length - chosen.length} of ${files.length} files`
        if (!isComplete) expect(report?.leftOut[0]).toContain(missing)
      }),
      { numRuns: 40 },
    )
  })

  it('ADD-18 verifies without names for any files, and then contains no name, size or content hash', async () => {
    await fc.assert(
      fc.asyncProperty(anyFiles, async (files) => {
        const text = await redacted(bundle(files))
        const { failed, facts, redacted: report, counted } = await verified(inChunks(text, [5, 100]), given)
        expect(failed).toEqual([])
        expect(facts).toMatchObject({
          merkle_root_matches: { value: 'passed' },
          envelope_binds_commitment: { value: 'not_checked' },
          inclusion_proven: { value: 'not_checked' },
        })
        expect(report).toMatchObject({ redaction: 'no_names', shown: 0, total: files.length })
        expect(counted).toMatchObject({ files: files.length, totalBytes: null, merkleRoot: expect.any(String) })
        for (const { content_hash } of files) expect(text).not.toContain(content_hash)
        expect(Object.keys(JSON.parse(text))).not.toContain('files')
      }),
      { numRuns: 20 },
    )
  })

  it('ADD-18 T-33 contains neither the receipt nor its locker nor other names', async () => {
    const files = listedFiles(9)
    const whole = {
      ...bundle(files),
      verification: { note: RECEIPT },
      how_to_verify: [`https://gateway.example/v1/r/${RECEIPT}`],
      anchor: { type: 'chain_memo_v2', tx: 'x', receipt_id: RECEIPT, sas: { nonce: 'n', receipt: RECEIPT } },
      anchor_absence: { reason: 'superseded', receipt: RECEIPT },
      added_later: { locker_id: lockerId(RECEIPT) },
    }
    for (const options of [{}, { filenames: ['f0000004'] }]) {
      const text = await redacted(whole, options)
      expect(text).not.toContain(RECEIPT)
      expect(text).not.toContain(lockerId(RECEIPT))
      expect(text.match(/f000000\d/g) ?? []).toEqual(options.filenames ?? [])
      expect(JSON.parse(text)).toMatchObject({
        anchor: { type: 'chain_memo_v2', tx: 'x', sas: { nonce: 'n' } },
        anchor_absence: { reason: 'superseded' },
      })
    }
  })

  it('LOG-33 contains the log proof and its anchor, without other fields', async () => {
    const whole = JSON.parse(fromUtf8(await packBytes('log.json'))!)
    const log = {
      proof: whole.log.proof.replace('\nindex', '\nextra bm90aGluZw==\nindex'),
      anchor: { ...whole.log.anchor, receipt_id: RECEIPT },
      note: RECEIPT,
    }
    for (const options of [{}, { filenames: ['readme.txt'] }])
      expect(JSON.parse(await redacted({ ...whole, log }, options)).log).toEqual(whole.log)
    expect(JSON.parse(await redacted({ ...whole, log: { ...log, anchor: null } })).log.anchor).toBeNull()
    expect(JSON.parse(await redacted({ ...whole, log: undefined }))).not.toHaveProperty('log')
    const otherIndex = whole.log.proof.replace('index 4', 'index 5')
    for (const bad of ['text', {}, { proof: 'index 4' }, { proof: otherIndex, anchor: null }])
      expect(await refusal({ ...whole, log: bad })).toBe('not_valid')
  })

  it('ADD-18 T-33 contains changes of keys without other fields', async () => {
    const whole = JSON.parse(fromUtf8(await packBytes('keys-endorsed.json'))!)
    const [endorsement] = whole.signing_keys.endorsements
    const signing_keys = { ...whole.signing_keys, endorsements: [{ ...endorsement, note: RECEIPT }] }
    for (const options of [{}, { filenames: ['readme.txt'] }]) {
      const text = await redacted({ ...whole, signing_keys }, options)
      expect(JSON.parse(text).signing_keys).toEqual({ endorsements: [endorsement], revocations: [] })
    }
  })

  it('ADD-18 T-33 is not made if a chosen name or the anchor contains the id of the receipt or locker', async () => {
    const [file] = listedFiles(1)
    for (const id of [RECEIPT, lockerId(RECEIPT)]) {
      const filename = `backup-${id}.zip`
      expect(await refusal(bundle([{ ...file!, filename }]), { filenames: [filename] })).toBe('names_receipt')
      expect(await refusal({ ...bundle([file!]), anchor: { tx: id } })).toBe('names_receipt')
    }
  })

  it('ADD-18 is refused for unlisted names, and for bundles that are invalid, unsigned or redacted', async () => {
    const whole = bundle(listedFiles(3))
    expect(await refusal(whole, { filenames: ['f0000001', 'other'] })).toBe('file_not_listed')
    expect(await refusal(whole, { filenames: [] })).toBe('empty_file_list')
    expect(await refusal({ ...whole, files: listedFiles(2) })).toBe('not_valid')
    expect(await refusal(whole, { domainTag: 'ANOTHER_TAG_OF_25_LETTERS' })).toBe('not_valid')
    expect(await refusal(JSON.parse(await redacted(whole)))).toBe('already_redacted')
    expect(await refusal({})).toBe('not_a_bundle')
    const v1 = JSON.parse(fromUtf8(await packBytes('v1.json'))!)
    expect(await refusal(v1)).toBe('no_statement')
  })
})

describe('a redacted bundle with a folder', () => {
  const contents: Record<string, string> = { 'a.txt': 'A', 'b.txt': 'B', 'c.txt': 'C' }

  async function fullBundleOf(texts: Record<string, string>) {
    const files = await Promise.all(
      Object.entries(texts).map(async ([filename, text]) => {
        return { filename, ...(await hashContent([utf8(text)], 100))! }
      }),
    )
    return bundle(files)
  }

  const folderOf = (texts: Record<string, string>) => ({
    open: (name: string) => (texts[name] === undefined ? null : [utf8(texts[name])]),
    names: () => Object.keys(texts),
  })

  it('ADD-18 compares the files that it shows, and ignores others', async () => {
    const text = await redacted(await fullBundleOf(contents), { filenames: ['b.txt'] })
    const matches = async (texts: Record<string, string>) =>
      (await verified([utf8(text)], { files: folderOf(texts) })).facts.files_match.value
    expect(await matches(contents)).toBe('passed')
    expect(await matches({ 'b.txt': 'B' })).toBe('passed')
    expect(await matches({ 'b.txt': 'X' })).toBe('failed')
    expect(await matches({ 'a.txt': 'A' })).toBe('failed')
  })

  it('ADD-18 passes all facts without names if the folder has all files', async () => {
    const text = await redacted(await fullBundleOf(contents))
    const check = async (texts: Record<string, string>) => verified([utf8(text)], { ...given, files: folderOf(texts) })
    const { facts, files, redacted: report } = await check(contents)
    expect(facts.files_match.value).toBe('passed')
    expect(facts.envelope_binds_commitment.value).toBe('passed')
    expect(files?.matching).toBe(3)
    expect(report?.leftOut).toHaveLength(1)
    const changed = await check({ ...contents, 'b.txt': 'X' })
    expect(changed.facts.files_match).toEqual({
      value: 'failed',
      why: 'missing: one file; not in the bundle: "b.txt"',
    })
    expect(changed.facts.envelope_binds_commitment.value).toBe('not_checked')
    const { open } = folderOf(contents)
    const unlisted = await verified([utf8(text)], { files: { open } })
    expect(unlisted.facts.files_match).toMatchObject({ value: 'not_checked', why: expect.stringContaining('no files') })
  })
})

describe('an older verifier', () => {
  it('ADD-18 does not mistake a redacted bundle for a full one', async () => {
    for (const options of [{}, { filenames: ['f0000000'] }]) {
      const document = JSON.parse(await redacted(bundle(listedFiles(2)), options))
      expect(document.schema).not.toBe('svc/evidence-bundle/v2')
      for (const field of ['bundle_version', 'commitment', 'receipt_id', 'proof_id'])
        expect(document).not.toHaveProperty(field)
      const asWhole = await verifyBundle(bytesOf({ ...document, schema: 'svc/evidence-bundle/v2', bundle_version: 2 }))
      expect(asWhole.refused?.code).toBe('not_a_bundle')
    }
  })
})
