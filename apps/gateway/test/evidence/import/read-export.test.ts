import { problemWith } from '@svc/devnet/properties/made-up-input'
import { must, mustEqual } from '@svc/devnet/properties/rules'
import { toBase58 } from '@svc/protocol/bytes'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ExportEntry, readExport } from '../../../src/evidence/import/read-export.ts'
import { chunked, exported, jsonLines, listOf, vectorRecord } from './export-records.ts'

const good = exported('rcpt_1')

async function read(text: string, { size = 1000, max }: { size?: number; max?: number } = {}): Promise<ExportEntry[]> {
  return listOf(readExport(chunked(text, size), max))
}

function recordsIn(entries: ExportEntry[]) {
  return entries.flatMap((entry) => ('record' in entry ? entry.record : []))
}

/** The position of each entry, with `read` or its problem. */
async function outcomes(text: string, max?: number): Promise<string[]> {
  const entries = await read(text, max === undefined ? {} : { max })
  return entries.map((entry) => `${entry.at}: ${'problem' in entry ? entry.problem : 'read'}`)
}

describe('an export', () => {
  it('is read as JSON Lines or as one array, with any whitespace and any chunk size', async () => {
    const records = [good, vectorRecord, exported('rcpt_2', ['q"uo\\te', '}],[{', '\n'])]
    const texts = [
      jsonLines(records),
      jsonLines(records).replaceAll('\n', '\r\n'),
      `\n \n${jsonLines(records).replaceAll('\n', '\n\n').trimEnd()}`,
      JSON.stringify(records),
      ` \n${JSON.stringify(records, null, 2)}\n\n`,
    ]
    const wanted = recordsIn(await read(jsonLines(records)))
    expect(wanted.map(({ receipt_id }) => receipt_id)).toEqual(['rcpt_1', vectorRecord.receipt_id, 'rcpt_2'])
    for (const text of texts) {
      for (const size of [1, 7, 1 << 20]) {
        expect(recordsIn(await read(text, { size }))).toEqual(wanted)
      }
    }
  })

  it('yields every entry of any array once, and none of an empty export', async () => {
    for (const text of ['', ' \n\n', '[]', ' [ \n ] ']) expect(await read(text)).toEqual([])
    await fc.assert(
      fc.asyncProperty(fc.array(fc.jsonValue()), fc.integer({ min: 1, max: 9 }), async (values, size) => {
        const entries = await read(JSON.stringify(values), { size })
        expect(entries.map(({ at }) => at)).toEqual(values.map((_, i) => `entry ${i + 1}`))
      }),
    )
  })

  it('yields its valid lines despite invalid ones', async () => {
    const line = JSON.stringify(good)
    const twice = line.replace('{', '{"file_count":1,')
    expect(await outcomes(twice)).toEqual([expect.stringContaining('"file_count" occurs twice')])
    expect(await outcomes(`${line}\n{"cut\n\n${line}\n5\n"\n${line}`)).toEqual([
      'line 1: read',
      'line 2: is not strict JSON: a string is not terminated at character 1',
      'line 4: read',
      'line 5: must be an object',
      'line 6: is not strict JSON: a string is not terminated at character 0',
      'line 7: read',
    ])
  })

  it('reports the position where an array is malformed', async () => {
    const entry = JSON.stringify(good)
    const cut = 'is truncated: the array has no end'
    expect(await outcomes(`[${entry},5,${entry}`)).toEqual([
      'entry 1: read',
      'entry 2: must be an object',
      `entry 3: ${cut}`,
    ])
    expect(await outcomes(`[${entry},{"open,${entry}]`)).toEqual(['entry 1: read', `entry 2: ${cut}`])
    expect(await outcomes(`[${entry}] ${entry}`)).toEqual(['entry 1: read', 'the end: has data after the array'])
    expect(await outcomes(`[${entry},]`)).toEqual(['entry 1: read', expect.stringContaining('entry 2: is not strict')])
  })

  it('yields an error for a record that is too long, and continues after it', async () => {
    const long = JSON.stringify(exported('rcpt_2', ['x'.repeat(5000)]))
    const entry = JSON.stringify(good)
    const problem = 'is longer than 4000 bytes'
    expect(await outcomes(`${entry}\n${long}\n${entry}\n`, 4000)).toEqual([
      'line 1: read',
      `line 2: ${problem}`,
      'line 3: read',
    ])
    expect(await outcomes(`[${entry},${long},${entry}]`, 4000)).toEqual([
      'entry 1: read',
      `entry 2: ${problem}`,
      'entry 3: read',
    ])
  })
})

const MAX_RECORD_BYTES = 2048
const TX = toBase58(new Uint8Array(64).fill(7))
const OLDER = {
  receipt_id: 'rcpt_1',
  locker_id: 'locker_0123456789ab',
  result_hash: `sha256:${'0a'.repeat(32)}`,
  merkle_root: `sha256:${'0b'.repeat(32)}`,
  manifest_signature: `unsigned:${'0'.repeat(32)}`,
  file_count: 2,
  total_bytes: 3,
  files: [
    { filename: 'b', size_bytes: 1, content_hash: '0c'.repeat(32), content_type: 'text/plain' },
    { filename: 'a', size_bytes: 2, content_hash: `sha256:${'0d'.repeat(32)}` },
  ],
  attested_at: '2025-06-12T00:00:00.5Z',
  schema_version: '1.0',
  oracle_slot: 5,
  oracle_tx: TX,
  oracle_feed: null,
  attestation_status: 'complete',
  anchor: { type: 'oracle_v2', chain: 'solana:x', tx: TX, slot: 5, account: null, envelope_version: 1 },
}

it('T-129 no made-up input breaks the rules of exports', async () => {
  const { anchor: _, ...old } = OLDER
  expect(
    await problemWith({
      examples: [
        `${JSON.stringify(OLDER)}\n\n${JSON.stringify(old)}\n`,
        JSON.stringify([OLDER, old]),
        ' [ ] ',
        ' \n[+, {}, "x]',
        JSON.stringify(OLDER),
      ],
      words: [...'[ ] { } , \n " \\ \ufeff unsigned: sha256: 2025-02-30T00:00:00Z'.split(' '), ...Object.keys(OLDER)],
      isJson: true,
      isCostly: true,
      maxBytes: 8192,
      async rule(input, cut) {
        const atOnce = await inPieces([input])
        mustEqual(await inPieces(cut(input)), atOnce, 'the entries depend on how the export is split into pieces')
        for (const entry of atOnce) {
          must(/^(?:line|entry) \d+$|^the end$/.test(entry.at), 'an entry has no place')
          if ('problem' in entry) must(/^.{1,400}$/u.test(entry.problem), 'a problem is not one line')
          else
            must(
              entry.record.files.every(({ filename }) => filename.isWellFormed()),
              'accepts a name that is not text',
            )
        }
      },
    }),
  ).toBeNull()
})

function inPieces(pieces: readonly Buffer[]): Promise<ExportEntry[]> {
  async function* arriving() {
    yield* pieces
  }
  return listOf(readExport(arriving(), MAX_RECORD_BYTES))
}
