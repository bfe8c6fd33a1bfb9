import { readFile } from 'node:fs/promises'
import { isManifestSignedBy } from '@svc/protocol/attestation'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { describe, expect, it } from 'vitest'
import { type ExportEntry, readExport } from '../../../src/evidence/import/read-export.ts'
import { contradiction, rebuildSnapshot } from '../../../src/evidence/import/rebuild-record.ts'
import { chunked, type Exported, exported, listOf, vectorKey, vectorRecord } from './export-records.ts'

const good = exported('rcpt_1')

async function read(record: unknown): Promise<ExportEntry> {
  return readText(JSON.stringify(record))
}

async function readText(line: string): Promise<ExportEntry> {
  const [entry, ...more] = await listOf(readExport(chunked(line)))
  expect(more).toEqual([])
  return entry as ExportEntry
}

async function problemOf(record: unknown): Promise<string | null> {
  const entry = await read(record)
  return 'problem' in entry ? entry.problem : null
}

describe('an exported record', () => {
  it('is valid in the form that docs/import-attestations.md shows', async () => {
    const docs = await readFile(new URL('../../../../../docs/import-attestations.md', import.meta.url), 'utf8')
    const entry = await read(JSON.parse(/```json\n(.*?)```/s.exec(docs)?.[1] as string))
    if ('problem' in entry) throw new Error(entry.problem)
    const { record } = entry
    expect(contradiction(record, await rebuildSnapshot(record, 'any'))).toBeNull()
    const key = ed25519PublicKeyFromHex(vectorKey)!
    expect(isManifestSignedBy(key, record.merkle_root, record.manifest_signature)).toBe(true)
  })

  it('ATT-01 MERK-04 is read with sorted files, hash prefixes and content types, and without storage details', async () => {
    const [first, second] = good.files
    const files = [
      { ...second, content_type: undefined, provider: 'arweave', provider_ref: 'x', uploaded_at: null },
      { ...first, content_hash: first?.content_hash.replace('sha256:', ''), hash_recorded_at: '2025-03-01T09:00:00Z' },
    ]
    expect(await read({ ...good, files, attestation_status: 'computed' })).toEqual({
      at: 'line 1',
      record: {
        ...good,
        files: [first, { ...second, content_type: 'application/octet-stream' }],
        attestation_status: 'computed',
        anchor: null,
      },
    })
  })

  it.each(['attestation_status', 'anchor'])('may omit %s or set it to null', async (field) => {
    expect(await problemOf({ ...good, [field]: null })).toBeNull()
    expect(await read(good)).toHaveProperty(['record', field], null)
  })

  it.each(Object.keys(good))('ATT-01 must have %s', async (field) => {
    expect(await problemOf({ ...good, [field]: undefined })).toBe(`${field}: is missing`)
  })

  const ANOTHER_KIND = ['', '\u0000', '\u001b[2J', -1, 2.5, 2 ** 53, true, {}, []]
  it.each([...Object.keys(good), 'anchor', 'attestation_status'])(
    'ATT-01 is refused when %s has another type',
    async (field) => {
      for (const value of ANOTHER_KIND) {
        const problem = await problemOf({ ...good, [field]: value })
        expect(problem, JSON.stringify(value)).toMatch(new RegExp(`^${field}: `))
      }
    },
  )

  const hash = '0'.repeat(64)
  it.each<[string, unknown]>([
    ['receipt_id', 'x'.repeat(256)],
    ['locker_id', 'locker_XYZ'],
    ['result_hash', hash],
    ['merkle_root', `sha256:${'A'.repeat(64)}`],
    ['merkle_root', `sha256:${hash}\n`],
    ['manifest_signature', 'A'.repeat(128)],
    ['manifest_signature', 'unsigned:'],
    ['file_count', '2'],
    ['attested_at', '2025-03-01'],
    ['attested_at', '2025-03-01T09:30:00+00:00'],
    ['attested_at', '2025-02-30T09:30:00Z'],
    ['attested_at', '2025-03-01T24:00:00Z'],
    ['attested_at', '1969-12-31T23:59:59Z'],
    ['schema_version', '2.0'],
    ['oracle_tx', `0x${hash}`],
    ['attestation_status', 'pending'],
    ['files', null],
  ])('ATT-01 is refused with %s %j', async (field, value) => {
    expect(await problemOf({ ...good, [field]: value })).toMatch(new RegExp(`^${field}: `))
  })

  it.each<[string, Exported]>([
    ['MERK-11 a colon', { filename: 'a:b' }],
    ['a lone surrogate', { filename: '\ud800' }],
    ['a name that is not text', { filename: 5 }],
    ['a negative size', { size_bytes: -1 }],
    ['a size beyond safe integers', { size_bytes: 2 ** 53 }],
    ['MERK-01 an uppercase hash', { content_hash: 'A'.repeat(64) }],
    ['a type with a line break', { content_type: 'text/plain\r\nx: y' }],
    ['an unknown field', { sha1: '' }],
  ])('is refused when a file has %s', async (_name, change) => {
    const files = [good.files[0], { ...good.files[1], ...change }]
    expect(await problemOf({ ...good, files })).toMatch(/^files: file 2 has/)
  })

  it('T-21 is refused when it lists a file twice', async () => {
    const files = [good.files[0], good.files[1], good.files[0]]
    expect(await problemOf({ ...good, files, file_count: 3 })).toBe('files: file 3 has the name of an earlier file')
  })

  it.each(['proof_id', 'envelope', 'evidence_seq', 'note', '__proto__'])(
    'is refused with the unknown field %s',
    async (field) => {
      const text = JSON.stringify(good).replace('{', `{"${field}":null,`)
      expect(await readText(text)).toHaveProperty('problem', `has a field that version 1 does not have: "${field}"`)
    },
  )
})

describe('an anchor of the oracle era', () => {
  const anchor = vectorRecord.anchor as Exported

  it('ANCH-09 is read unchanged', async () => {
    expect(await read(vectorRecord)).toHaveProperty('record.anchor', anchor)
    expect(await problemOf({ ...vectorRecord, anchor: { ...anchor, slot: null, account: null } })).toBeNull()
  })

  it.each<[string, unknown]>([
    ['type', 'chain_memo_v2'],
    ['envelope_version', 2],
    ['chain', 'solana'],
    ['tx', null],
    ['slot', 'x'],
    ['account', 'x'],
    ['signer', 'x'],
    ['chain', undefined],
  ])('ANCH-09 is refused with %s %j', async (field, value) => {
    const problem = await problemOf({ ...vectorRecord, anchor: { ...anchor, [field]: value } })
    expect(problem).toMatch(/^anchor: /)
    expect(problem).toContain(field)
  })

  it('ANCH-10 must match oracle_tx and oracle_slot', async () => {
    const tx = '2'.repeat(88)
    expect(await problemOf({ ...vectorRecord, oracle_tx: tx })).toBe('anchor: tx must be oracle_tx')
    expect(await problemOf({ ...vectorRecord, oracle_slot: 5 })).toBe('anchor: slot must be oracle_slot')
    expect(await problemOf({ ...vectorRecord, oracle_slot: null, oracle_tx: null })).toBeNull()
  })

  it('ATT-23 must be present in a complete record unless oracle_tx is', async () => {
    const { anchor: _, ...without } = vectorRecord
    const complete = { ...without, attestation_status: 'complete' }
    expect(await problemOf(complete)).toBeNull()
    expect(await problemOf({ ...complete, anchor, oracle_tx: null })).toBeNull()
    expect(await problemOf({ ...complete, oracle_tx: null })).toMatch(/^attestation_status: /)
  })
})
